package square

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

// refund is a PaymentRefund
// (https://developer.squareup.com/reference/square/objects/PaymentRefund).
type refund struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Amount money  `json:"amount_money"`
	Reason string `json:"reason"`
}

type refundRequest struct {
	IdempotencyKey string `json:"idempotency_key"`
	PaymentID      string `json:"payment_id"`
	Amount         money  `json:"amount_money"`
	Reason         string `json:"reason"`
}

// Refund implements payment.Provider.
func (c *Client) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	got, refused, err := c.command(ctx, http.MethodPost, "/v2/refunds", r.Licence, refundRequest{
		IdempotencyKey: r.IdempotencyKey, PaymentID: r.ProviderPaymentID, Amount: moneyOf(r.Money), Reason: reason(r),
	})
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(got.Refund)
	}
	return payment.RefusedRefund(refused.Code), nil
}

// maxReason is how many characters a reason may have.
const maxReason = 192

// reason is ours with the refund's id behind it, the only place where Square
// keeps that.
func reason(r payment.RefundCall) string {
	id := r.Refund.String()
	if r.Reason == "" {
		return id
	}
	text, room := []rune(r.Reason), maxReason-len(id)-len(" ()")
	return string(text[:min(len(text), room)]) + " (" + id + ")"
}

// LookupRefund implements payment.Provider. One whose id is not known is looked
// for among those of its payment.
func (c *Client) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	if r.ProviderRefundID != "" {
		found, err := c.refund(ctx, r.ProviderRefundID)
		if err != nil {
			return payment.RefundOutcome{}, err
		}
		return refundOutcome(found)
	}
	of, err := c.get(ctx, paymentPath(r.ProviderPaymentID), nil)
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	if of.Payment == nil || of.Payment.ID == "" {
		return payment.RefundOutcome{}, errNameless
	}
	for _, id := range of.Payment.RefundIDs {
		found, err := c.refund(ctx, id)
		if err != nil {
			return payment.RefundOutcome{}, fmt.Errorf("one of the payment's refunds: %w", unknown(err))
		}
		if strings.Contains(found.Reason, r.Refund.String()) {
			return refundOutcome(found)
		}
	}
	return payment.RefundOutcome{}, payment.ErrNoSuchPayment
}

func (c *Client) refund(ctx context.Context, id string) (*refund, error) {
	got, err := c.get(ctx, "/v2/refunds/"+url.PathEscape(id), nil)
	if err == nil && (got.Refund == nil || got.Refund.ID == "") {
		err = errNameless
	}
	return got.Refund, err
}
