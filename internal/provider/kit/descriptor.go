package kit

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/webhooks"
)

// An Adapter describes an adapter: its configuration keys, test hosts and constructor.

// Adapter describes the calls to a provider.
type Adapter struct {
	// Keys are the account's required and optional keys for calls.
	Keys []webhooks.Key
	// TestKey names the configuration key whose value has a distinct form in test mode. TestForm matches that form. TestHosts are the provider's
	// test hosts; hosts below them are test hosts too. Any other credential or address counts as live.
	TestKey   string
	TestForm  *regexp.Regexp
	TestHosts []string
	// TestByDefault is set if the default address is a test host.
	TestByDefault bool
	// Absent is the id of a payment that does not exist, in the form of the provider's ids. The doctor looks it up to check an account's
	// keys. It is empty if the provider does not have a payment with an id of any form.
	Absent string
	// Trial is how the test mode is used.
	Trial Trial
	// Carries are the members of a charge that are passed on to the provider. The provider gets no other member; the
	// tests compare Carries with the requests (providertest.Carries). ProviderData are the members of the provider's own
	// request that provider_data may contain. The manual's tables are generated from both.
	Carries      []Carried
	ProviderData []string
	// Further describes the members of the provider's own request that provider_data of a capture and of a refund may
	// contain, and when a refund needs one. The manual's tables are generated from it, too.
	Further gateway.Further
	// SecondStep describes the details that complete takes; empty if no payment has a second step.
	SecondStep string
	// New creates the client of an account. If it is nil, the account makes no calls: it accepts webhooks, and its
	// records are read if the fields below are set.
	New func(Settings) (gateway.Provider, error)
	// Payees returns the ids by which the provider names the account as the payee, from the account's keys. It is nil if
	// no key contains such an id. See gateway.Outcome.
	Payees func(params map[string]string) []string
	// Merchant is how an account's configuration names the merchant that is paid.
	Merchant Merchant
	// Books reads the provider's record of the account's money. Events lists the provider's events. Statement reads a
	// file with that record. Each is nil if the provider has no such record.
	Books     func(Settings) (gateway.Books, error)
	Events    func(Settings) (gateway.EventLog, error)
	Statement gateway.Statement
	// Lag is the time during which the books may lack a new entry.
	Lag time.Duration
	// Overlap is how long after its time an entry of the books may still change; zero for three days.
	Overlap time.Duration
	// Marks are our marks in the entries of the books and of the statement.
	Marks gateway.Marks
	// Dashboard is the address of a payment in the provider's dashboard.
	Dashboard Dashboard
	// RefundTime is how long a refund takes. DisputeReasons are the provider's codes of disputes in words; nil for a provider
	// without such codes.
	RefundTime     RefundTime
	DisputeReasons map[string]string
}

// Carried is a member of a charge that is passed on.
type Carried struct {
	// Member is the member's name in the API. As is the resulting member of the provider's request. It is written as
	// "a.b[].c" for the items of a list. If a member has members of its own, As names one of them.
	Member, As string
	// When describes when the member is passed on and when it is required. It is empty if the member is always passed on
	// and never required.
	When string
	// ToApps is set for a return_url that may have an app's scheme. An adapter sets it by the provider's documentation.
	ToApps bool
}

// WebReturns reports whether the provider gets the address to return to, and takes http and https addresses only.
func (a Adapter) WebReturns() bool {
	return slices.ContainsFunc(a.Carries, func(m Carried) bool { return m.Member == "return_url" && !m.ToApps })
}

// Settings are an account's credentials and addresses.
type Settings struct {
	// BaseURL replaces the provider's default address.
	BaseURL string
	// Params are the credentials by their names in the configuration, webhook_secret (the first of its list) and
	// public_url.
	Params map[string]string
	// Client sends the requests.
	Client *http.Client
	// Now is the clock for the expiry of access tokens.
	Now func() time.Time
	// AwaitsCustomer is how long a payment may wait for its customer before it is cancelled; 0 if not known.
	AwaitsCustomer time.Duration
}

// ForTests reports whether the host is a test host.
func (a Adapter) ForTests(host string) bool {
	host = strings.ToLower(host)
	return slices.ContainsFunc(a.TestHosts, func(h string) bool { return host == h || strings.HasSuffix(host, "."+h) })
}

// APIKey returns the key api_key, which most providers need.
func APIKey() webhooks.Key {
	return webhooks.Key{Name: "api_key", Secret: true, Doc: "the provider's API key"}
}

// OAuth returns the keys for providers that issue access tokens.
func OAuth() []webhooks.Key {
	return []webhooks.Key{
		{Name: "client_id", Doc: "OAuth client"}, {Name: "client_secret", Secret: true, Doc: "OAuth secret"},
	}
}

// TestPayments returns the key test_payments. It is for the kinds where the configuration decides whether payments are
// tests.
func TestPayments() webhooks.Key {
	return webhooks.Key{Name: "test_payments", Optional: true, OneOf: []string{"true", "false"}, Doc: "true for test payments at Comgate, Lemon Squeezy or Robokassa (with its test passwords)"}
}
