package mollie

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements gateway.Provider. A mandate is stored, and so is a customer with or without a mandate.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	switch kind, _, _ := strings.Cut(token, "_"); kind {
	case "cst", "mdt":
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// mandateOf parses cst_…, cst_…:mdt_… or mdt_… . The last form has no customer.
func mandateOf(token string) (customer, mandate string) {
	if strings.HasPrefix(token, "mdt_") {
		return "", token
	}
	customer, mandate, _ = strings.Cut(token, ":")
	return customer, mandate
}

// Unseen implements gateway.Provider. Only the answer contains the address of the page. A card, a
// wallet and a bank debit are charged without it, and Mollie mails the instructions for a bank transfer.
func (c *Client) Unseen(d gateway.Details) (payable time.Duration, ends bool) {
	kind, _, _ := strings.Cut(d.Token, "_")
	wallet := d.ProviderData["applePayPaymentToken"] != nil || d.ProviderData["googlePayPaymentToken"] != nil
	return 0, !d.Stored && !wallet && kind != "tkn" && d.Token != "banktransfer" && d.Token != "directdebit"
}

// CheckOwner implements gateway.Provider (https://docs.mollie.com/reference/get-mandate). The customer is the id of a
// Mollie customer (cst_…).
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
	err := c.api.Get(ctx, "/customers/"+url.PathEscape(customer)+"/mandates/"+url.PathEscape(mandate), nil, &found)
	if err == nil && found.ID != mandate {
		err = payment.ErrMethodNotYours
	}
	return err
}

// saved returns the mandate that a customer's first payment has created, or nil.
func (p object) saved() *payment.SavedMethod {
	if p.SequenceType != "first" || p.CustomerID == "" || p.MandateID == "" {
		return nil
	}
	m := &payment.SavedMethod{Token: p.CustomerID + ":" + p.MandateID, Type: p.Method}
	switch d := p.Details; {
	case d.CardNumber != "":
		m.Display = strings.TrimSpace(d.CardLabel + " •••• " + d.CardNumber)
		m.Expires = d.CardExpiry[:min(len(d.CardExpiry), len("2030-01"))]
	case len(d.Account) >= lastDigits:
		m.Display = "•••• " + d.Account[len(d.Account)-lastDigits:]
	}
	return m
}

// lastDigits is the number of an account number's digits that are shown.
const lastDigits = 4
