package mollie

import (
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
)

// person is an address and the person's name.
type person struct {
	GivenName  string `json:"givenName,omitempty"`
	FamilyName string `json:"familyName,omitempty"`
	Street     string `json:"streetAndNumber,omitempty"`
	Additional string `json:"streetAdditional,omitempty"`
	PostalCode string `json:"postalCode,omitempty"`
	Email      string `json:"email,omitempty"`
	Phone      string `json:"phone,omitempty"`
	City       string `json:"city,omitempty"`
	Region     string `json:"region,omitempty"`
	Country    string `json:"country,omitempty"`
}

// billed returns the customer. It returns nil if the customer has neither an e-mail address nor a postal address,
// because Mollie requires one of them.
func billed(c gateway.Customer) *person {
	if c.Email == "" && c.Billing == nil {
		return nil
	}
	p := named(c)
	p.Email, p.Phone = c.Email, c.Phone
	p.at(c.Billing)
	return p
}

// shipped returns the delivery address, or nil.
func shipped(c gateway.Customer) *person {
	if c.Shipping == nil {
		return nil
	}
	p := named(c)
	p.at(c.Shipping)
	return p
}

// named splits the customer's name at its last space.
func named(c gateway.Customer) *person {
	name := strings.TrimSpace(c.Name)
	i := strings.LastIndex(name, " ")
	if i < 0 {
		return &person{FamilyName: name}
	}
	return &person{GivenName: strings.TrimSpace(name[:i]), FamilyName: name[i+1:]}
}

func (p *person) at(a *gateway.Address) {
	if a != nil {
		p.Street, p.Additional, p.PostalCode, p.City, p.Region, p.Country = a.Line1, a.Line2, a.PostalCode, a.City, a.State, a.Country
	}
}

var locales = strings.Fields( //nolint:gochecknoglobals // a list
	`ca_ES cs_CZ da_DK de_AT de_CH de_DE de_LU en_BE en_GB en_NL en_US es_ES fi_FI fr_BE fr_FR fr_LU hu_HU is_IS it_IT lt_LT lv_LV nb_NO nl_BE nl_NL
	pl_PL pt_PT sk_SK sv_SE`)

// localeOf returns the locale of Mollie's page, or "" if Mollie does not have it.
func localeOf(tag string) string {
	if name := strings.ReplaceAll(tag, "-", "_"); slices.Contains(locales, name) {
		return name
	}
	return ""
}
