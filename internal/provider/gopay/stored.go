package gopay

import (
	"context"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements gateway.Provider: a saved card is the id of the payment that saved it, a number.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if token != "" && strings.Trim(token, "0123456789") == "" {
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// CheckOwner implements gateway.Provider. GoPay has no customers: the payment that saved the card bears ours
// among its parameters.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	if c.TokenKind(token) != gateway.TokenStored {
		return payment.ErrMethodNotYours
	}
	first, err := c.find(ctx, token)
	switch {
	case err != nil:
		return err
	case !slices.Equal(first.params(customerParam), []string{customer}):
		return payment.ErrMethodNotYours
	}
	return nil
}

// saved is the card that a paid payment has saved for recurrences; nil for none.
func (p object) saved() *payment.SavedMethod {
	if p.Recurrence == nil || p.Recurrence.State == "STOPPED" || len(p.params(customerParam)) == 0 {
		return nil
	}
	m := &payment.SavedMethod{Token: p.ID.String(), Type: p.Instrument}
	used := p.Payer.Card
	if n := len(used.Number); n >= lastDigits {
		m.Display = strings.TrimSpace(used.Brand + " •••• " + used.Number[n-lastDigits:])
	}
	if len(used.Expiration) == len("3001") { // YYMM
		m.Expires = "20" + used.Expiration[:2] + "-" + used.Expiration[2:]
	}
	return m
}

// lastDigits is how much of a card's number is shown.
const lastDigits = 4
