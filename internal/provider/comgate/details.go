package comgate

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// currencies, countries and languages are those of create (comgate-payment-types, create.ts, and comgate-node, create.ts,
// which has HRK as well). Countries are left out of which the code is not that of ISO 3166.
//
//nolint:gochecknoglobals // tables
var (
	currencies = []payment.Currency{"CZK", "EUR", "PLN", "HUF", "USD", "GBP", "RON", "HRK", "NOK", "SEK"}
	countries  = strings.Fields("AT BE CY CZ DE EE ES FI FR GB HR HU IE IT LT LU LV MT NL NO PL PT RO SK US")
	languages  = strings.Fields("cs sk en es it pl fr ro de hu hr no sv")
)

// countryOf is the country of the methods that the page has; empty without an address, for which Comgate takes CZ.
func countryOf(a *gateway.Address) string {
	switch {
	case a == nil || a.Country == "":
		return ""
	case slices.Contains(countries, a.Country):
		return a.Country
	}
	return "ALL"
}

// languageOf is the language of Comgate's page; empty for one that it does not have, which then is Czech.
func languageOf(tag string) string {
	first, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if slices.Contains(languages, first) {
		return first
	}
	return ""
}

// text is a member of provider_data as a form has it: a text, a number or a truth value; empty for anything else.
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
