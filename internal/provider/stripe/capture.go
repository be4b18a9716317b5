package stripe

import (
	"context"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/payment"
)

// Capture implements payment.Provider. What is not captured is released.
func (c *Client) Capture(ctx context.Context, cp payment.Capture) (payment.Outcome, error) {
	units, err := amount(cp.Money)
	if err != nil {
		return payment.Outcome{}, err
	}
	params := &stripe.PaymentIntentCaptureParams{AmountToCapture: &units}
	return c.command(ctx, cp.ProviderPaymentID, "capture", cp.IdempotencyKey, cp.Licence, params)
}

// Cancel implements payment.Provider.
func (c *Client) Cancel(ctx context.Context, cl payment.Cancel) (payment.Outcome, error) {
	params := &stripe.PaymentIntentCancelParams{}
	return c.command(ctx, cl.ProviderPaymentID, "cancel", cl.IdempotencyKey, cl.Licence, params)
}

// command moves a payment. When it is refused the payment itself is asked: what
// counts is how it stands.
func (c *Client) command(ctx context.Context, id, verb, key string, l payment.Licence, params any) (payment.Outcome, error) {
	var moved stripe.PaymentIntent
	refused, err := c.post(ctx, intentPath(id)+"/"+verb, key, l, params, &moved)
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case refused == nil:
		return outcome(&moved)
	case missing(refused):
		return payment.Outcome{}, payment.ErrNoSuchPayment
	}
	now, err := c.Lookup(ctx, id)
	now.Refused = true
	return now, err
}
