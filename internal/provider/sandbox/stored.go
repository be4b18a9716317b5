package sandbox

import (
	"context"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements payment.Provider: what tok_save left is a card_… .
func (c *Client) TokenKind(token string) payment.TokenKind {
	if strings.HasPrefix(token, "card_") {
		return payment.TokenStored
	}
	return payment.TokenSingleUse
}

// CheckOwner implements payment.Provider.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	var found struct {
		Customer string `json:"customer"`
	}
	err := c.get(ctx, "/v1/payment-methods/"+url.PathEscape(token), nil, &found)
	if err == nil && found.Customer != customer {
		err = payment.ErrMethodNotYours
	}
	return err
}
