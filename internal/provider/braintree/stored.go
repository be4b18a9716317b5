package braintree

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// TokenKind implements gateway.Provider. Nonces and vaulted methods have no form of their own, because a shop may choose
// the names of vaulted methods. A request has a member for each kind, and Braintree does not confuse them. A vaulted
// method is charged by its token and its customer.
func (c *Client) TokenKind(string) gateway.TokenKind { return gateway.TokenEither }

// CheckOwner implements gateway.Provider (braintree_python, braintree/payment_method_gateway.py, find). The name of the
// root element depends on the kind of the method.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	var found struct {
		XMLName  xml.Name
		Token    string `xml:"token"`
		Customer string `xml:"customer-id"`
	}
	err := c.get(ctx, "/payment_methods/any/"+url.PathEscape(token), nil, &found)
	switch {
	case err != nil:
		return err
	case found.Token != token, found.Customer != customer:
		return payment.ErrMethodNotYours
	}
	return nil
}

// idInUse is the error for an existing customer id (braintree_python, braintree/error_codes.py).
const idInUse = "91609"

// vaultCustomer creates the customer of a payment method that a charge is to store. It leaves an existing customer
// unchanged, so the request may be sent again.
func (c *Client) vaultCustomer(ctx context.Context, ch gateway.Charge) (*refusal, error) {
	a, err := c.send(ctx, kit.Request{Method: http.MethodPost, URL: "/customers", Permit: &ch.Permit}, struct {
		Customer customer `json:"customer"`
	}{customer{ID: ch.Customer.Reference, Email: ch.Customer.Email, Phone: ch.Customer.Phone}})
	if err != nil {
		return nil, err
	}
	var made struct {
		XMLName xml.Name `xml:"customer"`
		ID      string   `xml:"id"`
	}
	refused, err := read(a, &made)
	switch {
	case err != nil:
		return nil, err
	case refused != nil && !refused.has(idInUse):
		return refused, nil
	case refused == nil && made.ID != ch.Customer.Reference:
		return nil, errNameless
	}
	return nil, nil //nolint:nilnil // the customer is there
}

// instrument is the payment method of a transaction. Token is empty if the method is not in the vault.
type instrument struct {
	Token string `xml:"token"`
	Type  string `xml:"card-type"`
	Last4 string `xml:"last-4"`
	Month string `xml:"expiration-month"`
	Year  string `xml:"expiration-year"`
	Email string `xml:"payer-email"`
	// Fee is PayPal's fee for a settled transaction.
	Fee         string `xml:"transaction-fee-amount"`
	FeeCurrency string `xml:"transaction-fee-currency-iso-code"`
}

// saved returns the payment method that was stored with a transaction, or nil. Only the answer to the charge may be
// used: a lookup shows a method that was vaulted before in the same way.
func (t transaction) saved() *payment.SavedMethod {
	switch card, wallet := t.Card, t.PayPal; {
	case card.Token != "":
		return &payment.SavedMethod{
			Token: card.Token, Type: t.Instrument, Display: card.Type + " •••• " + card.Last4, Expires: fmt.Sprintf("%s-%02s", card.Year, card.Month),
		}
	case wallet.Token != "":
		return &payment.SavedMethod{Token: wallet.Token, Type: t.Instrument, Display: wallet.Email}
	}
	return nil
}
