package paypal

import (
	"cmp"
	"context"
	"errors"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Complete implements gateway.Provider. It captures or authorizes an order that its customer has approved
// (https://developer.paypal.com/docs/api/orders/v2/#orders_capture). PayPal stores the approval, so Complete sends no
// details. A decline is final, although PayPal would accept another method for the order. An order that is not approved
// continues to wait. PayPal captures a card also after a failed 3-D Secure. So its result is read first, and decides.
func (c *Client) Complete(ctx context.Context, ch gateway.Completion) (gateway.Outcome, error) {
	in := cmp.Or(ch.Container, ch.ProviderPaymentID)
	if in == "" {
		return gateway.Outcome{}, gateway.ErrUnsupportedRequest
	}
	checked, err := c.authenticated(ctx, in, &ch.Permit)
	switch failed := checked.rejected(); {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return gateway.Outcome{}, err
	case err != nil:
		return gateway.Outcome{}, kit.NotSent(err)
	case failed != nil:
		return c.unauthenticated(ctx, in, failed)
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

// unauthenticated returns the state of an order whose card has not passed 3-D Secure. Nothing is sent for it. While PayPal still waits for
// the customer, the order does, too.
func (c *Client) unauthenticated(ctx context.Context, id string, failed *authentication) (gateway.Outcome, error) {
	found, err := c.order(ctx, id, nil)
	if err != nil {
		return gateway.Outcome{}, kit.NotSent(err)
	}
	now, err := outcome(found)
	if err == nil && now.Event == fsm.EventActionRequired && found.Status != "PAYER_ACTION_REQUIRED" {
		now.Event, now.Approved, now.NextAction, now.Failure = fsm.EventSoftFailed, false, nil, failed.failure()
	}
	return now, err
}
