package config

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// testMode separates a kind's credentials and addresses for tests from live ones. Those
// that are neither by their form count as live.
type testMode struct {
	field string         // the credential with a form of its own
	form  *regexp.Regexp // that form
	hosts []string       // the provider's hosts for tests: these and all below them
}

func testModes() map[string]testMode {
	form := regexp.MustCompile
	return map[string]testMode{
		"stripe":        {field: "api_key", form: form(`^(sk|rk)_test_`)},
		"mollie":        {field: "api_key", form: form(`^test_`)},
		"yookassa":      {field: "api_key", form: form(`^test_`)},
		"razorpay":      {field: "key_id", form: form(`^rzp_test_`)},
		"checkout":      {field: "api_key", form: form(`^sk_(sbox|test)_`), hosts: []string{"sandbox.checkout.com"}},
		"paddle":        {field: "api_key", form: form(`^pdl_sdbx_`), hosts: []string{"sandbox-api.paddle.com"}},
		"gocardless":    {field: "api_key", form: form(`^sandbox_`), hosts: []string{"api-sandbox.gocardless.com"}},
		"cloudpayments": {field: "public_id", form: form(`^test_api_`)},
		"tbank":         {field: "terminal_key", form: form(`DEMO$`), hosts: []string{"rest-api-test.tinkoff.ru"}},
		"adyen":         {hosts: []string{"checkout-test.adyen.com", "pal-test.adyen.com"}},
		"paypal":        {hosts: []string{"sandbox.paypal.com"}},
		"square":        {hosts: []string{"squareupsandbox.com"}},
		"braintree":     {hosts: []string{"sandbox.braintreegateway.com"}},
		"gopay":         {hosts: []string{"gw.sandbox.gopay.com"}},
	}
}

// live refuses what has no place beside real money.
func (r *report) live(c *Config) {
	if c.Auth.HS256Secret != "" {
		r.add("auth.hs256_secret", "is refused in live, since its tokens may have any role: write auth.hs256 as [{id: a, secret: …, roles: [customer, service]}]")
	}
	for i, p := range c.TrustedProxies {
		if isWide(p) {
			r.add(index("trusted_proxies", i), "is refused in live: anybody could say from where a request comes; name the networks of your proxies")
		}
	}
	r.https("auth.jwks_url", c.Auth.JWKSURL)
	r.https("console.oidc.issuer", c.Console.OIDC.Issuer)
	r.https("console.oidc.redirect_url", c.Console.OIDC.RedirectURL)
	for i, a := range c.Accounts {
		r.liveAccount(index("accounts", i), a)
	}
}

func (r *report) liveAccount(key string, a Account) {
	if a.Kind == "sandbox" {
		r.add(key+".kind", "sandbox is refused in live: remove the account, or set environment to test")
		return
	}
	r.https(key+".base_url", a.BaseURL)
	r.https(key+".public_url", a.PublicURL)
	mode := testModes()[a.Kind]
	if mode.form != nil && mode.form.MatchString(a.credential(mode.field)) {
		r.add(key+"."+mode.field, "is one for tests, which live refuses: put the live one there, or set environment to test")
	}
	switch u, err := url.Parse(a.BaseURL); {
	case a.BaseURL == "" && a.Kind == "adyen" && a.CanCharge():
		r.add(key+".base_url", "is missing, so that Adyen's test environment would be called, which live refuses: name the live address with your prefix")
	case err == nil && mode.reaches(u.Hostname()):
		r.add(key+".base_url", "is the provider's address for tests, which live refuses: put the live one there, or set environment to test")
	}
}

func (a Account) credential(field string) string {
	return map[string]string{"api_key": string(a.APIKey), "key_id": a.KeyID, "public_id": a.PublicID, "terminal_key": a.TerminalKey}[field]
}

func (m testMode) reaches(host string) bool {
	host = strings.ToLower(host)
	return slices.ContainsFunc(m.hosts, func(h string) bool { return host == h || strings.HasSuffix(host, "."+h) })
}

// isWide reports whether the network is wider than the widest private ones,
// 10.0.0.0/8 and fc00::/7.
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
