package razorpay

import (
	"context"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
)

// TokenKind implements gateway.Provider. A payment link takes none of Razorpay's stored
// tokens: they are recognized so that they are refused as such.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if strings.HasPrefix(token, "token_") || strings.HasPrefix(token, "cust_") {
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// CheckOwner implements gateway.Provider: no stored payment method is charged.
func (c *Client) CheckOwner(context.Context, string, string) error { return gateway.ErrUnsupported }
