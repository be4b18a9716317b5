package adyen

import (
	"context"

	"github.com/paylatch/paylatch/internal/payment"
)

// Lookup implements payment.Provider: Adyen has no call that reads a payment
// (https://docs.adyen.com/api-explorer/Checkout/72/overview), only webhooks.
func (c *Client) Lookup(context.Context, string) (payment.Outcome, error) {
	return payment.Outcome{}, payment.ErrUnsupported
}

// Find implements payment.Provider; see Lookup.
func (c *Client) Find(context.Context, payment.AttemptID) (payment.Outcome, error) {
	return payment.Outcome{}, payment.ErrUnsupported
}

// LookupRefund implements payment.Provider; see Lookup.
func (c *Client) LookupRefund(context.Context, payment.RefundRef) (payment.RefundOutcome, error) {
	return payment.RefundOutcome{}, payment.ErrUnsupported
}
