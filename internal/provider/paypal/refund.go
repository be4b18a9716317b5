package paypal

import (
	"context"
	"net/url"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

type refundRequest struct {
	Amount amount `json:"amount"`
	// CustomID is by what the refund is known in its order and its webhooks.
	CustomID string `json:"custom_id"`
}

// Refund implements payment.Provider
// (https://developer.paypal.com/docs/api/payments/v2/#captures_refund). Our reason
// stays with us: what PayPal takes as one the customer reads.
func (c *Client) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	sum, err := amountOf(r.Money)
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	found, err := c.find(ctx, r.ProviderPaymentID, &r.Licence)
	if err != nil {
		return payment.RefundOutcome{}, call.NotSent(err)
	}
	taken := found.taken()
	if len(taken) == 0 {
		return payment.RefusedRefund(found.Status), nil
	}
	var made refund
	path := capturesPath + "/" + url.PathEscape(taken[len(taken)-1].ID) + "/refund"
	refused, err := c.post(ctx, path, r.IdempotencyKey, r.Licence, refundRequest{sum, r.Refund.String()}, &made)
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(made)
	}
	return payment.RefusedRefund(refused.code()), nil
}

// LookupRefund implements payment.Provider. A refund whose id is not known is
// looked for in its order
// (https://developer.paypal.com/docs/api/orders/v2/#orders_get, "payments.refunds").
func (c *Client) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	if r.ProviderRefundID != "" {
		var found refund
		if err := c.get(ctx, refundsPath, r.ProviderRefundID, nil, &found); err != nil {
			return payment.RefundOutcome{}, err
		}
		return refundOutcome(found)
	}
	in, err := c.find(ctx, r.ProviderPaymentID, nil)
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case in.Status == "":
		return payment.RefundOutcome{}, payment.ErrNotTold
	}
	for _, u := range in.PurchaseUnits {
		for _, made := range u.Payments.Refunds {
			if made.CustomID == r.Refund.String() {
				return refundOutcome(made)
			}
		}
	}
	return payment.RefundOutcome{}, payment.ErrNoSuchPayment
}
