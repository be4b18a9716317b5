package razorpay

import (
	"context"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
)

// TokenKind implements gateway.Provider. A payment link does not accept Razorpay's stored tokens. TokenKind recognizes
// them, so that the charge is refused with a clear error.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if strings.HasPrefix(token, "token_") || strings.HasPrefix(token, "cust_") {
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// Unseen implements gateway.Provider. Only the answer contains the link's address or the order's id. Razorpay sends neither
// to the customer.
func (c *Client) Unseen(d gateway.Details) (payable time.Duration, ends bool) {
	return 0, !d.Stored
}

// CheckOwner implements gateway.Provider. The adapter charges no stored payment methods.
func (c *Client) CheckOwner(context.Context, string, string) error { return gateway.ErrUnsupported }
