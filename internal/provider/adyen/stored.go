package adyen

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// TokenKind implements gateway.Provider. A stored method is the bare id of a stored payment method, or an object of
// Adyen's components that contains one.
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

// CheckOwner implements gateway.Provider (https://docs.adyen.com/api-explorer/Checkout/72/get/storedPaymentMethods). The
// customer is the shopperReference. CheckOwner refuses an object, because a stored payment method is named by its id.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	if strings.HasPrefix(token, "{") {
		return gateway.ErrUnsupportedRequest
	}
	a, err := kit.Do(ctx, c.http, kit.Request{
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
		return fmt.Errorf("adyen responded with %d", a.Status)
	case err != nil:
		return err
	}
	if !slices.Contains(list.Methods, stored{token}) {
		return payment.ErrMethodNotYours
	}
	return nil
}

// saved returns the payment method that was stored with a payment, or nil
// (https://docs.adyen.com/online-payments/tokenization/create-tokens). Its id is in the additional data. Old accounts
// have another name for it.
func (p paymentResponse) saved() *payment.SavedMethod {
	id := cmp.Or(p.additional("tokenization.storedPaymentMethodId"), p.additional("recurring.recurringDetailReference"))
	if id == "" {
		return nil
	}
	m := &payment.SavedMethod{Token: id, Type: p.PaymentMethod.Type, Display: cmp.Or(p.PaymentMethod.Brand, p.additional("paymentMethod"))}
	if last := p.additional("cardSummary"); last != "" {
		m.Display += " •••• " + last
	}
	if month, year, ok := strings.Cut(p.additional("expiryDate"), "/"); ok { // for example 3/2030
		m.Expires = fmt.Sprintf("%s-%02s", year, month)
	}
	return m
}

// additional returns a string in the additional data, or "".
func (p paymentResponse) additional(name string) string {
	var text string
	if json.Unmarshal(p.AdditionalData[name], &text) != nil {
		return ""
	}
	return text
}
