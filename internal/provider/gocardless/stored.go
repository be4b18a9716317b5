package gocardless

import (
	"context"
	"regexp"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

var (
	mandateForm = regexp.MustCompile(`^MD[A-Za-z0-9]+$`)
	// customerForm is the form of the ids of GoCardless's customers, such as CU0000CSEVM5FQ. The digit distinguishes
	// them from the shop's ids that begin with the same letters.
	customerForm = regexp.MustCompile(`^CU[0-9][A-Z0-9]*$`)
)

// TokenKind implements gateway.Provider. A mandate is stored. Any other token leads to a page.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if mandateForm.MatchString(token) {
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// Unseen implements gateway.Provider. A billing request can only be paid on a page, and only the answer contains its
// address. A mandate is charged without the customer.
func (c *Client) Unseen(d gateway.Details) (payable time.Duration, ends bool) {
	return 0, isPage(d.Token)
}

// CheckOwner implements gateway.Provider
// (https://developer.gocardless.com/api-reference/#mandates-get-a-single-mandate). A mandate belongs to a GoCardless
// customer (CU…), or to the reference that save_payment_method stored in its metadata.
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
