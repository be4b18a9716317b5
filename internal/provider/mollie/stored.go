package mollie

import (
	"context"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements payment.Provider: a customer, with a mandate of theirs or by
// itself, or a mandate.
func (c *Client) TokenKind(token string) payment.TokenKind {
	switch kind, _, _ := strings.Cut(token, "_"); kind {
	case "cst", "mdt":
		return payment.TokenStored
	}
	return payment.TokenSingleUse
}

// mandateOf reads cst_…, cst_…:mdt_… or mdt_… . The customer of the last is empty.
func mandateOf(token string) (customer, mandate string) {
	if strings.HasPrefix(token, "mdt_") {
		return "", token
	}
	customer, mandate, _ = strings.Cut(token, ":")
	return customer, mandate
}

// CheckOwner implements payment.Provider
// (https://docs.mollie.com/reference/get-mandate). The customer is one of Mollie's,
// cst_… .
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	of, mandate := mandateOf(token)
	switch {
	case of != "" && of != customer:
		return payment.ErrMethodNotYours
	case mandate == "":
		return nil
	}
	var found struct {
		ID string `json:"id"`
	}
	err := c.get(ctx, "/customers/"+url.PathEscape(customer)+"/mandates/"+url.PathEscape(mandate), nil, &found)
	if err == nil && found.ID != mandate {
		err = payment.ErrMethodNotYours
	}
	return err
}
