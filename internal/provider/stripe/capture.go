package stripe

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// Capture implements gateway.Provider. Stripe releases the uncaptured rest.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	units, err := amount(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	params := &stripe.PaymentIntentCaptureParams{AmountToCapture: &units}
	if cp.Several {
		params.FinalCapture = new(cp.Final || cp.Whole)
	}
	addData(&params.Params, cp.ProviderData, further().Capture.Names())
	return c.command(ctx, cp.ProviderPaymentID, "capture", cp.IdempotencyKey, cp.Permit, params)
}

// Cancel implements gateway.Provider. If the customer began the payment on a Checkout page, Cancel expires the page.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	if cl.ProviderPaymentID == "" {
		return c.expire(ctx, cl)
	}
	o, err := c.command(ctx, cl.ProviderPaymentID, "cancel", onceKey(cl), cl.Permit, &stripe.PaymentIntentCancelParams{})
	o.Refused = o.Refused && o.Event != fsm.EventFailed // an earlier call cancelled it
	if err == nil && ofSession(cl, o) {
		return c.expirePayment(ctx, cl)
	}
	return o, err
}

// onceKey returns the idempotency key of one cancel call. For a day, Stripe repeats its first response to a key,
// "including 500 errors" (https://docs.stripe.com/api/idempotent_requests). A payment can be cancelled only once anyway,
// so each call has its own key.
func onceKey(cl gateway.Cancel) string {
	return fmt.Sprintf("%.42s-%.2s", cl.IdempotencyKey, rand.Text()) // 45 characters at most
}

// command sends a command. After a refusal it looks the payment up and returns the payment's state.
func (c *Client) command(ctx context.Context, id, verb, key string, l gateway.Permit, params any) (gateway.Outcome, error) {
	var moved stripe.PaymentIntent
	refused, err := c.post(ctx, intentPath(id)+"/"+verb, key, l, params, &moved)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return c.outcome(&moved)
	case missing(refused):
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	now, err := c.standing(ctx, id)
	now.Refused = true
	return now, err
}
