package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/setup/config"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

const base = needed + "auth: {hs256_secret: " + secret + "}\naccounts:\n"

func TestAccountMistakes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		accounts string
		want     config.ValidationErrors
	}{
		"name":                {"- {name: A_1, kind: stripe, api_key: k}", config.ValidationErrors{"accounts[0].name: must be 1 to 64 of a–z, 0–9 and -"}},
		"no name":             {"- {kind: stripe, api_key: k}", config.ValidationErrors{"accounts[0].name: must be 1 to 64 of a–z, 0–9 and -"}},
		"name twice":          {"- {name: a, kind: stripe, api_key: k}\n- {name: a, kind: standard, webhook_secrets: [" + webhook + "]}", config.ValidationErrors{"accounts[1].name: an earlier account has the same name; choose another"}},
		"useless":             {"- {name: a, kind: stripe}", config.ValidationErrors{"accounts[0]: can neither receive webhooks nor charge: the kind stripe needs webhook_secrets to receive webhooks, api_key to charge"}},
		"half":                {"- {name: a, kind: adyen, api_key: k}", config.ValidationErrors{"accounts[0].merchant_account: is required with api_key"}},
		"half, three":         {"- {name: a, kind: gopay, client_id: c}", config.ValidationErrors{"accounts[0].client_secret: is required with client_id", "accounts[0].goid: is required with client_id"}},
		"connect alone":       {"- {name: a, kind: stripe, api_key: k, connect: direct}", config.ValidationErrors{"accounts[0].account: is required with connect"}},
		"connect":             {"- {name: a, kind: stripe, api_key: k, account: acct_1, connect: destination}", config.ValidationErrors{"accounts[0].connect: must be one of direct"}},
		"payee by e-mail":     {"- {name: a, kind: paypal, client_id: c, client_secret: s, payee_email: shop@shop.example}", config.ValidationErrors{"accounts[0].merchant_id: is required with payee_email"}},
		"shared":              {"- {name: a, kind: cloudpayments, public_id: p}", config.ValidationErrors{"accounts[0].webhook_secrets: is required with public_id"}},
		"address":             {"- {name: a, kind: square, webhook_secrets: [s]}", config.ValidationErrors{"accounts[0].public_url: is required with webhook_secrets"}},
		"of another":          {"- {name: a, kind: stripe, api_key: k, shop_id: s}", config.ValidationErrors{"accounts[0].shop_id: is not a key of the kind stripe; remove it"}},
		"secret for GET":      {"- {name: a, kind: yookassa, api_key: k, shop_id: s, webhook_secrets: [x]}", config.ValidationErrors{"accounts[0].webhook_secrets: is not a key of the kind yookassa; remove it"}},
		"basic auth":          {"- {name: a, kind: adyen, webhook_secrets: [0a], basic_auth: {user: u}}", config.ValidationErrors{"accounts[0].basic_auth: needs both user and password"}},
		"basic auth, a text":  {"- {name: a, kind: adyen, webhook_secrets: [0a], basic_auth: u}", config.ValidationErrors{"accounts[0].basic_auth: must be a mapping (key: value)"}},
		"basic auth, a slip":  {"- {name: a, kind: adyen, webhook_secrets: [0a], basic_auth: {user: u, password: p, pasword: p}}", config.ValidationErrors{"accounts[0].basic_auth.pasword: no such key; did you mean password?"}},
		"basic auth, of none": {"- {name: a, kind: stripe, api_key: k, basic_auth: {user: u, password: p}}", config.ValidationErrors{"accounts[0].basic_auth: is not a key of the kind stripe; remove it"}},
		"a list":              {"- {name: a, kind: stripe, api_key: [k], webhook_secrets: [s]}", config.ValidationErrors{"accounts[0].api_key: must be a single value"}},
		"refunds nothing":     {"- {name: a, kind: stripe, webhook_secrets: [s], late_success: auto_refund}", config.ValidationErrors{"accounts[0].late_success: must be manual: paylatch can't send refunds for this account, because its kind does not support refunds or the keys for calls are missing"}},
		"late":                {"- {name: a, kind: stripe, api_key: k, late_success: auto}", config.ValidationErrors{"accounts[0].late_success: must be one of manual, auto_refund"}},
		"foreign":             {"- {name: a, kind: stripe, api_key: k, foreign: counts}", config.ValidationErrors{"accounts[0].foreign: must be one of count, review; did you mean count?"}},
		"foreign, at once":    {"- {name: a, kind: stripe, api_key: k, foreign_after: 0s}", config.ValidationErrors{"accounts[0].foreign_after: must be longer than 0 and at most 720h, such as 10m"}},
		"foreign, too late":   {"- {name: a, kind: stripe, api_key: k, foreign_after: 721h}", config.ValidationErrors{"accounts[0].foreign_after: must be longer than 0 and at most 720h, such as 10m"}},
		"enabled":             {"- {name: a, kind: stripe, api_key: k, enabled: pay}", config.ValidationErrors{"accounts[0].enabled: must be one of pays, webhooks, all; did you mean pays?"}},
		"pays, of none":       {"- {name: a, kind: standard, webhook_secrets: [" + webhook + "], enabled: pays}", config.ValidationErrors{"accounts[0].enabled: must not be pays: the account can't charge"}},
		"capture":             {"- {name: a, kind: adyen, webhook_secrets: [0a], capture: auto}", config.ValidationErrors{"accounts[0].capture: must be one of manual, automatic"}},
		"currency":            {"- {name: a, kind: tbank, terminal_key: k, webhook_secrets: [s], currency: rub}", config.ValidationErrors{"accounts[0].currency: must be a currency of ISO 4217 in upper case, such as RUB"}},
		"no currency":         {"- {name: a, kind: robokassa, merchant_login: k, password1: p, webhook_secrets: [s], currency: ZZZ}", config.ValidationErrors{"accounts[0].currency: must be a currency of ISO 4217 in upper case, such as RUB"}},
		"url":                 {"- {name: a, kind: stripe, api_key: k, base_url: 'localhost:1'}", config.ValidationErrors{"accounts[0].base_url: must be an address that begins with https:// or http://"}},
		"roots":               {"- {name: a, kind: standard, webhook_secrets: [whsec_no]}", config.ValidationErrors{"accounts[0]: can't verify webhooks: "}},
		"unknown key":         {"- {name: a, kind: stripe, apikey: k, api_key: k}", config.ValidationErrors{"accounts[0].apikey: no such key; did you mean api_key?"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := validationErrors(t, base+tc.accounts)
			require.Len(t, m, len(tc.want), "%v", m)
			for i := range m {
				require.Contains(t, m[i], tc.want[i])
			}
		})
	}
}

// An account that only receives webhooks may name its merchant. A key for calls still needs the other keys for calls.
func TestAMerchantBesideWebhooks(t *testing.T) {
	t.Parallel()
	const robokassa = base + "- {name: a, kind: robokassa, webhook_secrets: [p2], hash: sha256, merchant_login: shop"
	c, err := config.Load(write(t, robokassa+"}"), nil)
	require.NoError(t, err)
	require.True(t, c.Accounts[0].TakesWebhooks())
	require.False(t, c.Accounts[0].CanCharge())
	require.Equal(t, config.ValidationErrors{"accounts[0].merchant_login: is required with password1"},
		validationErrors(t, base+"- {name: a, kind: robokassa, webhook_secrets: [p2], password1: p1}"))
}

// Every payment of ours bears a mark, whoever begins it: events without one are counted.
func TestForeignByKind(t *testing.T) {
	t.Parallel()
	for kind := range provider.Kinds() {
		a := config.NewAccount("a", kind)
		require.Equal(t, 10*time.Minute, a.ForeignAfter)
		require.False(t, a.ReviewsForeign(), kind)
		a.Foreign = "count"
		require.False(t, a.ReviewsForeign(), kind)
		a.Foreign = "review"
		require.True(t, a.ReviewsForeign(), kind)
	}
}

func TestDefaultAccount(t *testing.T) {
	t.Parallel()
	two := base + "- {name: shop, kind: stripe, api_key: k}\n- {name: b, kind: stripe, api_key: k}\n- {name: in, kind: standard, webhook_secrets: [" + webhook + "]}\n"
	require.Equal(t, config.ValidationErrors{"default_account: several accounts can charge; choose one of shop, b"}, validationErrors(t, two))
	require.Equal(t, config.ValidationErrors{"default_account: is not among the accounts (shop, b, in); did you mean shop?"}, validationErrors(t, two+"default_account: shp"))
	require.Equal(t, config.ValidationErrors{"default_account: the account can't charge: it needs webhook_secrets to receive webhooks, base_url and api_key to charge"}, validationErrors(t, two+"default_account: in"))
	wrong := validationErrors(t, two+"- {name: c, kind: nothing}\ndefault_account: shp")
	require.Len(t, wrong, 2, "the account and the default")
	require.Contains(t, wrong, "default_account: is not among the accounts (shop, b, in, c); did you mean shop?")
	require.Len(t, validationErrors(t, two+"- {name: C, kind: stripe, api_key: k}\ndefault_account: c"), 1, "the name alone")

	c, err := config.Load(write(t, two+"default_account: b"), nil)
	require.NoError(t, err)
	require.Equal(t, "b", c.DefaultAccount)

	c, err = config.Load(write(t, base+"- {name: in, kind: standard, webhook_secrets: ["+webhook+"]}"), nil)
	require.NoError(t, err)
	require.Empty(t, c.DefaultAccount, "nobody can charge")
}

func TestWhatAnAccountCanDo(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		account       config.Account
		charge, hooks bool
	}{
		"stripe, both":   {config.Account{Kind: "stripe", Fields: map[string]config.Secret{"api_key": "k"}, WebhookSecrets: []config.Secret{"s"}}, true, true},
		"stripe, polled": {config.Account{Kind: "stripe", Fields: map[string]config.Secret{"api_key": "k"}}, true, false},
		"standard":       {config.Account{Kind: "standard", WebhookSecrets: []config.Secret{"s"}}, false, true},
		"standard, both": {config.Account{Kind: "standard", BaseURL: "https://x", Fields: map[string]config.Secret{"api_key": "k"}, WebhookSecrets: []config.Secret{"s"}}, true, true},
		"yookassa":       {config.Account{Kind: "yookassa", Fields: map[string]config.Secret{"api_key": "k", "shop_id": "1"}}, true, true},
		"mollie classic": {config.Account{Kind: "mollie", Fields: map[string]config.Secret{"api_key": "k"}}, true, true},
		"unknown":        {config.Account{Kind: "x", Fields: map[string]config.Secret{"api_key": "k"}}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.charge, tc.account.CanCharge())
			require.Equal(t, tc.hooks, tc.account.TakesWebhooks())
		})
	}
}

func TestWebhooksConfig(t *testing.T) {
	t.Parallel()
	a := config.Account{
		Kind: "adyen", WebhookSecrets: []config.Secret{"one", "two"}, PublicURL: "https://shop.example",
		Fields: map[string]config.Secret{"api_key": "never", "client_secret": "never", "merchant_account": "never", "basic_auth.user": "u", "basic_auth.password": "p"},
	}
	c, err := a.Webhooks()
	require.NoError(t, err)
	require.Equal(t, webhooks.Config{
		Secrets: []string{"one", "two"}, PublicURL: "https://shop.example",
		Params: map[string]string{"basic_auth.user": "u", "basic_auth.password": "p"},
	}, c)

	roots := filepath.Join(t.TempDir(), "roots.pem")
	a.Fields["cert_roots"] = config.Secret(roots)
	_, err = a.Webhooks()
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(roots, []byte("nothing"), 0o600))
	_, err = a.Webhooks()
	require.ErrorContains(t, err, "no certificate")
}

// complete has an account of each kind that can do everything.
func complete() map[string]string {
	return map[string]string{
		"sandbox":       "base_url: 'http://127.0.0.1:9090', webhook_secrets: [" + webhook + "]",
		"standard":      "base_url: 'http://127.0.0.1:9091', api_key: k, webhook_secrets: [" + webhook + "]",
		"stripe":        "api_key: k, webhook_secrets: [whsec_x]",
		"adyen":         "api_key: k, merchant_account: M, webhook_secrets: [44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056], basic_auth: {user: u, password: p}",
		"paypal":        "client_id: c, client_secret: s, webhook_id: 1JE4291016473214C",
		"yookassa":      "shop_id: 123, api_key: k",
		"cloudpayments": "public_id: pk_1, webhook_secrets: [s], currency: KZT",
		"tbank":         "terminal_key: 0012, webhook_secrets: [s]",
		"robokassa":     "merchant_login: shop, password1: p, password3: q, taxation: osn, test_payments: true, hash: sha256, webhook_secrets: [s]",
		"mollie":        "api_key: live_k, webhook_secrets: [s]",
		"square":        "api_key: k, public_url: 'https://shop.example/webhooks/a', webhook_secrets: [s]",
		"razorpay":      "key_id: rzp_test_1, key_secret: s, webhook_secrets: [s]",
		"checkout":      "api_key: k, authorization: a, webhook_secrets: [s]",
		"gocardless":    "api_key: k, webhook_secrets: [s]",
		"paddle":        "api_key: k, webhook_secrets: [pdl_ntfset_1]",
		"braintree":     "merchant_id: m, public_key: p, webhook_secrets: [s]",
		"comgate":       "merchant: 1, webhook_secrets: [s]",
		"gopay":         "client_id: c, client_secret: s, goid: 8123",
		"lemonsqueezy":  "api_key: k, store_id: 101, variant_id: 2002, store_currency: EUR, webhook_secrets: [secret1]",
	}
}

func TestEveryKindCanBeConfigured(t *testing.T) {
	t.Parallel()
	for kind, fields := range complete() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c, err := config.Load(write(t, base+"- {name: a, kind: "+kind+", "+fields+"}"), nil)
			require.NoError(t, err)
			require.True(t, c.Accounts[0].TakesWebhooks())
			require.True(t, c.Accounts[0].CanCharge())

			m := validationErrors(t, base+"- {name: a, kind: "+kind+"}")
			require.Contains(t, m[0], "accounts[0]: can neither receive webhooks nor charge: the kind "+kind+" needs ")
		})
	}
}

// A kind at which no payment can be begun yet is no choice for a pay that names no account.
func TestOnlyWhatHasAnAdapterIsADefaultAccount(t *testing.T) {
	t.Parallel()
	for kind, fields := range complete() {
		c, err := config.Load(write(t, base+"- {name: shop, kind: stripe, api_key: k}\n- {name: a, kind: "+kind+", "+fields+"}"), nil)
		_, none := provider.New(kind, kit.Settings{})
		if !errors.Is(none, provider.ErrNoAdapter) {
			require.ErrorContains(t, err, "several accounts can charge", kind)
		} else {
			require.NoError(t, err, kind)
			require.Equal(t, "shop", c.DefaultAccount, kind)
			m := validationErrors(t, base+"- {name: a, kind: "+kind+", "+fields+"}\ndefault_account: a\n")
			require.Len(t, m, 1, kind)
			require.Contains(t, m[0], "default_account: the account ", kind)
		}
	}
}

func TestEveryVerifierHasAKind(t *testing.T) {
	t.Parallel()
	for _, name := range all.Kinds() {
		require.Contains(t, complete(), name)
	}
}

func TestLive(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for key, want := range map[string]*bool{
		"sk_live_test_1": &yes, "rk_test_live_1": &no, "live_x": &yes, "test_x": &no, "pdl_sdbx_apikey_1": &no,
		"": nil, "AQEyhmfxK_test_": nil, "whatever": nil,
	} {
		require.Equal(t, want, config.Account{Fields: map[string]config.Secret{"api_key": config.Secret(key)}}.Live(), key)
	}
	require.Equal(t, &no, config.Account{Fields: map[string]config.Secret{"key_id": "rzp_test_1"}}.Live())
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	a := config.Account{Fields: map[string]config.Secret{"client_id": "c", "client_secret": "s", "goid": "8", "api_key": "k"}, WebhookSecrets: []config.Secret{"one", "two"}, PublicURL: "https://shop.example"}
	require.Equal(t, map[string]string{"client_id": "c", "client_secret": "s", "goid": "8", "api_key": "k", "webhook_secret": "one", "public_url": "https://shop.example"}, a.Credentials())
}

// TestVerification: it changes with each setting that affects verification, and with no other setting.
func TestVerification(t *testing.T) {
	t.Parallel()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	text := func(change func(a *config.Account)) string {
		a := config.Account{
			Kind: "adyen", WebhookSecrets: []config.Secret{"one", "two"},
			Fields: map[string]config.Secret{"api_key": "key", "basic_auth.user": "u", "basic_auth.password": "p"},
		}
		change(&a)
		v, err := a.Verification()
		require.NoError(t, err)
		return string(v)
	}
	was := text(func(*config.Account) {})
	require.Equal(t, was, text(func(a *config.Account) { a.Fields["api_key"], a.LateSuccess, a.Name = "another", "auto_refund", "b" }))
	for name, change := range map[string]func(a *config.Account){
		"kind":       func(a *config.Account) { a.Kind = "stripe" },
		"secret":     func(a *config.Account) { a.WebhookSecrets[1] = "three" },
		"order":      func(a *config.Account) { a.WebhookSecrets = []config.Secret{"two", "one"} },
		"public_url": func(a *config.Account) { a.PublicURL = "https://shop.example" },
		"tolerance":  func(a *config.Account) { a.Tolerance = time.Hour },
		"field":      func(a *config.Account) { a.Fields["basic_auth.password"] = "q" },
	} {
		require.NotEqual(t, was, text(change), name)
	}
	_, err := config.Account{Kind: "paypal", Fields: map[string]config.Secret{"cert_roots": config.Secret(roots)}}.Verification()
	require.ErrorIs(t, err, os.ErrNotExist)
}
