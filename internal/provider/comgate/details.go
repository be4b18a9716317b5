package comgate

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// currencies, countries and languages are the values that create accepts (comgate-payment-types, create.ts, and
// comgate-node, create.ts, which also has HRK). Countries with a code outside ISO 3166 are omitted.
//
//nolint:gochecknoglobals // tables
var (
	currencies = []payment.Currency{"CZK", "EUR", "PLN", "HUF", "USD", "GBP", "RON", "HRK", "NOK", "SEK"}
	countries  = strings.Fields("AT BE CY CZ DE EE ES FI FR GB HR HU IE IT LT LU LV MT NL NO PL PT RO SK US")
	languages  = strings.Fields("cs sk en es it pl fr ro de hu hr no sv")
)

// countryOf returns the country that selects the page's methods. It is empty without an address; Comgate then uses CZ.
func countryOf(a *gateway.Address) string {
	switch {
	case a == nil || a.Country == "":
		return ""
	case slices.Contains(countries, a.Country):
		return a.Country
	}
	return "ALL"
}

// languageOf returns the language of Comgate's page. It is empty if the page does not have the language; Comgate then
// uses Czech.
func languageOf(tag string) string {
	first, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if slices.Contains(languages, first) {
		return first
	}
	return ""
}

// text returns a member of provider_data as a form value. The member is a string, a number or a boolean; text returns ""
// for another value.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var b bool
	if json.Unmarshal(raw, &b) == nil {
		return strconv.FormatBool(b)
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}
