package square

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
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

// Refund implements gateway.Provider.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	got, refused, err := c.command(ctx, http.MethodPost, "/v2/refunds", r.Permit, refundRequest{
		IdempotencyKey: r.IdempotencyKey, PaymentID: r.ProviderPaymentID, Amount: moneyOf(r.Money), Reason: kit.Reason(r, maxReason),
	})
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(got.Refund)
	}
	return gateway.RefusedRefund(refused.Code), nil
}

// maxReason is the maximum length of a reason, in characters.
const maxReason = 192

// LookupRefund implements gateway.Provider. It searches for a refund without a recorded id among the payment's refunds.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID != "" {
		found, err := c.refund(ctx, r.ProviderRefundID)
		if err != nil {
			return gateway.RefundOutcome{}, err
		}
		return refundOutcome(found)
	}
	of, err := c.get(ctx, paymentPath(r.ProviderPaymentID), nil)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	if of.Payment == nil || of.Payment.ID == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	for _, id := range of.Payment.RefundIDs {
		found, err := c.refund(ctx, id)
		if err != nil {
			return gateway.RefundOutcome{}, fmt.Errorf("one of the payment's refunds: %w", unknown(err))
		}
		if strings.Contains(found.Reason, r.Refund.String()) {
			return refundOutcome(found)
		}
	}
	return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
}

func (c *Client) refund(ctx context.Context, id string) (*refund, error) {
	got, err := c.get(ctx, "/v2/refunds/"+url.PathEscape(id), nil)
	if err == nil && (got.Refund == nil || got.Refund.ID == "") {
		err = errNameless
	}
	return got.Refund, err
}
