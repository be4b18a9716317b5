package adyen

import (
	"context"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Refund implements gateway.Provider. The webhook REFUND reports the result. Refund does not send our reason, because
// Adyen has an enumeration of reasons.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	units, err := digits.Units(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	body, err := kit.With(modification{
		MerchantAccount: c.merchant, Reference: r.Refund.String(), Amount: &amount{units, string(r.Money.Currency)},
	}, r.ProviderData, further().Refund)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	got, refused, err := c.modify(ctx, r.ProviderPaymentID, "refunds", r.IdempotencyKey, r.Permit, body)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(got)
	}
	return gateway.RefusedRefund(refused.Code), nil
}

func refundOutcome(m modification) (gateway.RefundOutcome, error) {
	o := gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: m.PSPReference}
	if m.Amount == nil {
		return o, nil
	}
	var err error
	o.Money, err = digits.Money(m.Amount.Value, m.Amount.Currency)
	return o, err
}
