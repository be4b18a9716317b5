package stripe

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// Capture implements gateway.Provider. The uncaptured rest is released.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	units, err := amount(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	params := &stripe.PaymentIntentCaptureParams{AmountToCapture: &units}
	return c.command(ctx, cp.ProviderPaymentID, "capture", cp.IdempotencyKey, cp.Permit, params)
}

// Cancel implements gateway.Provider. A payment that its customer has begun on a page is ended by ending the page.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	if cl.ProviderPaymentID == "" {
		return c.expire(ctx, cl)
	}
	o, err := c.command(ctx, cl.ProviderPaymentID, "cancel", onceKey(cl), cl.Permit, &stripe.PaymentIntentCancelParams{})
	o.Refused = o.Refused && o.News != fsm.NewsFailed // an earlier call did it
	if err == nil && ofSession(cl, o) {
		return c.expirePayment(ctx, cl)
	}
	return o, err
}

// onceKey is the idempotency key of one call that cancels. Stripe repeats its first response to a key for a
// day, "including 500 errors" (https://docs.stripe.com/api/idempotent_requests). A
// payment is cancelled only once anyway: so each call has a key of its own.
func onceKey(cl gateway.Cancel) string {
	return fmt.Sprintf("%.42s-%.2s", cl.IdempotencyKey, rand.Text()) // 45 characters at most
}

// command sends a command. After a refusal the payment is looked up: its state counts.
func (c *Client) command(ctx context.Context, id, verb, key string, l gateway.Permit, params any) (gateway.Outcome, error) {
	var moved stripe.PaymentIntent
	refused, err := c.post(ctx, intentPath(id)+"/"+verb, key, l, params, &moved)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return outcome(&moved)
	case missing(refused):
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	now, err := c.standing(ctx, id)
	now.Refused = true
	return now, err
}
