package square

import (
	"context"
	"net/url"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func paymentPath(id string) string { return "/v2/payments/" + url.PathEscape(id) }

// Lookup implements gateway.Provider.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	got, err := c.get(ctx, paymentPath(id), nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return outcome(got.Payment)
}

// Find implements gateway.Provider: Square's list has no filter by reference
// (https://developer.squareup.com/reference/square/payments-api/list-payments).
func (c *Client) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}
