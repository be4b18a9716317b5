package razorpay

import (
	"cmp"
	"context"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Capture implements gateway.Provider. It is not supported: Razorpay captures a link's payment itself, and Complete
// captures an order's payment.
func (c *Client) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

// Cancel implements gateway.Provider (https://razorpay.com/docs/api/payments/payment-links/cancel-standard/). A
// cancelled link can't be paid. A failed payment is cancelled together with its link or order. An authorized or captured
// payment can't be cancelled.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	if !isPayment(cl.ProviderPaymentID) {
		return c.end(ctx, cmp.Or(cl.Container, cl.ProviderPaymentID), cl)
	}
	found, err := c.payment(ctx, cl.ProviderPaymentID, &cl.Permit)
	if err != nil {
		return gateway.Outcome{}, err
	}
	stands, err := found.outcome()
	if err != nil || stands.Event != fsm.EventSoftFailed {
		stands.Refused = true
		return stands, err
	}
	in, err := c.madeIn(ctx, found, cl)
	if err != nil {
		return gateway.Outcome{}, err
	}
	over, err := c.end(ctx, in, cl)
	if err != nil || over.ProviderPaymentID == "" && over.Event != fsm.EventFailed {
		return over, err
	}
	// The link or order is closed, or another payment paid it. The failed payment takes no money any more.
	stands.Event, stands.PageOpen, stands.Failure = fsm.EventFailed, false, payment.NewFailure("canceled", "")
	if over.ProviderPaymentID == found.ID {
		return over, nil
	}
	return stands, nil
}

// madeIn returns the link or order of a payment. A payment names its order only, even if the order belongs to a link.
func (c *Client) madeIn(ctx context.Context, p paid, cl gateway.Cancel) (string, error) {
	if cl.Container != "" && !isOrder(cl.Container) {
		return cl.Container, nil
	}
	found, err := c.find(ctx, cl.Attempt, &cl.Permit)
	if isMissing(err) {
		return cmp.Or(cl.Container, p.OrderID), nil
	}
	return found.ID, err
}

// end cancels a link, or ends the wait for an order.
func (c *Client) end(ctx context.Context, id string, cl gateway.Cancel) (gateway.Outcome, error) {
	switch {
	case id == "":
		return gateway.Outcome{}, gateway.ErrUnsupportedRequest
	case isOrder(id):
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
	now.Refused = now.Event != fsm.EventFailed
	return now, err
}

// scriptLife is our estimate of how long a customer may still pay in the script, or at a bank opened from it, after a
// cancel request. Razorpay documents no time.
const scriptLife = 15 * time.Minute

// abandon ends the wait for an order. Razorpay can't cancel an order, so abandon only looks it up. An unpaid order
// counts as cancelled after scriptLife, the time to finish a payment that has begun.
func (c *Client) abandon(ctx context.Context, id string, cl gateway.Cancel) (gateway.Outcome, error) {
	now, err := c.lookupOrder(ctx, id, &cl.Permit)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case now.Event == fsm.EventSucceeded, now.Event == fsm.EventAuthorized:
		now.Refused = true
	case cl.Quiet >= scriptLife:
		return gateway.Outcome{Event: fsm.EventFailed, Container: id, References: []string{id}, Failure: payment.NewFailure("canceled", "")}, nil
	}
	return now, nil
}
