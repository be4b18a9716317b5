package square

import (
	"context"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements gateway.Provider. A card on file is a stored method.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if strings.HasPrefix(token, "ccof:") {
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// card is a card on file.
type card struct {
	CustomerID string `json:"customer_id"`
}

// CheckOwner implements gateway.Provider (https://developer.squareup.com/reference/square/cards-api/retrieve-card). The
// customer is the id of a Square customer.
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
