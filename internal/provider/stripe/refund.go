package stripe

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/gateway"
)

// pageSize is the maximum page size of Stripe's lists.
const pageSize = 100

// Refund implements gateway.Provider. It does not send our reason, because Stripe has an enumeration of reasons.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	units, err := amount(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	params := &stripe.RefundCreateParams{
		PaymentIntent: &r.ProviderPaymentID, Amount: &units,
		Metadata: map[string]string{"refund_id": r.Refund.String(), "payment_attempt_id": r.Attempt.String()},
	}
	addData(&params.Params, r.ProviderData, further().Refund.Names())
	var made stripe.Refund
	refused, err := c.post(ctx, "/v1/refunds", r.IdempotencyKey, r.Permit, params, &made)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(&made)
	}
	return gateway.RefusedRefund(string(refused.Code)), nil
}

// LookupRefund implements gateway.Provider.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID == "" {
		return c.findRefund(ctx, r)
	}
	var found stripe.Refund
	if err := c.get(ctx, "/v1/refunds/"+url.PathEscape(r.ProviderRefundID), &stripe.RefundRetrieveParams{}, &found); err != nil {
		return gateway.RefundOutcome{}, err
	}
	return refundOutcome(&found)
}

// errNoPayment is returned if this key can't find the payment. That is no evidence about the payment's refunds.
var errNoPayment = fmt.Errorf("%w: there is no such payment", gateway.ErrInconclusive)

// findRefund searches all refunds of the payment.
func (c *Client) findRefund(ctx context.Context, r gateway.RefundRef) (found gateway.RefundOutcome, err error) {
	missing := gateway.ErrNoSuchPayment
	err = c.eachRefund(ctx, r.ProviderPaymentID, func(made *stripe.Refund) (bool, error) {
		if made.Metadata["refund_id"] != r.Refund.String() {
			return false, nil
		}
		missing = nil
		found, err = refundOutcome(made)
		return true, err
	})
	if err == nil {
		err = missing
	}
	return found, err
}

// eachRefund passes the refunds of a payment, the newest first, until take returns true or an error.
func (c *Client) eachRefund(ctx context.Context, intent string, take func(*stripe.Refund) (bool, error)) error {
	params := &stripe.RefundListParams{PaymentIntent: &intent}
	params.Limit = new(int64(pageSize))
	for {
		var refunds page[stripe.Refund]
		switch err := c.get(ctx, "/v1/refunds", params, &refunds); {
		case errors.Is(err, gateway.ErrNoSuchPayment):
			return errNoPayment
		case err != nil:
			return err
		}
		if refunds.Data == nil {
			return errNameless
		}
		for i := range refunds.Data {
			if done, err := take(&refunds.Data[i]); done || err != nil {
				return err
			}
			params.StartingAfter = &refunds.Data[i].ID
		}
		if !refunds.HasMore || len(refunds.Data) == 0 {
			return nil
		}
	}
}
