package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"time"

	"github.com/paylatch/paylatch/webhooks"
)

// Account is an account at a provider. Which fields count is its kind's matter.
type Account struct {
	Name string `koanf:"name" doc:"1–64 of a–z, 0–9 and -; part of the webhook's address"`
	Kind string `koanf:"kind" doc:"the provider, see below"`

	WebhookSecrets []Secret       `koanf:"webhook_secrets" doc:"what proves a webhook; several while one is rotated"`
	BaseURL        string         `koanf:"base_url" doc:"in place of the provider's own address"`
	PublicURL      string         `koanf:"public_url" doc:"the address under which the provider knows the webhook's endpoint"`
	AllowedIPs     []netip.Prefix `koanf:"allowed_ips" doc:"who may send webhooks; absent: anybody, for yookassa its documented addresses"`
	Tolerance      time.Duration  `koanf:"tolerance" doc:"in place of the documented age limit of a webhook, where its time is signed (PayPal documents none: 4 days); negative: no limit"`
	LateSuccess    string         `koanf:"late_success" default:"manual" doc:"what becomes of money that comes after a failure: manual or auto_refund"`

	Offered bool `koanf:"offered" default:"false" doc:"whether a customer's pay may name the account; the default account always may be named"`

	Expiry    Expiry    `koanf:"expiry"`
	Breaker   Breaker   `koanf:"breaker"`
	RateLimit RateLimit `koanf:"rate_limit"`

	APIKey          Secret    `koanf:"api_key" doc:"the provider's API key"`
	MerchantAccount string    `koanf:"merchant_account" doc:"Adyen's merchant account"`
	BasicAuth       BasicAuth `koanf:"basic_auth"`
	ClientID        string    `koanf:"client_id" doc:"OAuth client"`
	ClientSecret    Secret    `koanf:"client_secret" doc:"OAuth secret"`
	WebhookID       string    `koanf:"webhook_id" doc:"PayPal's id of the webhook"`
	CertRoots       string    `koanf:"cert_roots" doc:"a PEM file, in place of the system's roots"`
	ShopID          string    `koanf:"shop_id" doc:"YooKassa's shop"`
	PublicID        string    `koanf:"public_id" doc:"CloudPayments' public id"`
	TerminalKey     string    `koanf:"terminal_key" doc:"T-Bank's terminal"`
	MerchantLogin   string    `koanf:"merchant_login" doc:"Robokassa's shop"`
	Hash            string    `koanf:"hash" doc:"Robokassa's hash; absent: md5"`
	Capture         string    `koanf:"capture" doc:"Adyen: automatic if the merchant account captures at once"`
	Currency        string    `koanf:"currency" doc:"the currency of notices that name none (CloudPayments' refunds, T-Bank, Robokassa); of ISO 4217, in upper case"`
	KeyID           string    `koanf:"key_id" doc:"Razorpay's key"`
	KeySecret       Secret    `koanf:"key_secret" doc:"Razorpay's secret"`
	Authorization   Secret    `koanf:"authorization" doc:"the Authorization header that Checkout.com sends"`
	PublicKey       string    `koanf:"public_key" doc:"Braintree's public key"`
	MerchantID      string    `koanf:"merchant_id" doc:"Braintree's merchant"`
	Merchant        string    `koanf:"merchant" doc:"Comgate's merchant"`
	GoID            string    `koanf:"goid" doc:"GoPay's merchant"`
}

// NewAccount returns an account with the defaults of its keys.
func NewAccount(name, kind string) Account {
	a := Account{}
	decoder{&report{}}.section(reflect.ValueOf(&a).Elem(), map[string]any{}, "")
	a.Name, a.Kind = name, kind
	return a
}

// BasicAuth is what a provider sends as HTTP basic authentication.
type BasicAuth struct {
	User     string `koanf:"user" doc:"as set at the provider"`
	Password Secret `koanf:"password" doc:"as set at the provider"`
}

// Expiry is the age at which an unfinished attempt is cancelled at the provider,
// if it is still open there.
type Expiry struct {
	AwaitingCustomer time.Duration `koanf:"awaiting_customer" default:"1h" doc:"how long an attempt may wait for the customer before it is cancelled at the provider"`
	Authorized       time.Duration `koanf:"authorized" default:"168h" doc:"how long authorised money may wait for its capture"`
	Slow             time.Duration `koanf:"slow" default:"336h" doc:"how long the provider may work at a payment (bank debits and the like) or a refund"`
}

// Breaker spares a provider that fails.
type Breaker struct {
	Failures int           `koanf:"failures" default:"20" doc:"how many calls in a row must fail until calls are held back; 0: never"`
	OpenFor  time.Duration `koanf:"open_for" default:"30s" doc:"how long calls are held back until one is let through to see"`
}

// RateLimit bounds the calls that this process makes.
type RateLimit struct {
	PerSecond int `koanf:"per_second" doc:"how many calls a process makes in a second; absent: any number"`
	Burst     int `koanf:"burst" doc:"how many it makes at once; absent: as many as in a second"`
}

// CanCharge reports whether the account has what calls to its provider need.
func (a Account) CanCharge() bool {
	k := kinds()[a.Kind]
	return len(k.calls) > 0 && len(a.missing(k.calls)) == 0
}

// TakesWebhooks reports whether the account can separate a genuine webhook from a
// false one, be it by a lookup at the provider.
func (a Account) TakesWebhooks() bool {
	k := kinds()[a.Kind]
	return len(k.webhooks) > 0 && len(a.missing(k.webhooks)) == 0 || k.unsigned && a.CanCharge()
}

// Webhooks is the configuration of the account's verifier, but for the function
// that fetches certificates. It reads cert_roots.
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

// params names what a verifier may need: no credential of the provider's API.
func (a Account) params() map[string]string {
	params := map[string]string{
		"merchant_account": a.MerchantAccount, "basic_auth.user": a.BasicAuth.User, "basic_auth.password": string(a.BasicAuth.Password),
		"webhook_id": a.WebhookID, "shop_id": a.ShopID, "public_id": a.PublicID, "terminal_key": a.TerminalKey,
		"merchant_login": a.MerchantLogin, "hash": a.Hash, "capture": a.Capture, "currency": a.Currency, "authorization": string(a.Authorization), "public_key": a.PublicKey,
		"merchant_id": a.MerchantID, "merchant": a.Merchant, "goid": a.GoID,
	}
	maps.DeleteFunc(params, func(_, value string) bool { return value == "" })
	return params
}

var errNoCertificate = errors.New("no certificate in the file: it must hold PEM blocks")

func (a Account) roots() (*x509.CertPool, error) {
	if a.CertRoots == "" {
		return nil, nil //nolint:nilnil // no pool means the system's roots
	}
	pem, err := os.ReadFile(a.CertRoots)
	if err != nil {
		return nil, fmt.Errorf("read cert_roots: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errNoCertificate
	}
	return pool, nil
}

// Credentials are what calls to the provider need beside the API key, by their
// names in the configuration. Some calls carry the public_url.
func (a Account) Credentials() map[string]string {
	c := a.params()
	for name, value := range map[string]string{
		"client_id": a.ClientID, "client_secret": string(a.ClientSecret), "key_id": a.KeyID, "key_secret": string(a.KeySecret),
		"public_url": a.PublicURL,
	} {
		if value != "" {
			c[name] = value
		}
	}
	if len(a.WebhookSecrets) > 0 {
		c["webhook_secret"] = string(a.WebhookSecrets[0])
	}
	return c
}

// mode is how Stripe, Mollie, Razorpay and Paddle begin their keys.
var mode = regexp.MustCompile(`^(?:[a-z]+_)?(live|test|sdbx)_`)

// Live separates an account of real money from one for tests, by the form of its
// key; nil where the form is the same for both.
func (a Account) Live() *bool {
	for _, key := range []string{string(a.APIKey), a.KeyID} {
		if m := mode.FindStringSubmatch(key); m != nil {
			live := m[1] == "live"
			return &live
		}
	}
	return nil
}
