package paypal

import (
	"context"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

const vaultPath = "/v3/vault/payment-tokens"

// TokenKind implements gateway.Provider. The token of a method in PayPal's vault contains an id.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if strings.Contains(token, ":") {
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// Unseen implements gateway.Provider. The customer approves an order on a page, or in the shop's page, and only the answer
// contains its address or its id. A method of the vault is charged at once.
func (c *Client) Unseen(d gateway.Details) (payable time.Duration, ends bool) {
	return 0, !strings.Contains(d.Token, ":")
}

// CheckOwner implements gateway.Provider (https://developer.paypal.com/docs/api/payment-tokens/v3/#payment-tokens_get).
// The customer is the vault's customer id, or the merchant's customer id.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	kind, id, _ := strings.Cut(token, ":")
	if id == "" || kind != "paypal" && kind != "card" {
		return gateway.ErrUnsupportedRequest
	}
	var found struct {
		ID       string `json:"id"`
		Customer struct {
			ID         string `json:"id"`
			MerchantID string `json:"merchant_customer_id"`
		} `json:"customer"`
	}
	err := c.get(ctx, vaultPath, id, nil, &found)
	switch {
	case err != nil:
		return err
	case found.ID != id, found.Customer.ID != customer && found.Customer.MerchantID != customer:
		return payment.ErrMethodNotYours
	}
	return nil
}
