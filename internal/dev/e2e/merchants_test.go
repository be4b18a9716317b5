package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// merchantKeys are the keys that name the merchant, by kind. The kinds without one are in the reference of the configuration.
var merchantKeys = map[string]string{
	"adyen": "merchant_account", "braintree": "merchant_id", "checkout": "processing_channel_id", "cloudpayments": "public_id", "comgate": "merchant",
	"gocardless": "organisation", "gopay": "goid", "lemonsqueezy": "store_id", "mollie": "profile_id", "paypal": "merchant_id", "razorpay": "account_id",
	"robokassa": "merchant_login", "square": "merchant_id", "standard": "payee", "stripe": "account", "tbank": "terminal_key", "yookassa": "shop_id",
}

// merchantSecrets are the secrets that a rotation changes, by kind. Those of the other kinds are webhook_secrets.
var merchantSecrets = map[string]string{
	"adyen": "api_key", "checkout": "api_key", "gocardless": "api_key", "gopay": "client_secret", "lemonsqueezy": "api_key", "mollie": "api_key",
	"paypal": "client_secret", "razorpay": "key_secret", "robokassa": "password1", "square": "api_key", "standard": "api_key", "stripe": "api_key", "yookassa": "api_key",
}

// merchantAccounts are accounts of all kinds with a merchant, as lines of the configuration.
func merchantAccounts(t *testing.T, api, merchant, secret string) string {
	t.Helper()
	var lines strings.Builder
	all := kindAccounts()
	for _, kind := range slices.Sorted(maps.Keys(merchantKeys)) {
		entry := map[string]any{"name": "of-" + kind, "kind": kind, "base_url": api, "breaker": map[string]int{"failures": 0}}
		for name, text := range all[kind].Keys {
			entry[name] = text
		}
		if s := all[kind].Secrets; len(s) > 0 {
			entry["webhook_secrets"] = s
		}
		if all[kind].PublicURL != "" {
			entry["public_url"] = all[kind].PublicURL
		}
		if name := merchantSecrets[kind]; name != "" {
			entry[name] = fmt.Sprint(entry[name]) + secret
		} else {
			entry["webhook_secrets"] = []string{all[kind].Secrets[0] + secret}
		}
		entry[merchantKeys[kind]] = merchant
		text, err := json.Marshal(entry)
		require.NoError(t, err)
		_, _ = fmt.Fprintf(&lines, "  - %s\n", text)
	}
	return lines.String()
}

// endsWith runs a command with further accounts in the configuration, and returns its output.
func (r *rig) endsWith(t *testing.T, code int, accounts string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "paylatch.yaml")
	text := fmt.Sprintf(settings, r.dsn, dir, secret, r.gate.URL, sandboxSecret, stripeSecret, partnerSecret)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(text, "idempotency:", accounts+"idempotency:", 1)), 0o600))
	p := ended(t, nil, append(args, "--config", file)...)
	printed := p.stdout.String() + p.stderr.String()
	require.Equal(t, code, p.cmd.ProcessState.ExitCode(), printed)
	return printed
}

// TestAMerchantIsKept: while a payment of an account is open, another merchant behind the account is refused at SIGHUP and at the
// start, for each kind, and new secrets of the same merchant are taken. Once the payments are closed, the merchant may change.
func TestAMerchantIsKept(t *testing.T) {
	t.Parallel()
	r, api := newRig(t), newProvidersAPI(t)
	s := r.serve(leftAlone)
	const before, after = "70001", "70002"
	old, other, rotated := merchantAccounts(t, api.URL, before, ""), merchantAccounts(t, api.URL, after, ""), merchantAccounts(t, api.URL, before, "r")
	s.reload(t, readAgain, "idempotency:", old+"idempotency:")
	require.Len(t, column[string](t, r, "SELECT account FROM account_merchants WHERE account LIKE 'of-%'"), len(merchantKeys))
	open := map[string]string{}
	for kind := range merchantKeys {
		open[kind] = r.pendingAt(t, "of-"+kind, unique("pay"))
	}
	refused := func(printed string) {
		t.Helper()
		for kind, key := range merchantKeys {
			require.Contains(t, printed, "accounts: of-"+kind+": the configuration changes the account's merchant ("+key+" "+after+", it was "+before+"), "+
				"but the old merchant has open payments: 1, such as payment attempt "+open[kind])
		}
		require.Contains(t, printed, "add an account with a new name for the new merchant")
	}
	s.reload(t, notReadAgain, old, other)
	refused(s.stderr.String())
	require.Equal(t, []int{0}, column[int](t, r, "SELECT DISTINCT number::int FROM account_merchants"))
	refused(r.endsWith(t, 2, other, "serve"))
	refused(r.endsWith(t, 1, other, "doctor"))
	require.Contains(t, r.endsWith(t, 2, other, "reconcile", "--account", "of-stripe", "--from", "2026-01-01", "--to", "2026-01-02"), "use the service's configuration")

	s.reload(t, readAgain, other, rotated)
	r.exec(t, "UPDATE payment_attempts SET status = 'failed', stage = 'final', finalized_at = now(), failure_code = 'declined' WHERE account LIKE 'of-%'")
	r.exec(t, "UPDATE operations SET state = 'done', next_at = NULL WHERE account LIKE 'of-%'")
	s.reload(t, readAgain, rotated, other)
	require.Equal(t, []int{0, 1}, column[int](t, r, "SELECT DISTINCT number::int FROM account_merchants WHERE account LIKE 'of-%' ORDER BY 1"))
	require.NotContains(t, s.stderr.String(), "belong to an earlier merchant")
	s.stop(t, syscall.SIGTERM)
	file := s.cmd.Args[slices.Index(s.cmd.Args, "--config")+1]
	again := start(t, t.TempDir(), nil, "serve", "--config", file)
	again.says(t, "serving")
}

// TestAnOldMerchantsPayment: a refund of a payment of the merchant of before is refused, and is sent again by that merchant's
// configuration.
func TestAnOldMerchantsPayment(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve(leftAlone)
	s.reload(t, readAgain, "idempotency:", fmt.Sprintf("  - {name: shop, kind: standard, base_url: %q, api_key: key, payee: one, webhook_secrets: [%s], offered: true}\nidempotency:",
		r.gate.URL, sandboxSecret))
	c := s.customer()
	paid := c.send(t.Context(), http.MethodPost, "/v1/orders/"+c.order(t)+"/pay", `{"account":"shop","payment_method":{"token":"tok_success"}}`,
		"Idempotency-Key: "+unique("pay")).attempt(t, http.StatusCreated)
	require.Equal(t, "succeeded", paid.Status)
	s.reload(t, readAgain, "payee: one", "payee: two")
	shop, key := s.as(token("shop", "service")), unique("refund")
	refund := func() answer {
		return shop.send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+paid.ID+"/refunds", "{}", "Idempotency-Key: "+key, "On-Behalf-Of: u1")
	}
	p := refund().problem(t, http.StatusUnprocessableEntity, "validation-failed")
	require.Contains(t, fmt.Sprint(p), "belongs to another merchant")
	require.Len(t, r.ledger(t, paid.ID), 1)
	s.reload(t, readAgain, "payee: two", "payee: one")
	refund().is(t, http.StatusCreated)
	require.Len(t, r.ledger(t, paid.ID), 2)
}

// TestAMerchantThatItsProviderNames: Stripe names the merchant of a key. A new key of the same merchant is taken. If Stripe does not
// respond at the start, a key of another merchant sends nothing.
func TestAMerchantThatItsProviderNames(t *testing.T) {
	t.Parallel()
	r, api := newRig(t), newProvidersAPI(t)
	account := func(key string) string {
		return fmt.Sprintf("  - {name: shop, kind: stripe, base_url: %q, api_key: %s, webhook_secrets: [whsec_1], offered: true, breaker: {failures: 0}}\n", api.URL, key)
	}
	s := r.serve(leftAlone)
	api.answers("GET /v1/account", `{"id":"acct_1"}`)
	s.reload(t, readAgain, "idempotency:", account("sk_test_one")+"idempotency:")
	id := r.pendingAt(t, "shop", "pi_1")
	s.reload(t, readAgain, "sk_test_one", "sk_test_two")
	api.answers("GET /v1/account", `{"id":"acct_2"}`)
	s.reload(t, notReadAgain, "sk_test_two", "sk_test_other")
	eventually(t, "the refusal", func() bool {
		found := strings.Contains(s.stderr.String(), "(account acct_2, it was acct_1), but the old merchant has open payments: 1, such as payment attempt "+id)
		if !found {
			s.signal(syscall.SIGHUP) // the provider did not respond in time
		}
		return found
	})
	require.Contains(t, r.endsWith(t, 2, account("sk_test_other"), "serve"), "(account acct_2, it was acct_1)")
	api.answers("GET /v1/account", `500 {}`)
	s.reload(t, notReadAgain, "sk_test_other", "sk_test_third")
	require.Contains(t, s.stderr.String(), "the provider did not confirm their merchant: send SIGHUP again")
	s.stop(t, syscall.SIGTERM)

	file := s.cmd.Args[slices.Index(s.cmd.Args, "--config")+1]
	p := start(t, t.TempDir(), []string{leftAlone}, "serve", "--config", file)
	s = &service{p, "http://" + p.says(t, "serving").Listen}
	require.Contains(t, s.stderr.String(), "paylatch asks again before the first call")
	api.answers("GET /v1/account", `{"id":"acct_2"}`)
	c := s.customer()
	a := c.send(t.Context(), http.MethodPost, "/v1/orders/"+c.order(t)+"/pay", `{"account":"shop","payment_method":{"token":"pm_card_visa"}}`,
		"Idempotency-Key: "+unique("pay")).attempt(t, http.StatusCreated)
	require.Equal(t, "failed", a.Status)
	for _, line := range api.unexpected() {
		require.NotContains(t, line, "payment_intents")
	}
}
