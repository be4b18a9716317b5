package descriptor

import (
	"net/url"
	"regexp"
	"strings"
)

// Dashboard is the form of the address of a payment in the provider's own dashboard. The zero Dashboard is of a provider whose form
// has no source. The address is made of this form and an id: none is taken from what a provider sends.
type Dashboard struct {
	// Live and Test are https addresses with {id} for the id of the payment, and {NAME} for a key of the account; Test is empty
	// where it has no source.
	Live, Test string
	// Form is that of the ids that have a page.
	Form *regexp.Regexp
	// OfCapture is set where the page is found by the id of the capture, not by that of the payment.
	OfCapture bool
}

// Page returns the address of a payment's page; empty where there is none.
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

// Tests reports whether an account is one for tests: by the form of its key, by its address, or by the provider's default.
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
