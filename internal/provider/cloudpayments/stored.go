package cloudpayments

import (
	"context"

	"github.com/paylatch/paylatch/internal/gateway"
)

// TokenKind implements gateway.Provider: every token but page is a stored card.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if token == page {
		return gateway.TokenSingleUse
	}
	return gateway.TokenStored
}

// CheckOwner implements gateway.Provider. CloudPayments has no lookup of a token; a
// charge names its AccountId, and another customer's token is refused
// (https://developers.cloudpayments.ru/#oplata-po-tokenu-rekarring).
func (c *Client) CheckOwner(context.Context, string, string) error { return nil }
