package stripe

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/fsm"
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

// Cancel implements payment.Provider. Stripe repeats its first answer to a key for a
// day, "including 500 errors" (https://docs.stripe.com/api/idempotent_requests). A
// payment is cancelled only once anyway: so each call has a key of its own.
func (c *Client) Cancel(ctx context.Context, cl payment.Cancel) (payment.Outcome, error) {
	params := &stripe.PaymentIntentCancelParams{}
	key := fmt.Sprintf("%.42s-%.2s", cl.IdempotencyKey, rand.Text()) // 45 characters at most
	o, err := c.command(ctx, cl.ProviderPaymentID, "cancel", key, cl.Licence, params)
	o.Refused = o.Refused && o.News != fsm.NewsFailed // an earlier call did it
	return o, err
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
