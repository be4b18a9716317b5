package gocardless

import (
	"context"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Lookup implements gateway.Provider
// (https://developer.gocardless.com/api-reference/#payments-get-a-single-payment).
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	var found struct {
		Payment debit `json:"payments"`
	}
	if err := c.get(ctx, "payments", id, &found); err != nil {
		return gateway.Outcome{}, err
	}
	return outcome(found.Payment)
}

// LookupRefund implements gateway.Provider
// (https://developer.gocardless.com/api-reference/#refunds-get-a-single-refund). A refund of
// another payment than the one that is named is not found.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID == "" {
		return gateway.RefundOutcome{}, gateway.ErrUnsupported
	}
	var found struct {
		Refund refund `json:"refunds"`
	}
	if err := c.get(ctx, "refunds", r.ProviderRefundID, &found); err != nil {
		return gateway.RefundOutcome{}, err
	}
	o, err := refundOutcome(found.Refund)
	if err == nil && r.ProviderPaymentID != "" && o.ProviderPaymentID != r.ProviderPaymentID {
		return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
	}
	return o, err
}
