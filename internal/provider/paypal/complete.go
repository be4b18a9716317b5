package paypal

import (
	"cmp"
	"context"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Complete implements gateway.Provider. It captures or authorizes an order that its customer has approved
// (https://developer.paypal.com/docs/api/orders/v2/#orders_capture). PayPal stores the approval, so Complete sends no
// details. A decline is final, although PayPal would accept another method for the order. An order that is not approved
// continues to wait.
func (c *Client) Complete(ctx context.Context, ch gateway.Completion) (gateway.Outcome, error) {
	in := cmp.Or(ch.Container, ch.ProviderPaymentID)
	if in == "" {
		return gateway.Outcome{}, gateway.ErrUnsupportedRequest
	}
	verb := "/capture"
	if ch.Capture == payment.CaptureManual {
		verb = "/authorize"
	}
	var done order
	refused, err := c.api.Post(ctx, ordersPath+"/"+url.PathEscape(in)+verb, keyed(ch.IdempotencyKey), ch.Permit, struct{}{}, &done)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		c.orders.note(done)
		return outcome(done)
	case refused.Missing():
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	case refused.turnedAway():
		return gateway.Outcome{}, refused
	}
	now, err := c.Lookup(ctx, in)
	if now.Event == fsm.EventActionRequired && !refused.early(now.Approved) {
		now.Event, now.Approved, now.NextAction, now.Failure = fsm.EventSoftFailed, false, nil, refused.failure()
	}
	return now, err
}
