package paypal

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// shipping is the recipient and the address of the delivery.
type shipping struct {
	Name    *fullName `json:"name,omitempty"`
	Address *postal   `json:"address,omitempty"`
}

type fullName struct {
	FullName string `json:"full_name"`
}

type name struct {
	GivenName string `json:"given_name,omitempty"`
	Surname   string `json:"surname,omitempty"`
}

// postal is an address. The admin areas are the state and the city.
type postal struct {
	Line1   string `json:"address_line_1,omitempty"`
	Line2   string `json:"address_line_2,omitempty"`
	State   string `json:"admin_area_1,omitempty"`
	City    string `json:"admin_area_2,omitempty"`
	Postal  string `json:"postal_code,omitempty"`
	Country string `json:"country_code"`
}

// attributes request 3-D Secure, or that PayPal's vault stores the method for a customer, under the merchant's id of the customer
// (https://developer.paypal.com/docs/checkout/save-payment-methods/).
type attributes struct {
	Customer *vaultCustomer `json:"customer,omitempty"`
	Vault    *vault         `json:"vault,omitempty"`
	// Verification is when a card needs 3-D Secure (https://developer.paypal.com/api/orders/v2/definitions/card_verification).
	Verification json.RawMessage `json:"verification,omitempty"`
}

type vaultCustomer struct {
	MerchantID string `json:"merchant_customer_id"`
}

type vault struct {
	Store string `json:"store_in_vault"`
	Usage string `json:"usage_type"`
}

// customerID is the form of a merchant's customer id in the vault.
var customerID = regexp.MustCompile(`^[0-9a-zA-Z_.^*$@#-]{1,64}$`)

// locale is the form of PayPal's language tags.
var locale = regexp.MustCompile(`^[a-z]{2}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?$`)

// wallet adds the customer's data for a wallet that is not in the vault.
func (s *sourceRequest) wallet(d gateway.Details) {
	s.Email, s.Address = d.Customer.Email, addressOf(d.Customer.Billing)
	if given, last, _ := cutLast(d.Customer.Name); last != "" {
		s.Name = &name{GivenName: given, Surname: last}
	}
	if d.Save {
		s.Attributes = &attributes{Customer: &vaultCustomer{d.Customer.Reference}, Vault: &vault{Store: "ON_SUCCESS", Usage: "MERCHANT"}}
	}
}

// show sets how PayPal's page looks.
func (e *experienceContext) show(d gateway.Details) {
	e.UserAction, e.pageData = "PAY_NOW", pageDataOf(d)
	if locale.MatchString(d.Customer.Locale) {
		e.Locale = d.Customer.Locale
	}
}

// credential tells the card's bank whether the customer is present.
func credential(d gateway.Details) *storedCredential {
	if d.Unattended {
		return &storedCredential{PaymentInitiator: "MERCHANT", PaymentType: "UNSCHEDULED", Usage: "SUBSEQUENT"}
	}
	return &storedCredential{PaymentInitiator: "CUSTOMER", PaymentType: "ONE_TIME", Usage: "SUBSEQUENT"}
}

func shippingOf(c gateway.Customer) *shipping {
	to := addressOf(c.Shipping)
	if to == nil {
		return nil
	}
	s := &shipping{Address: to}
	if c.Name != "" {
		s.Name = &fullName{c.Name}
	}
	return s
}

func addressOf(a *gateway.Address) *postal {
	if a == nil || a.Country == "" {
		return nil
	}
	return &postal{Line1: a.Line1, Line2: a.Line2, State: a.State, City: a.City, Postal: a.PostalCode, Country: a.Country}
}

// cutLast splits a name at its last space.
func cutLast(full string) (given, last string, found bool) {
	full = strings.TrimSpace(full)
	i := strings.LastIndex(full, " ")
	if i < 0 {
		return "", full, false
	}
	return strings.TrimSpace(full[:i]), full[i+1:], true
}

// sources are the methods that paid an order, by kind.
type sources map[string]struct {
	Email string `json:"email_address"`
	Brand string `json:"brand"`
	// Authentication is of a card. The card of a wallet has its own.
	Authentication *authentication `json:"authentication_result"`
	Card           struct {
		Authentication *authentication `json:"authentication_result"`
	} `json:"card"`
	LastDigits string `json:"last_digits"`
	Expiry     string `json:"expiry"`
	Attributes struct {
		Vault struct {
			ID     string `json:"id"`
			Status string `json:"status"`
		} `json:"vault"`
	} `json:"attributes"`
}

// saved returns the vaulted method, or nil. A method that is only approved may be vaulted later.
func (s sources) saved() *payment.SavedMethod {
	for _, kind := range []string{"paypal", "card"} {
		if v := s[kind].Attributes.Vault; v.ID != "" && (v.Status == "VAULTED" || v.Status == "CREATED" || v.Status == "") {
			m := &payment.SavedMethod{Token: kind + ":" + v.ID, Type: kind, Display: s[kind].Email, Expires: s[kind].Expiry}
			if kind == "card" {
				m.Display = s[kind].Brand + " •••• " + s[kind].LastDigits
			}
			return m
		}
	}
	return nil
}
