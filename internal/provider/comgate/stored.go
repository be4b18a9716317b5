package comgate

import (
	"context"
	"regexp"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// transForm is that of the ids of payments. Codes of methods have underscores and no such groups.
var transForm = regexp.MustCompile(`^[A-Z0-9]{4}(-[A-Z0-9]{4}){2}$`)

// TokenKind implements gateway.Provider: the id of a payment that was marked for recurrence is stored, all else leads to
// Comgate's page.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if transForm.MatchString(token) {
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// payerOf is the payerId of a payment that was marked for recurrence for a customer. The prefix sets it apart from the
// payerIds of a shop's own calls, of which nothing shows whether they were so marked.
func payerOf(reference string) string { return payerPrefix + reference }

const payerPrefix = "recurring:"

// CheckOwner implements gateway.Provider. The status of a payment has the payerId ("payer identifier in the e-shop system":
// comgate-node, status.ts) that was sent with it (setPayerId of Comgate's PHP client; that protocol 1.0 takes it is from
// memory). Without it no stored payment can be charged.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	found, err := c.status(ctx, token, nil)
	if err == nil && found.get("payerId") != payerOf(customer) {
		err = payment.ErrMethodNotYours
	}
	return err
}

// saved is the payment itself, by which its card can be charged again; nil if it was not marked so.
func saved(id string, p answer) *payment.SavedMethod {
	if !strings.HasPrefix(p.get("payerId"), payerPrefix) {
		return nil
	}
	m := &payment.SavedMethod{Token: id, Type: p.get("method")}
	// The masked number is in answers of newer versions (PaymentStatusResponse of Comgate's PHP client).
	if number := p.get("cardNumber"); len(number) >= lastDigits {
		m.Display = "•••• " + number[len(number)-lastDigits:]
	}
	return m
}

// lastDigits is how much of a card's number is shown.
const lastDigits = 4
