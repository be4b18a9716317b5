package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/config"
)

// inLive is a configuration that starts in live: it has no environment key.
const inLive = "database_url: postgres://db/x?sslmode=require\nencryption_keys: [{id: k1, key: " + encryptionKey + "}]\n" +
	"auth: {hs256: [{id: shop, secret: " + secret + ", roles: [customer, service]}]}\n"

func TestServeNeedsItsDatabase(t *testing.T) {
	t.Parallel()
	const account = "accounts: [{name: a, kind: stripe, api_key: sk_live_1, webhook_secrets: [whsec_1]}]\n"
	c, err := config.Load(write(t, inLive+account), nil)
	require.NoError(t, err)
	require.Equal(t, config.Live, c.Environment, "by default")

	m := validationErrors(t, "auth: {hs256_secret: "+secret+"}\ntrusted_proxies: [10.0.0.0/8, 0.0.0.0/0]\naccounts: [{name: box, kind: sandbox, base_url: 'http://127.0.0.1:9090'},"+
		"{name: a, kind: stripe, api_key: rk_test_1, base_url: 'http://stripe.example'}]\n")
	for i, want := range []string{
		"auth.hs256_secret: is refused in live", "trusted_proxies[1]: is refused in live", "accounts[0].kind: sandbox is refused in live",
		"accounts[1].base_url: must begin with https:// in live", "accounts[1].api_key: is a value for the provider's test environment",
		"database_url: is missing", "encryption_keys: is missing",
		"default_account: several accounts can charge",
	} {
		require.Contains(t, m[i], want)
	}
	require.Len(t, m, 8)

	for _, environment := range []string{config.Test, config.Dev} {
		m := validationErrors(t, "environment: "+environment+"\nauth: {hs256_secret: "+secret+"}\naccounts: [{name: box, kind: sandbox, base_url: 'http://127.0.0.1:9090'}]\n")
		require.Len(t, m, 2, "%v", m)
		require.Contains(t, m[0], "database_url: is missing")
		require.Contains(t, m[1], "encryption_keys: is missing")
	}
}

// TestServeNeedsItsDatabaseAndRealAccounts: each has a test's twin that only live
// refuses.
func TestServeNeedsItsDatabaseAndRealAccounts(t *testing.T) {
	t.Parallel()
	adyen := "kind: adyen, api_key: k, merchant_account: M, base_url: 'https://%s'"
	for name, tc := range map[string]struct{ account, twin, key string }{
		"stripe":        {"kind: stripe, api_key: sk_live_test_1", "kind: stripe, api_key: sk_test_1", "api_key"},
		"stripe rk":     {"kind: stripe, api_key: rk_live_1", "kind: stripe, api_key: rk_test_1", "api_key"},
		"mollie":        {"kind: mollie, api_key: live_1", "kind: mollie, api_key: test_1", "api_key"},
		"yookassa":      {"kind: yookassa, shop_id: 1, api_key: live_1", "kind: yookassa, shop_id: 1, api_key: test_1", "api_key"},
		"razorpay":      {"kind: razorpay, key_id: rzp_live_1, key_secret: s", "kind: razorpay, key_id: rzp_test_1, key_secret: s", "key_id"},
		"checkout":      {"kind: checkout, api_key: sk_1", "kind: checkout, api_key: sk_sbox_1", "api_key"},
		"checkout host": {"kind: checkout, api_key: sk_1, base_url: 'https://p.api.checkout.com'", "kind: checkout, api_key: sk_1, base_url: 'https://p.api.sandbox.checkout.com'", "base_url"},
		"paddle":        {"kind: paddle, api_key: pdl_live_1", "kind: paddle, api_key: pdl_sdbx_1", "api_key"},
		"gocardless":    {"kind: gocardless, api_key: live_1", "kind: gocardless, api_key: sandbox_1", "api_key"},
		"comgate":       {"kind: comgate, merchant: 1, webhook_secrets: [s]", "kind: comgate, merchant: 1, webhook_secrets: [s], test_payments: true", "test_payments"},
		"cloudpayments": {"kind: cloudpayments, public_id: pk_1, webhook_secrets: [s]", "kind: cloudpayments, public_id: test_api_1, webhook_secrets: [s]", "public_id"},
		"tbank":         {"kind: tbank, terminal_key: DEMO12, webhook_secrets: [s]", "kind: tbank, terminal_key: 12DEMO, webhook_secrets: [s]", "terminal_key"},
		"tbank host":    {"kind: tbank, terminal_key: 1, webhook_secrets: [s], base_url: 'https://securepay.tinkoff.ru'", "kind: tbank, terminal_key: 1, webhook_secrets: [s], base_url: 'https://rest-api-test.tinkoff.ru'", "base_url"},
		"adyen":         {fmt.Sprintf(adyen, "1797a841fbb37ca7-Shop-checkout-live.adyenpayments.com/checkout"), fmt.Sprintf(adyen, "Checkout-Test.adyen.com"), "base_url"},
		"adyen nowhere": {"kind: adyen, webhook_secrets: [0a]", "kind: adyen, api_key: k, merchant_account: M", "base_url"},
		"paypal":        {"kind: paypal, client_id: c, client_secret: s", "kind: paypal, client_id: c, client_secret: s, base_url: 'https://api-m.sandbox.paypal.com'", "base_url"},
		"square":        {"kind: square, api_key: EAAAl1", "kind: square, api_key: EAAAl1, base_url: 'https://connect.squareupsandbox.com'", "base_url"},
		"plain":         {"kind: square, api_key: k, base_url: 'https://127.0.0.1'", "kind: square, api_key: k, base_url: 'HTTP://127.0.0.1'", "base_url"},
		"plain public":  {"kind: square, api_key: k, public_url: 'https://pay.example', webhook_secrets: [s]", "kind: square, api_key: k, public_url: 'http://pay.example', webhook_secrets: [s]", "public_url"},
		"standard":      {"kind: standard, api_key: k, base_url: 'https://pay.example'", "kind: standard, api_key: k, base_url: 'https://localhost:9091'", "base_url"},
		"standard ip":   {"kind: standard, api_key: k, base_url: 'https://10.0.0.1'", "kind: standard, api_key: k, base_url: 'https://[::1]:9091'", "base_url"},
		"standard key":  {"kind: standard, api_key: live_k, base_url: 'https://pay.example'", "kind: standard, api_key: live_k, base_url: 'http://pay.example'", "base_url"},
		"sandbox":       {"kind: standard, webhook_secrets: [" + webhook + "]", "kind: sandbox, webhook_secrets: [" + webhook + "]", "kind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := func(account string) string { return inLive + "accounts: [{name: a, " + account + "}]\n" }
			_, err := config.Load(write(t, list(tc.account)), nil)
			require.NoError(t, err)
			m := validationErrors(t, list(tc.twin))
			require.Len(t, m, 1, "%v", m)
			require.True(t, strings.HasPrefix(m[0], "accounts[0]."+tc.key+": "), m[0])
			_, err = config.Load(write(t, "environment: test\n"+list(tc.twin)), nil)
			require.NoError(t, err)
		})
	}
}

func TestServeNeedsItsDatabaseAndItsOwnProxies(t *testing.T) {
	t.Parallel()
	const account = "accounts: [{name: a, kind: stripe, api_key: sk_live_1}]\n"
	for network, wide := range map[string]bool{
		"0.0.0.0/0": true, "::/0": true, "0.0.0.0/1": true, "128.0.0.0/1": true, "::/1": true, "8000::/1": true, "2000::/3": true, "::ffff:0.0.0.0/96": true,
		"10.0.0.0/8": false, "fc00::/7": false, "192.0.2.1": false, "::1": false, "::ffff:10.0.0.0/104": false,
	} {
		text := inLive + account + "trusted_proxies: ['" + network + "']\n"
		_, err := config.Load(write(t, text), nil)
		require.Equal(t, wide, err != nil, "%s: %v", network, err)
		_, err = config.Load(write(t, "environment: test\n"+text), nil)
		require.NoError(t, err, network)
	}
}

func TestTokenForUs(t *testing.T) {
	t.Parallel()
	const both = "issuer: 'https://id.example', audience: paylatch"
	for name, tc := range map[string]struct {
		auth, rest string
		live, test string // the validation errors; empty: none
	}{
		"complete":              {auth: "jwks_url: 'https://id.example/keys', " + both},
		"neither":               {"jwks_url: 'https://id.example/keys'", "", "auth.issuer: is required\nauth.audience: is required", "auth.issuer: is required\nauth.audience: is required"},
		"no issuer":             {"jwks_url: 'https://id.example/keys', audience: a", "", "auth.issuer: is required", "auth.issuer: is required"},
		"no audience":           {"jwks_url: 'https://id.example/keys', issuer: i", "", "auth.audience: is required", "auth.audience: is required"},
		"plain HTTP":            {"jwks_url: 'http://id.example/keys', " + both, "", "auth.jwks_url: must begin with https://", "auth.jwks_url: must begin with https://"},
		"on a machine so named": {"jwks_url: 'http://127.0.0.1.example/keys', " + both, "", "auth.jwks_url: must begin with https://", "auth.jwks_url: must begin with https://"},
		"on this machine":       {"jwks_url: 'http://127.0.0.1:8/keys', " + both, "", "auth.jwks_url: must begin with https:// in live", ""},
		"the console's client": {
			"jwks_url: 'https://id.example/keys', " + both,
			"console: {oidc: {issuer: 'https://id.example', client_id: paylatch, redirect_url: 'https://pay.example/support/sign-in/callback'}}\n",
			"auth.audience: equals console.oidc.client_id", "auth.audience: equals console.oidc.client_id",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "database_url: postgres://db/x?sslmode=require\nencryption_keys: [{id: k1, key: " + encryptionKey + "}]\nauth: {" + tc.auth + "}\n" + tc.rest +
				"accounts: [{name: a, kind: stripe, api_key: sk_live_1}]\n"
			for environment, want := range map[string]string{config.Live: tc.live, config.Test: tc.test} {
				_, err := config.Load(write(t, "environment: "+environment+"\n"+text), nil)
				if want == "" {
					require.NoError(t, err, environment)
					continue
				}
				m := config.ValidationErrors{}
				require.ErrorAs(t, err, &m, environment)
				lines := strings.Split(want, "\n")
				require.Len(t, m, len(lines), "%v", m)
				for i, line := range lines {
					require.Contains(t, m[i], line, environment)
				}
			}
		})
	}
}

// TestServeKeysOnly: a service without a way to check tokens is started only if that is meant.
func TestServeKeysOnly(t *testing.T) {
	t.Parallel()
	const account = "accounts: [{name: a, kind: stripe, api_key: sk_live_1}]\n"
	rest, _, _ := strings.Cut(inLive, "auth:")
	c, err := config.Load(write(t, rest+account+"auth: {keys_only: true}\n"), nil)
	require.NoError(t, err)
	require.Equal(t, config.Live, c.Environment)
	require.Empty(t, c.Auth.Ring())
	for _, text := range []string{"", "auth: {keys_only: false}\n", "auth: {}\n"} {
		m := validationErrors(t, rest+account+text)
		require.Len(t, m, 1)
		require.Contains(t, m[0], "set keys_only")
	}
}

// TestCheckForTests: an account passes if its key or its address is of the provider's test mode, and its text never has the key.
func TestCheckForTests(t *testing.T) {
	t.Parallel()
	const key = "51SecretPart"
	for kind, tc := range map[string]struct{ live, test config.Account }{
		"adyen":         {account("adyen", "https://x-checkout-live.adyenpayments.com/checkout"), account("adyen", "")},
		"braintree":     {account("braintree", ""), account("braintree", "https://api.sandbox.braintreegateway.com")},
		"checkout":      {account("checkout", "", "api_key", "sk_"+key), account("checkout", "", "api_key", "sk_sbox_"+key)},
		"cloudpayments": {account("cloudpayments", "", "public_id", "pk_"+key), account("cloudpayments", "", "public_id", "test_api_"+key)},
		"comgate":       {account("comgate", "", "test_payments", "false"), account("comgate", "", "test_payments", "true")},
		"gocardless":    {account("gocardless", "", "api_key", "live_"+key), account("gocardless", "", "api_key", "sandbox_"+key)},
		"gopay":         {account("gopay", ""), account("gopay", "https://gw.sandbox.gopay.com")},
		"lemonsqueezy":  {account("lemonsqueezy", ""), account("lemonsqueezy", "", "test_payments", "true")},
		"mollie":        {account("mollie", "", "api_key", "live_"+key), account("mollie", "", "api_key", "test_"+key)},
		"paddle":        {account("paddle", "", "api_key", "pdl_live_"+key), account("paddle", "", "api_key", "pdl_sdbx_"+key)},
		"paypal":        {account("paypal", ""), account("paypal", "https://api-m.sandbox.paypal.com")},
		"razorpay":      {account("razorpay", "", "key_id", "rzp_live_"+key), account("razorpay", "", "key_id", "rzp_test_"+key)},
		"robokassa":     {account("robokassa", "", "test_payments", ""), account("robokassa", "", "test_payments", "true")},
		"sandbox":       {config.Account{}, account("sandbox", "http://127.0.0.1:9090")},
		"square":        {account("square", "https://connect.squareup.com"), account("square", "https://connect.squareupsandbox.com")},
		"standard":      {account("standard", "https://pay.example"), account("standard", "http://127.0.0.1:9090")},
		"stripe":        {account("stripe", "", "api_key", "rk_live_"+key), account("stripe", "", "api_key", "rk_test_"+key)},
		"tbank":         {account("tbank", "", "terminal_key", "1321054611234"), account("tbank", "", "terminal_key", "1321054611234DEMO")},
		"yookassa":      {account("yookassa", "", "api_key", "live_"+key), account("yookassa", "", "api_key", "test_"+key)},
	} {
		require.NoError(t, tc.test.CheckForTests(), kind)
		if kind == "sandbox" {
			continue
		}
		err := tc.live.CheckForTests()
		require.ErrorContains(t, err, "account a: ", kind)
		require.NotContains(t, err.Error(), key, kind)
	}
	err := account("stripe", "http://127.0.0.1:1", "api_key", "sk_live_"+key).CheckForTests()
	require.ErrorContains(t, err, "live mode", "whatever its address")
}

func account(kind, baseURL string, keys ...string) config.Account {
	a := config.NewAccount("a", kind)
	a.BaseURL, a.Fields = baseURL, map[string]config.Secret{}
	for i := 0; i < len(keys); i += 2 {
		a.Fields[keys[i]] = config.Secret(keys[i+1])
	}
	return a
}
