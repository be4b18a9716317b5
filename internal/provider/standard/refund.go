package standard

import (
	"context"
	"net/url"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Refund implements gateway.Provider.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	var made Refund
	refused, err := c.api.Post(ctx, "/v1/charges/"+url.PathEscape(r.ProviderPaymentID)+"/refunds", keyed(r.IdempotencyKey), r.Permit,
		RefundRequest{Amount: r.Money.Minor, Reference: r.Refund.String()}, &made)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(made)
	}
	return gateway.RefusedRefund(refused.Code), nil
}

// LookupRefund implements gateway.Provider.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID == "" {
		found, err := only(ctx, c, "/v1/refunds", r.Refund.String(), func(r Refund) string { return r.Reference })
		if err != nil {
			return gateway.RefundOutcome{}, err
		}
		return refundOutcome(found)
	}
	var found Refund
	if err := c.api.Get(ctx, "/v1/refunds/"+url.PathEscape(r.ProviderRefundID), nil, &found); err != nil {
		return gateway.RefundOutcome{}, err
	}
	return refundOutcome(found)
}
