package yookassa

import (
	"context"
	"errors"
	"net/url"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

type refundRequest struct {
	PaymentID string            `json:"payment_id"`
	Amount    amount            `json:"amount"`
	Receipt   *receipt          `json:"receipt,omitempty"`
	Metadata  map[string]string `json:"metadata"`
}

// Refund implements gateway.Provider (https://yookassa.ru/developers/api#create_refund). It does not send our reason,
// because the customer may read it at YooKassa.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	value, err := kit.Decimal(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	on, err := c.receiptOf(r.Receipt, r.Money.Currency)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	var made refund
	refused, err := c.api.Post(ctx, "/refunds", keyed(r.IdempotencyKey), r.Permit, refundRequest{
		PaymentID: r.ProviderPaymentID, Amount: amount{value, string(r.Money.Currency)}, Receipt: on,
		Metadata: map[string]string{"refund_id": r.Refund.String(), "payment_attempt_id": r.Attempt.String()},
	}, &made)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(made)
	}
	return gateway.RefusedRefund(refused.Code), nil
}

// LookupRefund implements gateway.Provider. It does not find a refund of another payment.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID == "" {
		return c.findRefund(ctx, r)
	}
	var found refund
	if err := c.api.Get(ctx, "/refunds/"+url.PathEscape(r.ProviderRefundID), nil, &found); err != nil {
		return gateway.RefundOutcome{}, err
	}
	o, err := refundOutcome(found)
	if err == nil && found.PaymentID != r.ProviderPaymentID {
		return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
	}
	return o, err
}

// eachRefund passes the refunds of a payment (https://yookassa.ru/developers/api#get_refunds_list) until take returns
// false or an error. A missing list is no statement about the payment.
func (c *Client) eachRefund(ctx context.Context, of string, take func(refund) (bool, error)) error {
	err := each(ctx, c, "/refunds", url.Values{"payment_id": {of}}, take)
	if errors.Is(err, gateway.ErrNoSuchPayment) {
		return errNameless
	}
	return err
}

// findRefund searches all refunds of the payment.
func (c *Client) findRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	query := url.Values{"payment_id": {r.ProviderPaymentID}}
	found, err := search(ctx, c, "/refunds", query, func(made refund) bool { return made.Metadata["refund_id"] == r.Refund.String() })
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	return refundOutcome(*found)
}
