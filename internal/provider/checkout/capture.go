package checkout

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Capture implements gateway.Provider. Checkout.com releases the uncaptured rest, except after one of several captures
// that is not Final (https://www.checkout.com/docs/payments/manage-payments/capture-a-payment). Each of several captures
// carries its own reference. It is sent again only if no action of the payment has this reference.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	sum, err := units(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	do := action{
		Amount: &sum, Type: "Final", Reference: cp.Attempt.String(), Metadata: map[string]string{"payment_attempt_id": cp.Attempt.String()},
	}
	if cp.Several {
		do.Reference = cp.IdempotencyKey
	}
	if cp.Several && !cp.Final && !cp.Whole {
		do.Type = "NonFinal"
	}
	body, err := kit.With(do, cp.ProviderData, further().Capture)
	if err != nil {
		return gateway.Outcome{}, err
	}
	if cp.Several && cp.Again {
		if o, made, err := c.made(ctx, cp); made || err != nil {
			return o, err
		}
	}
	return c.command(ctx, cp.ProviderPaymentID, "captures", cp.IdempotencyKey, cp.Permit, body)
}

// Cancel implements gateway.Provider. It voids an authorized payment. A payment that waits for its customer can't be
// cancelled; it expires. The wait for a payment session of ours ends with the session: the end of another one is unknown.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	if cl.ProviderPaymentID == "" && !cl.Elsewhere && strings.HasPrefix(cl.Container, sessionPrefix) {
		return c.endSession(ctx, cl)
	}
	if err := kit.EndsNoContainer(cl); err != nil {
		return gateway.Outcome{}, err
	}
	return c.command(ctx, cl.ProviderPaymentID, "voids", cl.IdempotencyKey, cl.Permit, action{
		Reference: cl.Attempt.String(), Metadata: map[string]string{"payment_attempt_id": cl.Attempt.String()},
	})
}

// action is a request that changes a payment.
type action struct {
	Amount    *int64            `json:"amount,omitempty"`
	Type      string            `json:"capture_type,omitempty"`
	Reference string            `json:"reference"`
	Metadata  map[string]string `json:"metadata"`
}

// accepted is the response to an action. Checkout.com carries the action out later.
type accepted struct {
	ActionID string `json:"action_id"`
}

// command sends an action and looks the payment up. If the payment does not show the accepted action yet, the outcome is
// processing.
func (c *Client) command(ctx context.Context, id, verb, key string, l gateway.Permit, body any) (gateway.Outcome, error) {
	var got accepted
	refused, err := c.act(ctx, id, verb, key, l, body, &got)
	if err != nil {
		return gateway.Outcome{}, err
	}
	now, _, err := c.standing(ctx, id)
	switch {
	case refused != nil:
		now.Refused = true
		return now, err
	case err != nil, now.Event == fsm.EventAuthorized: // the action was accepted nevertheless
		now = gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: id}
	}
	now.ProviderRef = got.ActionID
	return now, nil
}

// made returns the outcome of one of several captures that is among the payment's actions, by its reference.
func (c *Client) made(ctx context.Context, cp gateway.Capture) (o gateway.Outcome, made bool, err error) {
	all, err := c.actions(ctx, cp.ProviderPaymentID)
	if err != nil {
		return o, false, kit.NotSent(err)
	}
	i := slices.IndexFunc(all, func(d done) bool { return d.Type == "Capture" && d.Reference == cp.IdempotencyKey })
	if i < 0 {
		return o, false, nil
	}
	if o, _, err = c.standing(ctx, cp.ProviderPaymentID); err != nil {
		return o, false, kit.NotSent(err)
	}
	o.ProviderRef, o.Refused = all[i].ID, all[i].Approved != nil && !*all[i].Approved
	if o.Event == fsm.EventAuthorized && !o.Refused {
		o = gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: cp.ProviderPaymentID, ProviderRef: o.ProviderRef}
	}
	return o, true, nil
}

func (c *Client) act(ctx context.Context, id, verb, key string, l gateway.Permit, body any, got *accepted) (*refusal, error) {
	refused, err := c.api.Post(ctx, paymentPath(id)+"/"+verb, keyed(key), l, body, got)
	switch {
	case err != nil:
		return nil, err
	case refused == nil && got.ActionID == "":
		return nil, errNameless
	case refused != nil && refused.Status == http.StatusNotFound:
		return nil, gateway.ErrNoSuchPayment
	case refused != nil && refused.Status == http.StatusUnauthorized:
		return nil, refused
	}
	return refused, nil
}
