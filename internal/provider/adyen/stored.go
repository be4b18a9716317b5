package adyen

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// TokenKind implements gateway.Provider: the bare id of a stored payment method, or an
// object of Adyen's components with one.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if !strings.HasPrefix(token, "{") {
		return gateway.TokenStored
	}
	var method map[string]json.RawMessage
	if json.Unmarshal([]byte(token), &method) != nil {
		return gateway.TokenSingleUse // never sent
	}
	for name := range method {
		switch strings.ToLower(name) {
		case "storedpaymentmethodid", "recurringdetailreference":
			return gateway.TokenStored
		}
	}
	return gateway.TokenSingleUse
}

// stored is a stored payment method of a shopper.
type stored struct {
	ID string `json:"id"`
}

// CheckOwner implements gateway.Provider
// (https://docs.adyen.com/api-explorer/Checkout/72/get/storedPaymentMethods). The
// customer is the shopperReference. An object is not accepted: a stored payment method
// has an id.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	if strings.HasPrefix(token, "{") {
		return gateway.ErrUnfit
	}
	a, err := call.Do(ctx, c.http, call.Request{
		Method: http.MethodGet, Header: http.Header{"X-Api-Key": {c.key}},
		URL: c.base + "/storedPaymentMethods?" + url.Values{"merchantAccount": {c.merchant}, "shopperReference": {customer}}.Encode(),
	})
	if err != nil {
		return err
	}
	var list struct {
		Methods []stored `json:"storedPaymentMethods"`
	}
	switch err := a.Read(&list); {
	case a.Status == http.StatusUnprocessableEntity: // no such shopper
		return payment.ErrMethodNotYours
	case a.Status != http.StatusOK:
		return fmt.Errorf("adyen answers %d", a.Status)
	case err != nil:
		return err
	}
	if !slices.Contains(list.Methods, stored{token}) {
		return payment.ErrMethodNotYours
	}
	return nil
}
