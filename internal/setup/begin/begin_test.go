package begin_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/setup/begin"
	"github.com/paylatch/paylatch/internal/setup/config"
	"github.com/paylatch/paylatch/internal/setup/doctor"
)

// testKeys are keys in the form of the test mode, where it has one; all other keys have any value.
func testKeys() map[string]string {
	return map[string]string{
		"stripe.api_key": "sk_test_key", "mollie.api_key": "test_key", "yookassa.api_key": "test_key", "checkout.api_key": "sk_sbox_key",
		"gocardless.api_key": "sandbox_key", "paddle.api_key": "pdl_sdbx_key", "razorpay.key_id": "rzp_test_key",
		"cloudpayments.public_id": "test_api_id", "tbank.terminal_key": "1321054611234DEMO", "store_id": "101", "variant_id": "2002", "store_currency": "EUR",
		"base_url": "http://127.0.0.1:9090",
	}
}

// account returns an account of a kind with all keys that calls need.
func account(kind string) begin.Account {
	a := begin.Account{Kind: kind, Name: kind, Keys: map[string]string{}, Listen: "127.0.0.1:8080"}
	for _, key := range a.Credentials() {
		a.Keys[key.Name] = "it's a $value of " + key.Name
		for _, name := range []string{key.Name, kind + "." + key.Name} {
			if value, has := testKeys()[name]; has {
				a.Keys[key.Name] = value
			}
		}
	}
	return a
}

// proofOf is a provider's value of a key of webhooks.
func proofOf(kind string) string {
	switch kind {
	case "adyen":
		return "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"
	case "standard", "sandbox":
		return "whsec_a2luZHNraW5kc2tpbmRza2luZHNraW5kc2tpbmRz"
	}
	return "whsec_of_the_provider"
}

// loaded reads written files as the service does.
func loaded(t *testing.T, file string, environ ...string) *config.Config {
	t.Helper()
	environ, err := begin.Environ(environ, begin.EnvironmentFile(file))
	require.NoError(t, err)
	cfg, err := config.Load(file, environ)
	require.NoError(t, err)
	return cfg
}

// TestEveryKindIsWritten: of each kind the service takes the written configuration, with the provider's webhook secret and with a
// made-up one, and the doctor finds nothing in it.
func TestEveryKindIsWritten(t *testing.T) {
	t.Parallel()
	for kind := range provider.Kinds() {
		for _, known := range []bool{true, false} {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				a := account(kind)
				a.DatabaseURL = "postgres://u:p'w@127.0.0.1/test"
				answers := ""
				if known {
					answers = strings.Repeat(proofOf(kind)+"\n", len(a.Proofs()))
				}
				file := filepath.Join(t.TempDir(), "paylatch.yaml")
				require.NoError(t, a.Prompt(t.Context(), begin.NewDialog(strings.NewReader(answers), io.Discard)))
				require.NoError(t, a.Write(file, false, nil))
				for _, path := range []string{file, begin.EnvironmentFile(file)} {
					info, err := os.Stat(path)
					require.NoError(t, err)
					require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
				}
				cfg := loaded(t, file)
				require.Equal(t, "test", cfg.Environment)
				require.Equal(t, a.DatabaseURL, string(cfg.DatabaseURL))
				require.Len(t, cfg.EncryptionKeys[0].Bytes(), 32)
				require.GreaterOrEqual(t, len(cfg.Auth.HS256[0].Secret), 32)
				require.True(t, cfg.Accounts[0].CanCharge())
				require.True(t, cfg.Accounts[0].TakesWebhooks())
				for _, key := range a.Credentials() {
					if value := cfg.Accounts[0].Fields[key.Name]; value != "" {
						require.Equal(t, a.Keys[key.Name], string(value))
					}
				}
				for key, value := range a.Trial().Params {
					require.Equal(t, value, string(cfg.Accounts[0].Fields[key]))
				}
				if a.Trial().BaseURL != "" {
					require.Equal(t, a.Trial().BaseURL, cfg.Accounts[0].BaseURL)
				}
				if known && len(a.Proofs()) > 0 {
					require.Contains(t, append([]config.Secret{cfg.Accounts[0].Fields["webhook_id"]}, cfg.Accounts[0].WebhookSecrets...), config.Secret(proofOf(kind)))
				}
				checks := doctor.OfConfig(cfg, &http.Client{}, time.Now)
				require.Equal(t, "configuration", checks[0].Name)
				require.Empty(t, checks[0].Run(t.Context()))
			})
		}
	}
}

// TestSecretsAreInTheEnvironment: the configuration itself holds no secret, and keeps references as they are.
func TestSecretsAreInTheEnvironment(t *testing.T) {
	t.Parallel()
	a := account("stripe")
	a.Keys["api_key"], a.DatabaseURL = "sk_test_51Secret", "postgres://u:hidden@127.0.0.1/test"
	a.Complete()
	files := a.Files("paylatch.env", nil)
	for _, secret := range []string{"sk_test_51Secret", "hidden", a.Keys["webhook_secrets"]} {
		require.NotContains(t, files.Config, secret)
		require.Contains(t, files.Environment, secret)
	}
	a.Keys["api_key"] = "${STRIPE_KEY}"
	files = a.Files("paylatch.env", nil)
	require.Contains(t, files.Config, `api_key: "${STRIPE_KEY}"`)
	require.NotContains(t, files.Environment, "STRIPE_KEY")
}

// TestAShellReadsTheEnvironment as the program does.
func TestAShellReadsTheEnvironment(t *testing.T) {
	t.Parallel()
	a := account("paypal")
	a.Keys["client_secret"] = `it's "a" $HOME \n #value`
	a.Complete()
	file := filepath.Join(t.TempDir(), "paylatch.yaml")
	require.NoError(t, a.Write(file, false, nil))
	out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", `. "$0"; printf %s "$PAYPAL_CLIENT_SECRET"`, begin.EnvironmentFile(file)).CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, a.Keys["client_secret"], string(out))
	require.Equal(t, a.Keys["client_secret"], string(loaded(t, file, "PAYLATCH_DATABASE_URL=postgres://u@127.0.0.1/test").Accounts[0].Fields["client_secret"]))
}

// TestForceKeepsTheKeys: files are overwritten only by force, and keep the keys with which a database is encrypted.
func TestForceKeepsTheKeys(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "paylatch.yaml")
	first := account("stripe")
	first.Complete()
	require.NoError(t, first.Write(file, false, nil))
	before, err := begin.ReadEnvironment(begin.EnvironmentFile(file))
	require.NoError(t, err)
	text, err := os.ReadFile(file)
	require.NoError(t, err)

	second := account("square")
	second.Complete()
	require.ErrorIs(t, second.Write(file, false, nil), begin.ErrExists)
	require.NoError(t, os.Remove(file))
	require.ErrorIs(t, second.Write(file, false, nil), begin.ErrExists, "the secrets are there")
	require.NoFileExists(t, file)
	require.NoError(t, os.WriteFile(file, text, 0o644))

	require.NoError(t, second.Write(file, true, nil))
	after, err := begin.ReadEnvironment(begin.EnvironmentFile(file))
	require.NoError(t, err)
	require.Equal(t, before["ENCRYPTION_KEY"], after["ENCRYPTION_KEY"])
	require.Equal(t, before["HS256_SECRET"], after["HS256_SECRET"])
	require.NotContains(t, after, "STRIPE_API_KEY")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, left, 2, "nothing else is left there")
}

// liveAccounts are accounts of real money of each kind that has such accounts: keys of the live mode, or the live address.
func liveAccounts() map[string]map[string]string {
	return map[string]map[string]string{
		"adyen":         {"base_url": "https://prefix-checkout-live.adyenpayments.com/checkout"},
		"braintree":     {"base_url": "https://api.braintreegateway.com"},
		"checkout":      {"api_key": "sk_51Secret"},
		"cloudpayments": {"public_id": "pk_51Secret"},
		"comgate":       {"test_payments": "false"},
		"gocardless":    {"api_key": "live_51Secret"},
		"gopay":         {"base_url": "https://gate.gopay.cz"},
		"lemonsqueezy":  {"test_payments": "false"},
		"mollie":        {"api_key": "live_51Secret"},
		"paddle":        {"api_key": "pdl_live_51Secret"},
		"paypal":        {"base_url": "https://api-m.paypal.com"},
		"razorpay":      {"key_id": "rzp_live_51Secret"},
		"robokassa":     {"test_payments": "false"},
		"square":        {"base_url": "https://connect.squareup.com"},
		"stripe":        {"api_key": "sk_live_51Secret"},
		"tbank":         {"terminal_key": "1321054611234"},
		"yookassa":      {"api_key": "live_51Secret"},
	}
}

// TestLiveAccountsAreRefused: of each kind, init writes no configuration of an account that may move real money.
func TestLiveAccountsAreRefused(t *testing.T) {
	t.Parallel()
	live := liveAccounts()
	for kind, k := range provider.Kinds() {
		keys, has := live[kind]
		if kind == "sandbox" || kind == "standard" {
			require.False(t, has, kind)
			continue
		}
		require.NotEmpty(t, keys, kind)
		a := account(kind)
		maps.Copy(a.Keys, keys)
		a.Complete()
		file := filepath.Join(t.TempDir(), "paylatch.yaml")
		err := a.Write(file, false, nil)
		require.ErrorAs(t, err, new(config.ValidationErrors), kind)
		require.ErrorContains(t, err, k.About.Name, kind)
		if k.Adapter.TestForm != nil {
			require.ErrorContains(t, err, k.Adapter.TestKey+": is not a test-mode key of", kind)
		}
		require.NotContains(t, err.Error(), "51Secret", kind)
		require.NoFileExists(t, file)
		require.NoFileExists(t, begin.EnvironmentFile(file))
	}
}

// TestAnyProviderOfTheContract may be tried, since only the operator knows its mode, unless its key has the form of a live one.
func TestAnyProviderOfTheContract(t *testing.T) {
	t.Parallel()
	for key, refused := range map[string]bool{"key_1": false, "sk_live_51Secret": true} {
		a := account("standard")
		a.Keys["base_url"], a.Keys["api_key"] = "https://pay.example", key
		a.Complete()
		err := a.Write(filepath.Join(t.TempDir(), "paylatch.yaml"), false, nil)
		require.Equal(t, refused, err != nil, "%s: %v", key, err)
	}
}

func TestDialog(t *testing.T) {
	t.Parallel()
	t.Run("answers", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		a := begin.Account{Listen: "127.0.0.1:8080"}
		require.NoError(t, a.Prompt(t.Context(), begin.NewDialog(strings.NewReader("strip\nstripe\nsk_test_1\n\nwhsec_x\n"), &out)))
		require.Equal(t, begin.Account{
			Kind: "stripe", Name: "stripe", Listen: "127.0.0.1:8080", Keys: map[string]string{"api_key": "sk_test_1", "webhook_secrets": "whsec_x"},
		}, a)
		require.Contains(t, out.String(), "stripe listen --forward-to http://127.0.0.1:8080/webhooks/stripe\n")
	})
	t.Run("no terminal", func(t *testing.T) {
		t.Parallel()
		a := begin.Account{}
		require.EqualError(t, a.Prompt(t.Context(), begin.NewDialog(nil, io.Discard)), "missing: --kind; set the flags, or run the command in a terminal, which asks for missing values")
		a = begin.Account{Kind: "adyen"}
		require.EqualError(t, a.Prompt(t.Context(), begin.NewDialog(nil, io.Discard)), "missing: --set api_key=…, --set merchant_account=…; set the flags, or run the command in a terminal, which asks for missing values")
		a = begin.Account{Kind: "strip"}
		require.ErrorIs(t, a.Prompt(t.Context(), begin.NewDialog(nil, io.Discard)), begin.ErrKind)
	})
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		ctx, interrupt := context.WithCancel(t.Context())
		in, typing := io.Pipe()
		t.Cleanup(func() { _ = typing.Close() })
		interrupt()
		a := begin.Account{}
		require.ErrorIs(t, a.Prompt(ctx, begin.NewDialog(in, io.Discard)), begin.ErrStopped)
	})
	t.Run("a tunnel", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		a := account("square")
		a.PublicURL = "https://abc.tunnel.example/"
		require.NoError(t, a.Prompt(t.Context(), begin.NewDialog(nil, &out)))
		require.Equal(t, "https://abc.tunnel.example/webhooks/square", a.Keys["public_url"])
		require.Equal(t, []string{"webhook_secrets"}, a.MadeUp)
		require.Contains(t, out.String(), "The address of the account's endpoint is https://abc.tunnel.example/webhooks/square\n")
	})
}
