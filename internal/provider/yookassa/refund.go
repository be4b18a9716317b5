package yookassa

import (
	"context"
	"net/url"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

type refundRequest struct {
	PaymentID string            `json:"payment_id"`
	Amount    amount            `json:"amount"`
	Metadata  map[string]string `json:"metadata"`
}

// Refund implements payment.Provider (https://yookassa.ru/developers/api#create_refund).
// Our reason stays with us: what YooKassa takes as one the customer may read.
func (c *Client) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	value, err := call.Decimal(r.Money)
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	var made refund
	refused, err := c.post(ctx, "/refunds", r.IdempotencyKey, r.Licence, refundRequest{
		PaymentID: r.ProviderPaymentID, Amount: amount{value, string(r.Money.Currency)},
		Metadata: map[string]string{"refund_id": r.Refund.String(), "payment_attempt_id": r.Attempt.String()},
	}, &made)
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(made)
	}
	return payment.RefusedRefund(refused.Code), nil
}

// LookupRefund implements payment.Provider. A refund of another payment is none of
// this one.
func (c *Client) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	if r.ProviderRefundID == "" {
		return c.findRefund(ctx, r)
	}
	var found refund
	if err := c.get(ctx, "/refunds/"+url.PathEscape(r.ProviderRefundID), nil, &found); err != nil {
		return payment.RefundOutcome{}, err
	}
	o, err := refundOutcome(found)
	if err == nil && found.PaymentID != r.ProviderPaymentID {
		return payment.RefundOutcome{}, payment.ErrNoSuchPayment
	}
	return o, err
}

// findRefund looks through all refunds of the payment.
func (c *Client) findRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	query := url.Values{"payment_id": {r.ProviderPaymentID}}
	found, err := search(ctx, c, "/refunds", query, func(made refund) bool { return made.Metadata["refund_id"] == r.Refund.String() })
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	return refundOutcome(*found)
}
