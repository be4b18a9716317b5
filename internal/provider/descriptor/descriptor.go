// Package descriptor describes an adapter: its configuration keys, test hosts and constructor.
package descriptor

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/webhooks"
)

// Adapter describes the calls to a provider.
type Adapter struct {
	// Keys are the account's keys that calls need, and the optional ones.
	Keys []webhooks.Key
	// TestKey is the key with a distinct test form, TestForm that form, and TestHosts the provider's test hosts, with all below them. Any
	// other credential or address counts as live.
	TestKey   string
	TestForm  *regexp.Regexp
	TestHosts []string
	// TestByDefault is set if the default address is a test host.
	TestByDefault bool
	// Carries are the members of a pay that a charge passes on; of all others the provider gets
	// nothing; the tests compare them with what is sent (providertest.Carries). ProviderData are the members
	// of its own request that provider_data may have. The manual's tables are made from both.
	Carries      []Carried
	ProviderData []string
	// SecondStep says what complete takes; empty if no payment has a second step.
	SecondStep string
	// New creates the client of an account; nil if there is none yet: the account then accepts webhooks, and has what records of its
	// provider's are read below.
	New func(Settings) (gateway.Provider, error)
	// Payees returns the ids by which the provider names the account as the one that is paid, from its keys; nil where no key
	// has one. See gateway.Outcome.
	Payees func(params map[string]string) []string
	// Books reads the provider's record of the account's money, Events lists its events, Statement reads a
	// file of that record; each is nil where there is none.
	Books     func(Settings) (gateway.Books, error)
	Events    func(Settings) (gateway.EventLog, error)
	Statement gateway.Statement
	// Lag is how long the books may lack a new entry.
	Lag time.Duration
	// Unmarked is set if the entries of the books bear no mark of ours: what a restored database has forgotten then looks
	// like payments of others.
	Unmarked bool
	// BrowserMarked is set if a customer's browser could have written the mark of ours in an entry of the books or the
	// statement: an entry that nothing else ties to its attempt is a claim.
	BrowserMarked bool
	// Dashboard is where a person finds a payment at the provider.
	Dashboard Dashboard
}

// Carried is a member of a pay that a charge passes on.
type Carried struct {
	// Member is its name in the API. As is the member of the provider's request that it becomes,
	// "a.b[].c" with the items of lists, for one with members of its own one of them.
	Member, As string
	// When says when it is passed on, and when it is required; empty for always, and never.
	When string
}

// Settings are an account's credentials and addresses.
type Settings struct {
	// BaseURL replaces the provider's default address.
	BaseURL string
	// Params are the credentials by their names in the configuration, webhook_secret (the first of its list) and public_url.
	Params map[string]string
	// Client sends the requests.
	Client *http.Client
	// Now is the clock for the expiry of access tokens.
	Now func() time.Time
}

// ForTests reports whether the host is a test host.
func (a Adapter) ForTests(host string) bool {
	host = strings.ToLower(host)
	return slices.ContainsFunc(a.TestHosts, func(h string) bool { return host == h || strings.HasSuffix(host, "."+h) })
}

// APIKey returns the key that most providers have.
func APIKey() webhooks.Key {
	return webhooks.Key{Name: "api_key", Secret: true, Doc: "the provider's API key"}
}

// OAuth returns the keys of providers that issue access tokens.
func OAuth() []webhooks.Key {
	return []webhooks.Key{
		{Name: "client_id", Doc: "OAuth client"}, {Name: "client_secret", Secret: true, Doc: "OAuth secret"},
	}
}

// TestPayments returns the key of the kinds at which the configuration decides whether payments are tests.
func TestPayments() webhooks.Key {
	return webhooks.Key{Name: "test_payments", Optional: true, OneOf: []string{"true", "false"}, Doc: "true for payments that take no money: Comgate's and Lemon Squeezy's test payments; Robokassa's, if the passwords are those for them"}
}
