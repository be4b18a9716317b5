package razorpay

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Capture implements gateway.Provider: a link's payment Razorpay captures itself, and an order's Complete.
func (c *Client) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

// Cancel implements gateway.Provider
// (https://razorpay.com/docs/api/payments/payment-links/cancel-standard/): an unpaid
// link can no longer be paid.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	id := cl.ProviderPaymentID
	if isPayment(id) {
		// An early webhook named the payment and not its link or order.
		var err error
		if id, err = c.named(ctx, cl.Attempt, &cl.Permit); err != nil {
			return gateway.Outcome{}, err
		}
	}
	if isOrder(id) {
		return c.abandon(ctx, id, cl)
	}
	var over link
	refused, err := c.api.Post(ctx, linkPath(id)+"/cancel", nil, cl.Permit, struct{}{}, &over)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return over.outcome()
	case refused.Missing():
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	now, err := c.Lookup(ctx, id)
	now.Refused = now.News != fsm.NewsFailed
	return now, err
}

// scriptLife is how long after a cancel a customer may still be in the script, or at a bank from there.
// Razorpay documents no time.
const scriptLife = 15 * time.Minute

// abandon ends the wait for an order, which Razorpay can't cancel: it only looks. An unpaid order is over
// when its customer was given the time to end a payment that was begun.
func (c *Client) abandon(ctx context.Context, id string, cl gateway.Cancel) (gateway.Outcome, error) {
	now, err := c.lookupOrder(ctx, id, &cl.Permit)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case now.News == fsm.NewsSucceeded, now.News == fsm.NewsAuthorized:
		now.Refused = true
	case cl.Quiet >= scriptLife:
		return gateway.Outcome{News: fsm.NewsFailed, ProviderPaymentID: id, Failure: payment.NewFailure("canceled", "")}, nil
	}
	return now, nil
}
