package square

import (
	"context"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements payment.Provider: a card on file.
func (c *Client) TokenKind(token string) payment.TokenKind {
	if strings.HasPrefix(token, "ccof:") {
		return payment.TokenStored
	}
	return payment.TokenSingleUse
}

// card is one on file.
type card struct {
	CustomerID string `json:"customer_id"`
}

// CheckOwner implements payment.Provider
// (https://developer.squareup.com/reference/square/cards-api/retrieve-card). The
// customer is one of Square's.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	found, err := c.get(ctx, "/v2/cards/"+url.PathEscape(token), nil)
	switch {
	case err != nil:
		return err
	case found.Card == nil:
		return errNameless
	case found.Card.CustomerID != customer:
		return payment.ErrMethodNotYours
	}
	return nil
}
