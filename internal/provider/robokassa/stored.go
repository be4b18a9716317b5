package robokassa

import (
	"context"
	"regexp"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
)

// operation is the form of an OpKey. It names a paid operation, and a later charge of the same card uses it
// (https://docs.robokassa.ru/ru/xml-interfaces, "OpKey").
var operation = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-[0-9a-z]+$`)

// TokenKind implements gateway.Provider. The adapter charges no saved cards. TokenKind recognizes them, so that the
// charge is refused with a clear error.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if operation.MatchString(token) {
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// Unseen implements gateway.Provider. A charge is only an address.
func (c *Client) Unseen(d gateway.Details) (payable time.Duration, ends bool) {
	return 0, !d.Stored
}

// CheckOwner implements gateway.Provider. The adapter charges no stored payment methods.
func (c *Client) CheckOwner(context.Context, string, string) error { return gateway.ErrUnsupported }
