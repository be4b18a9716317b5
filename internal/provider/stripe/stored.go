package stripe

import (
	"context"
	"net/url"
	"strings"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	hooks "github.com/paylatch/paylatch/webhooks/stripe"
)

// TokenKind implements gateway.Provider. A payment method may be new or stored. Stripe accepts a method that is attached
// to a customer only together with that customer
// (https://docs.stripe.com/api/payment_intents/create#create_payment_intent-customer).
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if token == klarna {
		return gateway.TokenSingleUse
	}
	switch kind, _, _ := strings.Cut(token, "_"); kind {
	case "ctoken", "tok":
		return gateway.TokenSingleUse
	case "cus", "card", "ba", "src":
		return gateway.TokenStored
	}
	return gateway.TokenEither
}

// CheckOwner implements gateway.Provider (https://docs.stripe.com/api/payment_methods/retrieve). The customer is the id
// of a Stripe customer (cus_…). The token must not be a customer's id, because that names no payment method.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	if strings.HasPrefix(token, "cus_") {
		return gateway.ErrUnsupportedRequest
	}
	var found stripe.PaymentMethod
	if err := c.get(ctx, "/v1/payment_methods/"+url.PathEscape(token), &stripe.PaymentMethodRetrieveParams{}, &found); err != nil {
		return err
	}
	if found.Customer == nil || found.Customer.ID != customer {
		return payment.ErrMethodNotYours
	}
	return nil
}

// withSaved adds the description of the stored payment method, because the payment contains only the method's id. A
// method without a description can still be charged.
func (c *Client) withSaved(ctx context.Context, o gateway.Outcome, err error) (gateway.Outcome, error) {
	if err != nil || o.Saved == nil {
		return o, err
	}
	var found stripe.PaymentMethod
	if c.get(ctx, "/v1/payment_methods/"+url.PathEscape(o.Saved.Token), &stripe.PaymentMethodRetrieveParams{}, &found) == nil && found.ID == o.Saved.Token {
		o.Saved = savedMethod(&found)
	}
	return o, nil
}

// saved returns the method that a payment has stored with its customer, or nil.
func saved(pi *stripe.PaymentIntent) *payment.SavedMethod {
	if pi.SetupFutureUsage == "" || pi.Customer == nil || pi.PaymentMethod == nil || pi.PaymentMethod.ID == "" {
		return nil
	}
	return &payment.SavedMethod{Token: pi.PaymentMethod.ID}
}

func savedMethod(m *stripe.PaymentMethod) *payment.SavedMethod {
	s := &payment.SavedMethod{Token: m.ID, Type: string(m.Type)}
	switch {
	case m.Card != nil:
		s.Display, s.Expires = hooks.MethodDisplay(string(m.Card.Brand), m.Card.Last4), hooks.MethodExpires(m.Card.ExpYear, m.Card.ExpMonth)
	case m.SEPADebit != nil:
		s.Display = hooks.MethodDisplay("", m.SEPADebit.Last4)
	case m.USBankAccount != nil:
		s.Display = hooks.MethodDisplay(m.USBankAccount.BankName, m.USBankAccount.Last4)
	}
	return s
}
