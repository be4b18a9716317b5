package stripe

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/payment"
)

// pageSize is the largest that Stripe's lists have.
const pageSize = 100

// Refund implements payment.Provider. Stripe has an enumeration for reasons: ours
// stays with us.
func (c *Client) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	units, err := amount(r.Money)
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	var made stripe.Refund
	refused, err := c.post(ctx, "/v1/refunds", r.IdempotencyKey, r.Licence, &stripe.RefundCreateParams{
		PaymentIntent: &r.ProviderPaymentID, Amount: &units,
		Metadata: map[string]string{"refund_id": r.Refund.String(), "payment_attempt_id": r.Attempt.String()},
	}, &made)
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(&made)
	}
	return payment.RefusedRefund(string(refused.Code)), nil
}

// LookupRefund implements payment.Provider.
func (c *Client) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	if r.ProviderRefundID == "" {
		return c.findRefund(ctx, r)
	}
	var found stripe.Refund
	if err := c.get(ctx, "/v1/refunds/"+url.PathEscape(r.ProviderRefundID), &stripe.RefundRetrieveParams{}, &found); err != nil {
		return payment.RefundOutcome{}, err
	}
	return refundOutcome(&found)
}

// errNoPayment is returned for a payment that this key does not know: of its refunds
// that says nothing.
var errNoPayment = fmt.Errorf("%w: there is no such payment", payment.ErrNotTold)

// findRefund looks through all refunds of the payment.
func (c *Client) findRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	params := &stripe.RefundListParams{PaymentIntent: &r.ProviderPaymentID}
	params.Limit = new(int64(pageSize))
	for {
		var refunds page[stripe.Refund]
		switch err := c.get(ctx, "/v1/refunds", params, &refunds); {
		case errors.Is(err, payment.ErrNoSuchPayment):
			return payment.RefundOutcome{}, errNoPayment
		case err != nil:
			return payment.RefundOutcome{}, err
		}
		if refunds.Data == nil {
			return payment.RefundOutcome{}, errNameless
		}
		for _, refund := range refunds.Data {
			if refund.Metadata["refund_id"] == r.Refund.String() {
				return refundOutcome(&refund)
			}
			params.StartingAfter = &refund.ID
		}
		if !refunds.HasMore || len(refunds.Data) == 0 {
			return payment.RefundOutcome{}, payment.ErrNoSuchPayment
		}
	}
}
