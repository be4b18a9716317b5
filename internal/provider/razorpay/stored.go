package razorpay

import (
	"context"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements payment.Provider. A payment link takes none of Razorpay's
// stored tokens: they are known so that they are refused as what they are.
func (c *Client) TokenKind(token string) payment.TokenKind {
	if strings.HasPrefix(token, "token_") || strings.HasPrefix(token, "cust_") {
		return payment.TokenStored
	}
	return payment.TokenSingleUse
}

// CheckOwner implements payment.Provider: no stored payment method is charged.
func (c *Client) CheckOwner(context.Context, string, string) error { return payment.ErrUnsupported }
