package comgate

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// transForm is the form of a payment's id. The code of a method has underscores and no such groups.
var transForm = regexp.MustCompile(`^[A-Z0-9]{4}(-[A-Z0-9]{4}){2}$`)

// TokenKind implements gateway.Provider. The id of a payment that was marked for recurrence is a stored method. Any
// other token leads to Comgate's page.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if transForm.MatchString(token) {
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// payerOf returns the payerId of a payment that was marked for recurrence for a customer. The prefix distinguishes it
// from the payerIds in a shop's own calls, because Comgate does not show whether those payments were marked.
func payerOf(reference string) string { return payerPrefix + reference }

const payerPrefix = "recurring:"

// Unseen implements gateway.Provider. Comgate mails each payer the address of the page, so the payment can be made until it
// expires. A recurring payment is charged without the payer.
func (c *Client) Unseen(d gateway.Details) (payable time.Duration, ends bool) {
	life := c.expiry(d)
	return life, life > 0 && !d.Stored
}

// CheckOwner implements gateway.Provider. A payment's status has the payerId of its request ("payer identifier in the
// e-shop system": comgate-node, status.ts). The request's member is setPayerId of Comgate's PHP client; its use in
// protocol 1.0 is from memory. A stored payment without a payerId can't be charged.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	found, err := c.status(ctx, token, nil)
	if err == nil && found.get("payerId") != payerOf(customer) {
		err = payment.ErrMethodNotYours
	}
	return err
}

// saved returns the payment itself, because a later charge of its card names it. It returns nil if the payment was not
// marked for recurrence.
func saved(id string, p answer) *payment.SavedMethod {
	if !strings.HasPrefix(p.get("payerId"), payerPrefix) {
		return nil
	}
	m := &payment.SavedMethod{Token: id, Type: p.get("method")}
	// Answers of newer versions have the masked number (PaymentStatusResponse of Comgate's PHP client).
	if number := p.get("cardNumber"); len(number) >= lastDigits {
		m.Display = "•••• " + number[len(number)-lastDigits:]
	}
	return m
}

// lastDigits is the number of a card's digits that are shown.
const lastDigits = 4
