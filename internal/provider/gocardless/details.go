package gocardless

import (
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
)

// person prefills the customer's data on the page. The customer may change it
// (BillingRequestFlowCreateParamsPrefilledCustomer of GoCardless's Go client).
type person struct {
	GivenName  string `json:"given_name,omitempty"`
	FamilyName string `json:"family_name,omitempty"`
	Email      string `json:"email,omitempty"`
	Line1      string `json:"address_line1,omitempty"`
	Line2      string `json:"address_line2,omitempty"`
	City       string `json:"city,omitempty"`
	PostalCode string `json:"postal_code,omitempty"`
	Region     string `json:"region,omitempty"`
	Country    string `json:"country_code,omitempty"`
}

// prefilled splits the customer's name at its last space, and omits a name without a space. It returns nil if there is
// no data.
func prefilled(c gateway.Customer) *person {
	p := person{Email: c.Email}
	name := strings.TrimSpace(c.Name)
	if i := strings.LastIndex(name, " "); i >= 0 {
		p.GivenName, p.FamilyName = strings.TrimSpace(name[:i]), name[i+1:]
	}
	if a := c.Billing; a != nil {
		p.Line1, p.Line2, p.City, p.PostalCode, p.Region, p.Country = a.Line1, a.Line2, a.City, a.PostalCode, a.State, a.Country
	}
	if p == (person{}) {
		return nil
	}
	return &p
}

// languageOf returns a language that GoCardless supports (BillingRequestResourcesCustomer.Language in its .NET client),
// or "".
func languageOf(tag string) string {
	first, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if slices.Contains([]string{"en", "fr", "de", "pt", "es", "it", "nl", "da", "nb", "sl", "sv"}, first) {
		return first
	}
	return ""
}
