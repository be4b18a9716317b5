package gocardless

import (
	"context"
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

var (
	mandateForm = regexp.MustCompile(`^MD[A-Za-z0-9]+$`)
	// customerForm is that of the ids of GoCardless's customers, such as CU0000CSEVM5FQ: a digit sets them apart from ids of the
	// shop's that begin with the same letters.
	customerForm = regexp.MustCompile(`^CU[0-9][A-Z0-9]*$`)
)

// TokenKind implements gateway.Provider: a mandate is stored, all else leads to a page.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if mandateForm.MatchString(token) {
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// CheckOwner implements gateway.Provider
// (https://developer.gocardless.com/api-reference/#mandates-get-a-single-mandate): a mandate belongs to a customer of
// GoCardless (CU…), or to the reference in its metadata, which save_payment_method has put there.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	var found struct {
		Mandate struct {
			ID       string            `json:"id"`
			Metadata map[string]string `json:"metadata"`
			Links    struct {
				Customer string `json:"customer"`
			} `json:"links"`
		} `json:"mandates"`
	}
	if err := c.get(ctx, "mandates", token, nil, &found); err != nil {
		return err
	}
	m := found.Mandate
	switch {
	case m.ID != token:
		return errNameless
	case customer == "" || m.Links.Customer != customer && m.Metadata[customerName] != customer:
		return payment.ErrMethodNotYours
	}
	return nil
}
