package stripe

import (
	"context"
	"github.com/paylatch/paylatch/internal/provider/call"
	"strings"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n call.Needs
	n.Data(ch.Details)
	return n.Err()
}

// Charge implements gateway.Provider. A declined payment waits at Stripe for another
// payment method: it is a soft decline with the id that cancels it there. A stored
// payment method is charged together with its customer, which Stripe checks.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	params, err := chargeParams(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	var made stripe.PaymentIntent
	refused, err := c.post(ctx, "/v1/payment_intents", ch.IdempotencyKey, ch.Permit, params, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return outcome(&made)
	case refused.PaymentIntent == nil:
		return gateway.Outcome{News: fsm.NewsFailed, Refused: refused.Type != stripe.ErrorTypeCard, Failure: failureOf(refused)}, nil
	}
	waits := refused.PaymentIntent
	if waits.LastPaymentError == nil {
		waits.LastPaymentError = refused
	}
	return outcome(waits)
}

func chargeParams(ch gateway.Charge) (*stripe.PaymentIntentCreateParams, error) {
	units, err := amount(ch.Money)
	if err != nil {
		return nil, err
	}
	p := &stripe.PaymentIntentCreateParams{
		Amount:        &units,
		Currency:      new(strings.ToLower(string(ch.Money.Currency))),
		Confirm:       new(true),
		CaptureMethod: new(string(ch.Capture)),
		AutomaticPaymentMethods: &stripe.PaymentIntentCreateAutomaticPaymentMethodsParams{
			Enabled: new(true), AllowRedirects: new("never"),
		},
		// Read by the webhooks' adapter.
		Metadata: map[string]string{"payment_attempt_id": ch.Attempt.String(), "order_id": string(ch.Order)},
	}
	if ch.ReturnURL != "" {
		p.ReturnURL = &ch.ReturnURL
		p.AutomaticPaymentMethods.AllowRedirects = new("always")
	}
	pay(p, ch.Token)
	if ch.Stored {
		p.Customer = &ch.Customer.Reference
	}
	return p, nil
}

// pay sets the method: a confirmation token, a card token of the Tokens API, or else a
// payment method.
func pay(p *stripe.PaymentIntentCreateParams, token string) {
	switch kind, _, _ := strings.Cut(token, "_"); kind {
	case "ctoken":
		p.ConfirmationToken = &token
	case "tok":
		p.AddExtra("payment_method_data[type]", "card")
		p.AddExtra("payment_method_data[card][token]", token)
	default:
		p.PaymentMethod = &token
	}
}
