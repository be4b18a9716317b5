package mollie

import (
	"context"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Lookup implements gateway.Provider.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	if isContainer(id) {
		return c.lookupContainer(ctx, id)
	}
	found, err := c.find(ctx, id, nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return outcome(found)
}

// find looks up a payment with its captures, refunds and chargebacks. A capture may be pending. Of refunds and
// chargebacks, the payment itself contains only the totals (https://docs.mollie.com/reference/get-payment, "embed").
func (c *Client) find(ctx context.Context, id string, l *gateway.Permit) (object, error) {
	var found object
	err := c.api.Get(ctx, paymentPath(id)+"?embed=captures,refunds,chargebacks", l, &found)
	return found, err
}

// Find implements gateway.Provider: Mollie has no such call.
func (c *Client) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}
