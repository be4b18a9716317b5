package braintree

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// customer is a customer outside the vault, or a customer that is to be vaulted.
type customer struct {
	ID    string `json:"id,omitempty"`
	Email string `json:"email,omitempty"`
	Phone string `json:"phone,omitempty"`
}

func customerOf(c gateway.Customer) *customer {
	if c.Email == "" && c.Phone == "" {
		return nil
	}
	return &customer{Email: c.Email, Phone: c.Phone}
}

type postal struct {
	Street   string `json:"street_address,omitempty"`
	Extended string `json:"extended_address,omitempty"`
	Locality string `json:"locality,omitempty"`
	Region   string `json:"region,omitempty"`
	Postal   string `json:"postal_code,omitempty"`
	Country  string `json:"country_code_alpha2,omitempty"`
}

func postalOf(a *gateway.Address) *postal {
	if a == nil {
		return nil
	}
	return &postal{Street: a.Line1, Extended: a.Line2, Locality: a.City, Region: a.State, Postal: a.PostalCode, Country: a.Country}
}

// risk describes the browser. Braintree accepts at most 255 characters of the browser's name
// (https://developer.paypal.com/braintree/graphql/reference/types/risk-data-input.md).
type risk struct {
	Browser string `json:"customer_browser,omitempty"`
	IP      string `json:"customer_ip,omitempty"`
}

const maxBrowser = 255

func riskOf(d gateway.Details) *risk {
	r := risk{IP: d.Customer.IP}
	if d.Browser != nil {
		r.Browser = kit.Short(d.Browser.UserAgent, maxBrowser)
	}
	if r == (risk{}) {
		return nil
	}
	return &r
}

type statement struct {
	Name string `json:"name"`
}

// providerData returns the members of a sale that provider_data may contain. In options only some members are allowed
// (see optional), because the others decide whether money is taken.
func providerData() []string {
	return []string{
		"channel", "custom_fields", "device_data", "discount_amount", "external_vault", "industry", "installments", "line_items", optionsName,
		"processing_merchant_category_code", "product_sku", "purchase_order_number", "sca_exemption", "shipping_amount", "ships_from_postal_code",
		"tax_amount", "tax_exempt", "three_d_secure_authentication_id", "three_d_secure_pass_thru", "transaction_source",
	}
}

const optionsName = "options"

// optional returns the members of options that provider_data may contain.
func optional() []string {
	return []string{"credit_card", "paypal", "skip_advanced_fraud_checking", "skip_avs", "skip_cvv", "three_d_secure", "us_bank_account", "venmo"}
}

// extend adds provider_data to a request, and keeps the request's own options.
func extend(s saleRequest, d gateway.Details) (map[string]json.RawMessage, error) {
	members, err := kit.Extend(s, d.ProviderData, providerData())
	if err != nil {
		return nil, err
	}
	given, err := optionsOf(d)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, err)
	}
	ours, err := kit.Extend(s.Options, given, optional())
	if err != nil {
		return nil, err
	}
	members[optionsName], err = json.Marshal(ours)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, err)
	}
	return members, nil
}

// optionsOf returns the options in provider_data, or nil.
func optionsOf(d gateway.Details) (given map[string]json.RawMessage, err error) {
	if raw, ok := d.ProviderData[optionsName]; ok {
		err = json.Unmarshal(raw, &given)
	}
	return given, err //nolint:wrapcheck // the callers name the member
}

// unknownOption returns the first option that is not allowed, or "".
func unknownOption(given map[string]json.RawMessage) string {
	var names []string
	for name := range given {
		if !slices.Contains(optional(), name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return ""
	}
	return names[0]
}
