package stripe

import (
	"context"
	"errors"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Complete implements gateway.Provider. Stripe.js has already sent the customer's input to Stripe. Complete looks the
// attempt's own payment up, and confirms it if it waits for that. It does not use the details.
func (c *Client) Complete(ctx context.Context, cp gateway.Completion) (gateway.Outcome, error) {
	if cp.ProviderPaymentID == "" {
		return gateway.Outcome{}, gateway.ErrUnsupportedRequest
	}
	found, err := c.waiting(ctx, cp)
	if err != nil {
		return gateway.Outcome{}, err
	}
	if found.Status != stripe.PaymentIntentStatusRequiresConfirmation {
		o, err := c.outcome(found)
		return c.withSaved(ctx, o, err)
	}
	o, err := c.command(ctx, cp.ProviderPaymentID, "confirm", cp.IdempotencyKey, cp.Permit, &stripe.PaymentIntentConfirmParams{})
	o.Refused = false // the outcome is the payment's state; a decline of the payment does not refuse this call
	return o, err
}

// waiting reads the payment under the permit of the command that follows.
func (c *Client) waiting(ctx context.Context, cp gateway.Completion) (*stripe.PaymentIntent, error) {
	var found stripe.PaymentIntent
	err := c.read(ctx, intentPath(cp.ProviderPaymentID), &cp.Permit, &stripe.PaymentIntentRetrieveParams{}, &found)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return nil, err
	case err != nil:
		return nil, kit.NotSent(err)
	case found.Object != "payment_intent" || found.ID != cp.ProviderPaymentID:
		return nil, kit.NotSent(errNameless)
	}
	return &found, nil
}
