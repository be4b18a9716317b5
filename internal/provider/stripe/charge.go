package stripe

import (
	"context"
	"strings"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	acceptsData(&n, ch.Details)
	_, err := amount(ch.Money)
	n.If(err != nil, "amount", "is not accepted by Stripe in this currency: the last of three decimals must be 0, and a currency that has no decimals at Stripe takes whole units only")
	n.If(ch.Save && !strings.HasPrefix(ch.Customer.Reference, customerPrefix), "customer.reference",
		"must be the id of one of Stripe's customers (cus_…) with save_payment_method")
	n.If(ch.Token == klarna && ch.ReturnURL == "", "return_url", "is required by Stripe for klarna: the customer confirms the payment on Klarna's page")
	n.If(ch.Token == klarna && len(lineItems(ch)) == 0, "lines", "are required for klarna: Klarna decides by them, and shows them to the customer")
	n.If(strings.ContainsAny(ch.StatementDescriptor, `<>\'"*`), "statement_descriptor", `must not have any of < > \ ' " * at Stripe`)
	return n.Err()
}

// Charge implements gateway.Provider. A declined payment waits at Stripe for another payment method. It is a soft
// decline with the id that cancels the payment. A stored payment method is charged together with its customer, and
// Stripe checks that they match.
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
		o, err := c.outcome(&made)
		return c.withSaved(ctx, o, err)
	case refused.PaymentIntent == nil:
		return gateway.Outcome{Event: fsm.EventFailed, Refused: refused.Type != stripe.ErrorTypeCard, Failure: failureOf(refused)}, nil
	}
	waits := refused.PaymentIntent
	if waits.LastPaymentError == nil {
		waits.LastPaymentError = refused
	}
	return c.outcome(waits)
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
		// The webhook reader uses the metadata.
		Metadata: map[string]string{"payment_attempt_id": ch.Attempt.String(), "order_id": string(ch.Order)},
	}
	if ch.ReturnURL != "" {
		p.ReturnURL = &ch.ReturnURL
		p.AutomaticPaymentMethods.AllowRedirects = new("always")
	}
	if ch.Several {
		p.AddExtra("payment_method_options[card][request_multicapture]", string(multicapture))
	}
	pay(p, ch.Details)
	carry(p, ch)
	extend(p, ch.Details)
	return p, nil
}

// klarna is the token of a payment at Klarna. It needs no script: the customer chooses on Klarna's page
// (https://docs.stripe.com/payments/klarna/accept-a-payment).
const klarna = "klarna"

// methodType returns the type of the charge's method, or "" if it is not known.
func methodType(d gateway.Details) string {
	if d.Token == klarna {
		return klarna
	}
	return d.MethodType
}

// pay sets the payment method: a confirmation token, a card token of the Tokens API, Klarna, or a payment method's id.
func pay(p *stripe.PaymentIntentCreateParams, d gateway.Details) {
	token := d.Token
	switch kind, _, _ := strings.Cut(token, "_"); {
	case token == klarna:
		p.AddExtra("payment_method_data[type]", klarna)
		bill(p, d.Customer)
	case kind == "ctoken":
		p.ConfirmationToken = &token
	case kind == "tok":
		p.AddExtra("payment_method_data[type]", "card")
		p.AddExtra("payment_method_data[card][token]", token)
		bill(p, d.Customer)
	default:
		p.PaymentMethod = &token
	}
}
