package checkout

import (
	"context"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements payment.Provider: an instrument, or a customer with their
// default one.
func (c *Client) TokenKind(token string) payment.TokenKind {
	switch kind, _, _ := strings.Cut(token, "_"); kind {
	case "src", "cus":
		return payment.TokenStored
	}
	return payment.TokenSingleUse
}

// CheckOwner implements payment.Provider
// (https://api-reference.checkout.com/#operation/getInstrumentDetails). The customer is
// one of Checkout.com's, cus_…; a bare customer names no instrument.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	if !strings.HasPrefix(token, "src_") {
		return payment.ErrUnfit
	}
	var found struct {
		ID       string `json:"id"`
		Customer struct {
			ID string `json:"id"`
		} `json:"customer"`
	}
	err := c.get(ctx, "/instruments/"+url.PathEscape(token), &found)
	switch {
	case err != nil:
		return err
	case found.ID != token, found.Customer.ID != customer:
		return payment.ErrMethodNotYours
	}
	return nil
}
