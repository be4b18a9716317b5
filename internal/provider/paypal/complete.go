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
	if stays, err := c.unready(ctx, in, &ch.Permit); stays != nil || err != nil {
		return *cmp.Or(stays, &gateway.Outcome{}), err
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

// unready returns the state of an order that must not be captured, because its card has not passed 3-D Secure or may still have to; nil for
// any other order.
func (c *Client) unready(ctx context.Context, id string, l *gateway.Permit) (*gateway.Outcome, error) {
	checked, err := c.authenticated(ctx, id, l)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return nil, err
	case err != nil:
		return nil, kit.NotSent(err)
	}
	results := checked.results()
	if failed := rejected(results); failed != nil {
		now, err := c.unauthenticated(ctx, id, failed)
		return &now, err
	}
	_, card := checked.Source["card"]
	_, google := checked.Source["google_pay"]
	if len(results) > 0 || !card && !google {
		return nil, nil //nolint:nilnil // it may be captured
	}
	found, err := c.order(ctx, id, nil)
	if err != nil {
		return nil, kit.NotSent(err)
	}
	if !found.unverified() {
		return nil, nil //nolint:nilnil // it may be captured
	}
	now, err := outcome(found)
	return &now, kit.NotSent(err)
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
