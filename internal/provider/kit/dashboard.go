package kit

import (
	"net/url"
	"regexp"
	"strings"
)

// Dashboard is the form of a payment's address in the provider's own dashboard. The zero Dashboard is for a provider
// without a documented form. The address consists of this form and an id. It never comes from a provider's response.
type Dashboard struct {
	// Live and Test are https addresses. They contain {id} for the payment's id, and {NAME} for a key of the account.
	// Test is empty if its address is not documented.
	Live, Test string
	// Form is the form of the ids that have a page.
	Form *regexp.Regexp
	// OfCapture is set if the capture's id finds the page, and not the payment's id.
	OfCapture bool
}

// Page returns the address of a payment's page, or "" if there is none.
func (a Adapter) Page(s Settings, payment, capture string) string {
	address, id := a.Dashboard.Live, payment
	if a.Tests(s) {
		address = a.Dashboard.Test
	}
	if a.Dashboard.OfCapture {
		id = capture
	}
	if address == "" || !a.Dashboard.Form.MatchString(id) {
		return ""
	}
	fill := []string{"{id}", url.PathEscape(id)}
	for name, value := range s.Params {
		if key := "{" + name + "}"; strings.Contains(address, key) && value != "" {
			fill = append(fill, key, url.PathEscape(value))
		}
	}
	if address = strings.NewReplacer(fill...).Replace(address); strings.ContainsAny(address, "{}") {
		return "" // a key is missing
	}
	return address
}

// Tests reports whether an account is for tests, by the form of its key, by its address, or by the provider's default.
func (a Adapter) Tests(s Settings) bool {
	if a.TestForm != nil && a.TestForm.MatchString(s.Params[a.TestKey]) {
		return true
	}
	if s.BaseURL == "" {
		return a.TestByDefault
	}
	u, err := url.Parse(s.BaseURL)
	return err == nil && a.ForTests(u.Hostname())
}
