package cloudpayments

import (
	"context"

	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements payment.Provider: every token is a stored card's, but the one
// that leads to a page.
func (c *Client) TokenKind(token string) payment.TokenKind {
	if token == page {
		return payment.TokenSingleUse
	}
	return payment.TokenStored
}

// CheckOwner implements payment.Provider. CloudPayments can't be asked for one token;
// a charge names its AccountId, and a token of another's is refused
// (https://developers.cloudpayments.ru/#oplata-po-tokenu-rekarring).
func (c *Client) CheckOwner(context.Context, string, string) error { return nil }
