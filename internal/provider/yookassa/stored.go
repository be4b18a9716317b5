package yookassa

import (
	"context"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements gateway.Provider. The ids of saved methods look like UUIDs.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if isID(token) {
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

func isID(token string) bool { return uuid.Validate(token) == nil && len(token) == idLength }

// Unseen implements gateway.Provider. The customer needs the confirmation that only the answer contains. YooKassa itself
// addresses a customer who confirms by telephone or pays in cash. A saved method and a single-use token may be charged at
// once.
func (c *Client) Unseen(d gateway.Details) (payable time.Duration, ends bool) {
	return 0, (ways[d.Token] || codes[d.Token]) && confirms(d) != typeExternal && code(d) != cash
}

// CheckOwner implements gateway.Provider. A saved method has the id of the payment that saved it
// (https://yookassa.ru/developers/payment-acceptance/scenario-extensions/recurring-payments/save-payment-method/save-during-payment).
// That payment's merchant_customer_id is the owner. A method without it has no owner.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	var by struct {
		Customer string `json:"merchant_customer_id"`
		Method   struct {
			ID    string `json:"id"`
			Saved bool   `json:"saved"`
		} `json:"payment_method"`
	}
	err := c.api.Get(ctx, "/payments/"+url.PathEscape(token), nil, &by)
	switch {
	case err != nil:
		return err
	case by.Method.ID != token, !by.Method.Saved, by.Customer != customer:
		return payment.ErrMethodNotYours
	}
	return nil
}

// method is the payment method of a payment
// (https://yookassa.ru/developers/payment-acceptance/scenario-extensions/recurring-payments/save-payment-method/save-during-payment).
type method struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Saved bool   `json:"saved"`
	Title string `json:"title"`
	Card  struct {
		Last4 string `json:"last4"`
		Month string `json:"expiry_month"`
		Year  string `json:"expiry_year"`
	} `json:"card"`
}

// saved returns the method if YooKassa has saved it, otherwise nil.
func (m method) saved() *payment.SavedMethod {
	if !m.Saved || m.ID == "" {
		return nil
	}
	s := &payment.SavedMethod{Token: m.ID, Type: m.Type, Display: m.Title}
	if m.Card.Last4 != "" {
		s.Display = "**** " + m.Card.Last4
	}
	if m.Card.Year != "" && m.Card.Month != "" {
		s.Expires = m.Card.Year + "-" + m.Card.Month
	}
	return s
}
