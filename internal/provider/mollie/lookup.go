package mollie

import (
	"context"

	"github.com/paylatch/paylatch/internal/payment"
)

// Lookup implements payment.Provider.
func (c *Client) Lookup(ctx context.Context, id string) (payment.Outcome, error) {
	found, err := c.find(ctx, id, nil)
	if err != nil {
		return payment.Outcome{}, err
	}
	return outcome(found)
}

// find has the payment's captures beside it, as one may be under way, and its
// chargebacks, of which the payment has only the total
// (https://docs.mollie.com/reference/get-payment, "embed").
func (c *Client) find(ctx context.Context, id string, l *payment.Licence) (object, error) {
	var found object
	err := c.get(ctx, paymentPath(id)+"?embed=captures,chargebacks", l, &found)
	return found, err
}

// Find implements payment.Provider: Mollie has no such call.
func (c *Client) Find(context.Context, payment.AttemptID) (payment.Outcome, error) {
	return payment.Outcome{}, payment.ErrUnsupported
}
