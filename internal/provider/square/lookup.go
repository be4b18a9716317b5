package square

import (
	"context"
	"net/url"

	"github.com/paylatch/paylatch/internal/payment"
)

func paymentPath(id string) string { return "/v2/payments/" + url.PathEscape(id) }

// Lookup implements payment.Provider.
func (c *Client) Lookup(ctx context.Context, id string) (payment.Outcome, error) {
	got, err := c.get(ctx, paymentPath(id), nil)
	if err != nil {
		return payment.Outcome{}, err
	}
	return outcome(got.Payment)
}

// Find implements payment.Provider: Square's list has no reference among its
// filters
// (https://developer.squareup.com/reference/square/payments-api/list-payments).
func (c *Client) Find(context.Context, payment.AttemptID) (payment.Outcome, error) {
	return payment.Outcome{}, payment.ErrUnsupported
}
