package adyen

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// TokenKind implements payment.Provider: the bare id of a stored payment method, or an
// object of Adyen's components that names one.
func (c *Client) TokenKind(token string) payment.TokenKind {
	if !strings.HasPrefix(token, "{") {
		return payment.TokenStored
	}
	var method map[string]json.RawMessage
	if json.Unmarshal([]byte(token), &method) != nil {
		return payment.TokenSingleUse // it is not sent
	}
	for name := range method {
		switch strings.ToLower(name) {
		case "storedpaymentmethodid", "recurringdetailreference":
			return payment.TokenStored
		}
	}
	return payment.TokenSingleUse
}

// stored is a payment method of a shopper's.
type stored struct {
	ID string `json:"id"`
}

// CheckOwner implements payment.Provider
// (https://docs.adyen.com/api-explorer/Checkout/72/get/storedPaymentMethods). The
// customer is the shopperReference. An object is not taken: who knows that a payment
// method is stored has its id.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	if strings.HasPrefix(token, "{") {
		return payment.ErrUnfit
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
