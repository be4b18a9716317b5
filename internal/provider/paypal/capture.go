package paypal

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

type captureRequest struct {
	Amount       amount `json:"amount"`
	FinalCapture bool   `json:"final_capture"`
}

// Capture implements gateway.Provider. PayPal releases the uncaptured rest after a final capture
// (https://developer.paypal.com/docs/api/payments/v2/#authorizations_capture). PayPal would capture up to 115 % of the
// authorized amount, but we never capture more than 100 %. A declined capture is a result, not an error.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	sum, err := amountOf(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	found, err := c.find(ctx, cp.ProviderPaymentID, cp.Container, &cp.Permit)
	if err != nil {
		return gateway.Outcome{}, err
	}
	of, _ := found.named(cp.ProviderPaymentID)
	held := of.held
	if held == nil || held.less(cp.Money) {
		return refusedAs(found, cp.ProviderPaymentID)
	}
	body, err := kit.With(captureRequest{sum, !cp.Several || cp.Final || cp.Whole}, cp.ProviderData, further().Capture)
	if err != nil {
		return gateway.Outcome{}, err
	}
	var taken movement
	path := authorizationsPath + "/" + url.PathEscape(held.ID) + "/capture"
	refused, err := c.api.Post(ctx, path, keyed(cp.IdempotencyKey), cp.Permit, body, &taken)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		o, err := found.outcomeOf(of.with(taken))
		o.Refused = taken.declined()
		o.ProviderRef = taken.ID
		return o, err
	}
	return c.asItStands(ctx, cp.ProviderPaymentID, cp.Container)
}

// finishLife is our limit for the time that PayPal may process a request to finish an order after the caller stopped
// waiting. PayPal documents no time; its own calls end within a minute.
const finishLife = 5 * time.Minute

// Cancel implements gateway.Provider. It voids a hold
// (https://developer.paypal.com/docs/api/payments/v2/#authorizations_void). PayPal has no call that cancels an
// unfinished order. Such an order needs none, because it captures nothing without a request of ours. But an earlier
// request may still be finishing an approved order.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	found, err := c.find(ctx, cl.ProviderPaymentID, cl.Container, &cl.Permit)
	if err != nil {
		return gateway.Outcome{}, err
	}
	of, _ := found.named(cl.ProviderPaymentID)
	held := of.held
	switch {
	case found.unfinished() && found.Status == "APPROVED" && cl.Quiet < finishLife:
		now, err := outcome(found)
		now.Approved = false
		return now, err
	case found.unfinished():
		return found.canceled(of), nil
	case held == nil, len(of.taken()) > 0 && !of.inParts():
		return refusedAs(found, cl.ProviderPaymentID)
	}
	path := authorizationsPath + "/" + url.PathEscape(held.ID) + "/void"
	refused, err := c.api.Post(ctx, path, keyed(cl.IdempotencyKey), cl.Permit, kit.NoBody, nil)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case (refused == nil || refused.code() == "PREVIOUSLY_VOIDED") && len(of.taken()) > 0: // the rest of the hold
		held.Status = "VOIDED"
		return found.outcomeOf(of)
	case refused == nil, refused.code() == "PREVIOUSLY_VOIDED":
		return found.canceled(of), nil
	}
	return c.asItStands(ctx, cl.ProviderPaymentID, cl.Container)
}

// canceled returns the outcome of a canceled payment, or of an order without a payment.
func (o order) canceled(p made) gateway.Outcome {
	return gateway.Outcome{
		Event: fsm.EventFailed, ProviderPaymentID: p.id, Container: o.ID, Payee: cmp.Or(p.payee, o.payee()),
		References: o.references(made{id: p.id, captures: p.captures, mark: cmp.Or(p.mark, o.mark())}), Failure: payment.NewFailure("canceled", ""),
	}
}

// asItStands looks the payment up after a refused command, and returns its state.
func (c *Client) asItStands(ctx context.Context, id, container string) (gateway.Outcome, error) {
	found, err := c.find(ctx, id, container, nil)
	if err != nil {
		return gateway.Outcome{Refused: true}, err
	}
	return refusedAs(found, id)
}

// refusedAs is asItStands for a command that is not sent.
func refusedAs(o order, id string) (gateway.Outcome, error) {
	now, err := outcomeNamed(o, id)
	now.Refused = true
	return now, err
}
