package checkout

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Capture implements gateway.Provider. Checkout.com releases the uncaptured rest.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	sum, err := units(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	body, err := kit.With(action{
		Amount: &sum, Type: "Final", Reference: cp.Attempt.String(), Metadata: map[string]string{"payment_attempt_id": cp.Attempt.String()},
	}, cp.ProviderData, further().Capture)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return c.command(ctx, cp.ProviderPaymentID, "captures", cp.IdempotencyKey, cp.Permit, body)
}

// Cancel implements gateway.Provider. It voids an authorized payment. A payment that waits for its customer can't be
// cancelled; it expires.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
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
	refused, err := c.act(ctx, id, verb, key, l, body, &accepted{})
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
	return now, nil
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
