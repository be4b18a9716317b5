// Package descriptor has what an adapter gives to those that configure it and make its clients.
package descriptor

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the calls to a provider.
type Adapter struct {
	// Keys are those of the account that calls need, and those that they take besides.
	Keys []webhooks.Key
	// TestKey is the key with a form of its own for tests, TestForm that form, and TestHosts the provider's hosts for
	// tests: these and all below them. A credential or an address that is neither counts as live.
	TestKey   string
	TestForm  *regexp.Regexp
	TestHosts []string
	// TestByDefault is set where a host for tests is called if the account has no base_url.
	TestByDefault bool
	// New makes the client of an account; nil where there is none yet, so that the account takes webhooks only.
	New func(Settings) (payment.Provider, error)
}

// Settings are an account's credentials and addresses.
type Settings struct {
	// BaseURL replaces the provider's own address.
	BaseURL string
	// Params are the credentials by their names in the configuration, webhook_secret (the first of its list) and public_url.
	Params map[string]string
	// Client sends the requests.
	Client *http.Client
	// Now is the clock by which access tokens end.
	Now func() time.Time
}

// ForTests reports whether the host is one for tests.
func (a Adapter) ForTests(host string) bool {
	host = strings.ToLower(host)
	return slices.ContainsFunc(a.TestHosts, func(h string) bool { return host == h || strings.HasSuffix(host, "."+h) })
}

// APIKey is the key that most providers have.
func APIKey() webhooks.Key {
	return webhooks.Key{Name: "api_key", Secret: true, Doc: "the provider's API key"}
}

// OAuth are the keys of those that issue access tokens.
func OAuth() []webhooks.Key {
	return []webhooks.Key{
		{Name: "client_id", Doc: "OAuth client"}, {Name: "client_secret", Secret: true, Doc: "OAuth secret"},
	}
}
