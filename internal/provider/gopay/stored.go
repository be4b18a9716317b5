package gopay

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements gateway.Provider. The token of a saved card is the id of the payment that saved it, a number.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if token != "" && strings.Trim(token, "0123456789") == "" {
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// Unseen implements gateway.Provider. A payment with a new method is a page, and only the answer contains its address.
// GoPay mails the data of a bank transfer to the payer. It does not document when, so such a payment has no end.
func (c *Client) Unseen(d gateway.Details) (payable time.Duration, ends bool) {
	return 0, !d.Stored && d.Token != bankAccount
}

// CheckOwner implements gateway.Provider. GoPay has no customers. The payment that saved the card has our customer
// reference in its parameters.
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

// saved returns the card that a paid payment has saved for recurrences, or nil.
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

// lastDigits is the number of a card's digits that are shown.
const lastDigits = 4
