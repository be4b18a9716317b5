package checkout

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements gateway.Provider. An instrument is stored, and so is a customer with a default instrument.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	switch kind, _, _ := strings.Cut(token, "_"); kind {
	case "src", "cus":
		return gateway.TokenStored
	}
	return gateway.TokenSingleUse
}

// Unseen implements gateway.Provider. Only the response to the charge contains the address of a local method's page, or
// the secret of a payment session.
func (c *Client) Unseen(d gateway.Details) (payable time.Duration, ends bool) {
	return 0, d.Token == flow || isLocal(d.Token)
}

// CheckOwner implements gateway.Provider (https://api-reference.checkout.com/#operation/getInstrumentDetails). The
// customer is the id of a Checkout.com customer (cus_…). The token must not be a customer's id, because that names no
// instrument.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	if !strings.HasPrefix(token, "src_") {
		return gateway.ErrUnsupportedRequest
	}
	var found struct {
		ID       string `json:"id"`
		Customer struct {
			ID string `json:"id"`
		} `json:"customer"`
	}
	err := c.api.Get(ctx, "/instruments/"+url.PathEscape(token), nil, &found)
	switch {
	case err != nil:
		return err
	case found.ID != token, found.Customer.ID != customer:
		return payment.ErrMethodNotYours
	}
	return nil
}

// saved returns the instrument that was stored with the payment, or nil.
func (p paid) saved() *payment.SavedMethod {
	var marks map[string]any
	if json.Unmarshal(p.Metadata, &marks) != nil || marks[saves] != "true" || p.Source.ID == "" {
		return nil
	}
	i := p.Source
	return &payment.SavedMethod{
		Token: i.ID, Type: i.Type, Display: i.Scheme + " •••• " + i.Last4, Expires: fmt.Sprintf("%v-%02s", i.Year, fmt.Sprint(i.Month)),
	}
}
