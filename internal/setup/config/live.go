package config

import (
	"fmt"
	"net/netip"
	"net/url"

	"github.com/paylatch/paylatch/internal/provider"
)

// live refuses settings that are too weak for real money.
func (r *report) live(c *Config) {
	if c.Auth.HS256Secret != "" {
		r.add("auth.hs256_secret", "is refused in live, because its tokens may have any role: use auth.hs256 instead, such as [{id: a, secret: …, roles: [customer, service]}]")
	}
	for i, p := range c.TrustedProxies {
		if isWide(p) {
			r.add(index("trusted_proxies", i), "is refused in live, because anybody could forge a request's sender address: list the networks of your proxies")
		}
	}
	r.https("auth.jwks_url", c.Auth.JWKSURL)
	for i, of := range c.Auth.Issuers {
		r.https(index("auth.issuers", i)+".jwks_url", of.JWKSURL)
	}
	r.https("console.oidc.issuer", c.Console.OIDC.Issuer)
	r.https("console.oidc.redirect_url", c.Console.OIDC.RedirectURL)
	for i, a := range c.Accounts {
		r.liveAccount(index("accounts", i), a, c)
	}
	for i, stream := range c.Streams {
		if stream.SASL.Mechanism == saslPlain && !stream.TLS {
			r.add(index("streams", i)+".tls", "must be true in live with sasl.mechanism plain, because everybody on the network could read the password")
		}
	}
}

func (r *report) liveAccount(key string, a Account, c *Config) {
	if a.Kind == "sandbox" {
		r.add(key+".kind", "sandbox is refused in live: remove the account, or set environment to test")
		return
	}
	if u, err := url.Parse(a.BaseURL); err != nil || !c.allowsPlain(u.Host) {
		r.https(key+".base_url", a.BaseURL)
	}
	r.https(key+".public_url", a.PublicURL)
	k := provider.Kinds()[a.Kind]
	if form := k.Adapter.TestForm; form != nil && form.MatchString(string(a.Fields[k.Adapter.TestKey])) {
		r.add(key+"."+k.Adapter.TestKey, "is a value for the provider's test environment, which live refuses: use the live value, or set environment to test")
	}
	switch u, err := url.Parse(a.BaseURL); {
	case a.BaseURL == "" && k.Adapter.TestByDefault && a.CanCharge():
		r.add(key+".base_url", "is missing, so paylatch would call %s's test environment, which live refuses: set the live address with your prefix", k.About.Name)
	case err == nil && k.Adapter.ForTests(u.Hostname()):
		r.add(key+".base_url", "is the provider's test address, which live refuses: use the live address, or set environment to test")
	}
}

// ForTests reports whether the account makes test payments, by the form of its keys or the address of its API.
func (a Account) ForTests() bool {
	adapter := provider.Kinds()[a.Kind].Adapter
	if form := adapter.TestForm; form != nil && form.MatchString(string(a.Fields[adapter.TestKey])) {
		return true
	}
	u, err := url.Parse(a.BaseURL)
	return a.BaseURL == "" && adapter.TestByDefault || err == nil && adapter.ForTests(u.Hostname())
}

// CallsThisMachine reports whether the account calls a server on this machine in place of its provider.
func (a Account) CallsThisMachine() bool { return isHere(a.BaseURL) }

// CheckForTests returns why the account may be one of real money; nil for an account of a provider's test mode. The reason contains no
// key.
func (a Account) CheckForTests() error {
	k := provider.Kinds()[a.Kind]
	live := a.Live()
	switch {
	case live != nil && *live:
		return fmt.Errorf("account %s: its key has the form of %s's live mode", a.Name, k.About.Name)
	case a.ForTests(), a.Kind == "sandbox":
		return nil
	case a.Kind == "standard":
		return fmt.Errorf("account %s: the base_url is not on this machine, and nothing else shows whether the provider moves real money; use paylatch conformance --url for such a provider", a.Name)
	case k.Adapter.TestForm != nil:
		return fmt.Errorf("account %s: neither its %s nor its base_url belongs to %s's test mode", a.Name, k.Adapter.TestKey, k.About.Name)
	}
	return fmt.Errorf("account %s: its base_url is not the address of %s's test mode", a.Name, k.About.Name)
}

// isWide reports whether the network is wider than the widest private ones, 10.0.0.0/8 and fc00::/7.
func isWide(p netip.Prefix) bool {
	switch {
	case p.Addr().Is4():
		return p.Bits() < 8
	case p.Addr().Is4In6():
		return p.Bits() < 96+8
	}
	return p.Bits() < 7
}

func (r *report) https(key, address string) {
	if isPlain(address) {
		r.add(key, "must begin with https:// in live")
	}
}
