package adyen

import (
	"context"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Refund implements payment.Provider. The webhook REFUND says what came of it.
// Adyen has an enumeration for reasons: ours stays with us.
func (c *Client) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	units, err := digits.Units(r.Money)
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	got, refused, err := c.modify(ctx, r.ProviderPaymentID, "refunds", r.IdempotencyKey, r.Licence, modification{
		MerchantAccount: c.merchant, Reference: r.Refund.String(), Amount: &amount{units, string(r.Money.Currency)},
	})
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(got)
	}
	return payment.RefusedRefund(refused.Code), nil
}

func refundOutcome(m modification) (payment.RefundOutcome, error) {
	o := payment.RefundOutcome{News: fsm.NewsProcessing, ProviderRefundID: m.PSPReference}
	if m.Amount == nil {
		return o, nil
	}
	var err error
	o.Money, err = digits.Money(m.Amount.Value, m.Amount.Currency)
	return o, err
}
