package stripe

import (
	"context"
	"net/url"
	"strings"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements payment.Provider. A payment method may be the one that the
// customer has just given or a stored one: one that is attached to a customer Stripe
// takes only together with that customer
// (https://docs.stripe.com/api/payment_intents/create#create_payment_intent-customer).
func (c *Client) TokenKind(token string) payment.TokenKind {
	switch kind, _, _ := strings.Cut(token, "_"); kind {
	case "ctoken", "tok":
		return payment.TokenSingleUse
	case "cus", "card", "ba", "src":
		return payment.TokenStored
	}
	return payment.TokenEither
}

// CheckOwner implements payment.Provider
// (https://docs.stripe.com/api/payment_methods/retrieve). The customer is one of
// Stripe's, cus_…; a bare customer names no payment method.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	if strings.HasPrefix(token, "cus_") {
		return payment.ErrUnfit
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
