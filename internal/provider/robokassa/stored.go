package robokassa

import (
	"context"
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
)

// operation is the form of OpKey, by which a paid operation is named and its card charged again
// (https://docs.robokassa.ru/ru/xml-interfaces, "OpKey").
var operation = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-[0-9a-z]+$`)

// TokenKind implements gateway.Provider. No saved card is charged: what names one is recognized so that it is
// refused as such.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if operation.MatchString(token) {
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// CheckOwner implements gateway.Provider: no stored payment method is charged.
func (c *Client) CheckOwner(context.Context, string, string) error { return gateway.ErrUnsupported }
