package stripe

import (
	"context"
	"net/url"
	"strings"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements gateway.Provider. A payment method may be new or stored: Stripe
// accepts one that is attached to a customer only together with that customer
// (https://docs.stripe.com/api/payment_intents/create#create_payment_intent-customer).
func (c *Client) TokenKind(token string) gateway.TokenKind {
	switch kind, _, _ := strings.Cut(token, "_"); kind {
	case "ctoken", "tok":
		return gateway.TokenSingleUse
	case "cus", "card", "ba", "src":
		return gateway.TokenStored
	}
	return gateway.TokenEither
}

// CheckOwner implements gateway.Provider
// (https://docs.stripe.com/api/payment_methods/retrieve). The customer is one of
// Stripe's, cus_…; a bare customer names no payment method.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	if strings.HasPrefix(token, "cus_") {
		return gateway.ErrUnfit
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
