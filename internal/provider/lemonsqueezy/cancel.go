package lemonsqueezy

import (
	"cmp"
	"context"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Cancel implements gateway.Provider. A checkout can't be cancelled (https://docs.lemonsqueezy.com/api/checkouts has no
// such operation). It counts as cancelled without a command, and the customer can open it until it expires. A later
// payment is a late success. For an order, Cancel returns the order's state.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	o, err := c.standing(ctx, cmp.Or(cl.ProviderPaymentID, cl.Container), &cl.Permit)
	switch {
	case err != nil:
		return o, err
	case o.Event == fsm.EventFailed:
		o.PageOpen = false
		return o, nil
	case o.Event == fsm.EventSucceeded, o.Event == fsm.EventProcessing:
		o.Refused = true
		return o, nil
	}
	o.Event, o.PageOpen, o.NextAction, o.Failure = fsm.EventFailed, false, nil, payment.NewFailure("canceled", "")
	return o, nil
}
