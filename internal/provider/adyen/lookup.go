package adyen

import (
	"context"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Lookup implements gateway.Provider. Adyen has no call that reads a payment
// (https://docs.adyen.com/api-explorer/Checkout/72/overview), only webhooks.
func (c *Client) Lookup(context.Context, string) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

// Find implements gateway.Provider; see Lookup.
func (c *Client) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

// LookupRefund implements gateway.Provider; see Lookup.
func (c *Client) LookupRefund(context.Context, gateway.RefundRef) (gateway.RefundOutcome, error) {
	return gateway.RefundOutcome{}, gateway.ErrUnsupported
}
