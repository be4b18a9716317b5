package config

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Account is an account at a provider. Which fields count is its kind's matter.
type Account struct {
	Name string `koanf:"name" doc:"1–64 of a–z, 0–9 and -; part of the webhook's address"`
	Kind string `koanf:"kind" doc:"the provider, see below"`

	WebhookSecrets []Secret       `koanf:"webhook_secrets" doc:"secrets that verify webhooks; several during a rotation"`
	BaseURL        string         `koanf:"base_url" doc:"replaces the provider's own address"`
	PublicURL      string         `koanf:"public_url" doc:"the address of the webhook endpoint that is registered at the provider"`
	AllowedIPs     []netip.Prefix `koanf:"allowed_ips" doc:"allowed sender addresses of webhooks; absent: any sender, and for yookassa the documented addresses"`
	Tolerance      time.Duration  `koanf:"tolerance" doc:"replaces the provider's age limit of webhooks with a signed time (PayPal documents none: 4 days); negative: no limit"`
	LateSuccess    string         `koanf:"late_success" default:"manual" doc:"money that arrives after a failure: manual opens a discrepancy; auto_refund refunds the money, unless the pay shared it with other accounts"`
	HoldPaid       bool           `koanf:"hold_paid_for_review" default:"false" doc:"true: the event order.paid waits until the provider's own review has approved the payment"`
	AcceptMore     bool           `koanf:"accept_more" default:"false" doc:"true: a payment above the amount (a tip, a fee that the customer bears) opens no discrepancy"`
	SecondHold     string         `koanf:"second_hold" default:"cancel" doc:"a second payment that holds money for the same order: cancel cancels that payment, or opens a discrepancy if the provider has no cancel; review opens a discrepancy"`
	ForeignAfter   time.Duration  `koanf:"foreign_after" default:"10m" doc:"the time after which an event gets the verdict foreign, if paylatch does not have its payment and the event has no id of paylatch; 720h at most"`
	Foreign        string         `koanf:"foreign" doc:"count: foreign events are only counted; review: each opens a discrepancy; absent: count"`

	Cell int `koanf:"cell" default:"0" doc:"the cell of the account's orders and events; never change it after the first order or event"`

	Enabled string `koanf:"enabled" default:"all" doc:"webhooks: paylatch refuses pays, and begun payments continue; pays: webhooks get 503, so the provider repeats them; all: both work"`
	Offered bool   `koanf:"offered" default:"false" doc:"true: a customer's pay may name this account; a pay may always name the default account"`

	Expiry    Expiry    `koanf:"expiry"`
	Breaker   Breaker   `koanf:"breaker"`
	RateLimit RateLimit `koanf:"rate_limit"`

	// Fields are the keys that only some kinds have, by their names; see [provider.Keys].
	Fields map[string]Secret

	// Merchant is the number of the merchant behind the account. It is in the database, not in the configuration.
	Merchant int
}

// NewAccount returns an account with the defaults of its keys.
func NewAccount(name, kind string) Account {
	a := Account{}
	decoder{&report{}}.section(reflect.ValueOf(&a).Elem(), map[string]any{}, "")
	a.Name, a.Kind = name, kind
	return a
}

// Expiry is when an attempt that stays unfinished is cancelled at the provider, if it is still open there.
type Expiry struct {
	AwaitingCustomer time.Duration `koanf:"awaiting_customer" default:"1h" doc:"how long an attempt may wait for the customer before its cancel"`
	Authorized       time.Duration `koanf:"authorized" default:"168h" doc:"how long authorized money may wait for its capture"`
	Slow             time.Duration `koanf:"slow" default:"336h" doc:"how long a provider may take for a payment (bank debits and the like) or a refund"`
}

// Breaker spares a provider that fails.
type Breaker struct {
	Failures int           `koanf:"failures" default:"20" doc:"failed calls in a row after which calls are throttled; 0: never"`
	OpenFor  time.Duration `koanf:"open_for" default:"30s" doc:"how long calls are throttled until one call is tried"`
}

// RateLimit bounds the calls that this process makes.
type RateLimit struct {
	PerSecond int `koanf:"per_second" doc:"limit of calls per second for each process, of which lookups get at most half; absent: no limit"`
	Burst     int `koanf:"burst" doc:"limit of calls at the same time; absent: per_second"`
}

// CanCharge reports whether the account has all keys that calls to its provider need.
func (a Account) CanCharge() bool {
	k := provider.Kinds()[a.Kind]
	return len(k.Calls) > 0 && len(a.missing(k.Calls)) == 0
}

// refunds reports whether the account can send a refund. For an account with keys that its adapter does not take, another check
// reports the error.
func (a Account) refunds() bool {
	if a.uncalled() || !a.CanCharge() {
		return false
	}
	never := func() time.Time { return time.Time{} } // nothing is called: its capabilities are read
	p, err := provider.Kinds()[a.Kind].Adapter.New(kit.Settings{BaseURL: a.BaseURL, Params: a.Credentials(), Client: &http.Client{}, Now: never})
	return err != nil || p.Capabilities().Refunds > payment.RefundsNone
}

// uncalled reports whether there is no adapter for the account's kind that begins payments.
func (a Account) uncalled() bool {
	return provider.Kinds()[a.Kind].Adapter.New == nil
}

// ReviewsForeign reports whether foreign events are for review. By default they are counted: our calls put
// a mark on each payment, and so does a shop that registers one.
func (a Account) ReviewsForeign() bool { return a.Foreign == foreignReview }

// Pays reports whether payments may be begun by the account.
func (a Account) Pays() bool { return a.Enabled != enabledWebhooks }

// Listens reports whether webhooks of the account may be taken.
func (a Account) Listens() bool { return a.Enabled != enabledPays }

// TakesWebhooks reports whether the account can prove a webhook, be it by a call to the provider.
func (a Account) TakesWebhooks() bool {
	k := provider.Kinds()[a.Kind]
	return len(k.Webhooks) > 0 && len(a.missing(k.Webhooks)) == 0 || k.About.Unsigned && a.CanCharge()
}

// Webhooks returns the configuration of the account's verifier, without the function that fetches certificates. It reads
// cert_roots.
func (a Account) Webhooks() (webhooks.Config, error) {
	roots, err := a.roots()
	if err != nil {
		return webhooks.Config{}, err
	}
	c := webhooks.Config{
		Tolerance: a.Tolerance, PublicURL: a.PublicURL, AllowedIPs: a.AllowedIPs,
		Params: a.params(), Roots: roots,
	}
	for _, s := range a.WebhookSecrets {
		c.Secrets = append(c.Secrets, string(s))
	}
	return c, nil
}

// params returns the parameters of the kind's verifier, without any credential of the provider's API.
func (a Account) params() map[string]string {
	params := map[string]string{}
	for _, key := range provider.Kinds()[a.Kind].About.Keys {
		if value := a.Fields[key.Name]; value != "" && key.Name != certRoots {
			params[key.Name] = string(value)
		}
	}
	return params
}

// Verification returns all settings that affect the verification of the account's webhooks, secrets included. Equal settings
// have an equal text. It reads cert_roots.
func (a Account) Verification() ([]byte, error) {
	c, err := a.Webhooks()
	if err != nil {
		return nil, err
	}
	var roots []byte
	if a.Fields[certRoots] != "" {
		if roots, err = os.ReadFile(string(a.Fields[certRoots])); err != nil {
			return nil, fmt.Errorf("read cert_roots: %w", err)
		}
	}
	text, err := json.Marshal([]any{a.Kind, c.Secrets, c.Tolerance, c.PublicURL, c.AllowedIPs, c.Params, roots})
	if err != nil {
		return nil, fmt.Errorf("encode the verification of account %s: %w", a.Name, err)
	}
	return text, nil
}

// certRoots names a file, which is read for the verifier.
const certRoots = "cert_roots"

var errNoCertificate = errors.New("no certificate in the file: it must hold PEM blocks")

func (a Account) roots() (*x509.CertPool, error) {
	if a.Fields[certRoots] == "" {
		return nil, nil //nolint:nilnil // no pool means the system's roots
	}
	pem, err := os.ReadFile(string(a.Fields[certRoots]))
	if err != nil {
		return nil, fmt.Errorf("read cert_roots: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errNoCertificate
	}
	return pool, nil
}

// Credentials returns the credentials for calls to the provider, by their names in the configuration; webhook_secret is the
// first of webhook_secrets. Some providers get the public_url with each call.
func (a Account) Credentials() map[string]string {
	c := map[string]string{}
	for name, value := range a.Fields {
		c[name] = string(value)
	}
	if a.PublicURL != "" {
		c["public_url"] = a.PublicURL
	}
	if len(a.WebhookSecrets) > 0 {
		c["webhook_secret"] = string(a.WebhookSecrets[0])
	}
	return c
}

// mode is how Stripe, Mollie, Razorpay and Paddle begin their keys.
var mode = regexp.MustCompile(`^(?:[a-z]+_)?(live|test|sdbx)_`)

// Live distinguishes an account of real money from one for tests, by the form of its key or the host of its API; nil if neither
// shows it.
func (a Account) Live() *bool {
	for _, name := range []string{"api_key", "key_id"} {
		if m := mode.FindStringSubmatch(string(a.Fields[name])); m != nil {
			live := m[1] == "live"
			return &live
		}
	}
	return nil
}
