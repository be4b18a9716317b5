package standard

import (
	"context"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements gateway.Provider. By the contract, the token of a stored payment method begins with card_.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if strings.HasPrefix(token, "card_") {
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// CheckOwner implements gateway.Provider.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	var found struct {
		Customer string `json:"customer"`
	}
	err := c.api.Get(ctx, "/v1/payment-methods/"+url.PathEscape(token), nil, &found)
	if err == nil && found.Customer != customer {
		err = payment.ErrMethodNotYours
	}
	return err
}
