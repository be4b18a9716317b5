package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

// kindsRig is a service with an account of each kind, before one server that answers as the APIs of all providers.
type kindsRig struct {
	*rig

	service  *service
	api      *providersAPI
	accounts map[string]kindAccount
}

// kindAccount is an account as its configuration has it.
type kindAccount struct {
	Secrets   []string
	PublicURL string
	// Keys are keys that only some kinds have.
	Keys map[string]string

	sign func(*webhooks.Delivery) error
}

// kindAccounts are the accounts of all kinds, each named like its kind. Where a key has a form of its own in a
// provider's test mode, it has that.
func kindAccounts() map[string]kindAccount {
	const hook, hex = "whsec_a2luZHNraW5kc2tpbmRza2luZHNraW5kc2tpbmRz", "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"
	of := func(secret string, keys ...string) kindAccount {
		a := kindAccount{Keys: map[string]string{}}
		if secret != "" {
			a.Secrets = []string{secret}
		}
		for pair := range slices.Chunk(keys, 2) {
			a.Keys[pair[0]] = pair[1]
		}
		return a
	}
	square := of("square-signature-key", "api_key", "key")
	square.PublicURL = "https://pay.example/webhooks/square"
	return map[string]kindAccount{
		"adyen":         of(hex, "api_key", "key", "merchant_account", "TestMerchant"),
		"braintree":     of("private-key", "public_key", "public-key", "merchant_id", "merchant"),
		"checkout":      of("checkout-signature-key", "api_key", "sk_sbox_key"),
		"cloudpayments": of("api-secret", "public_id", "test_api_id"),
		"comgate":       of("shop-secret", "merchant", "123456"),
		"gocardless":    of("endpoint-secret", "api_key", "sandbox_key"),
		"gopay":         of("", "client_id", "id", "client_secret", "secret", "goid", "8123456789"),
		"lemonsqueezy":  of("signing-secret", "api_key", "key", "store_id", "101", "variant_id", "2002", "store_currency", "EUR", "test_payments", "true"),
		"mollie":        of("mollie-secret", "api_key", "test_key"),
		"paddle":        of("pdl_ntfset_key", "api_key", "pdl_sdbx_key"),
		"paypal":        of("", "client_id", "id", "client_secret", "secret", "webhook_id", paypalWebhook),
		"razorpay":      of("webhook-secret", "key_id", "rzp_test_key", "key_secret", "secret"),
		"robokassa":     of("password2", "merchant_login", "shop", "password1", "password1", "password3", "password3", "test_payments", "true"),
		"sandbox":       of(hook),
		"square":        square,
		"standard":      of(hook, "api_key", "test_key"),
		"stripe":        of("whsec_of_stripe", "api_key", "sk_test_key"),
		"tbank":         of("terminal-password", "terminal_key", "1321054611234DEMO"),
		"yookassa":      of("", "shop_id", "shop", "api_key", "test_key"),
	}
}

func newKindsRig(t *testing.T, environ ...string) *kindsRig {
	t.Helper()
	r := &kindsRig{rig: newRig(t), api: newProvidersAPI(t), accounts: kindAccounts()}
	paypal := newPayPalSigner(t)
	var configured []map[string]any
	for _, kind := range slices.Sorted(maps.Keys(r.accounts)) {
		a := r.accounts[kind]
		entry := map[string]any{"name": kind, "kind": kind, "base_url": r.api.URL, "breaker": map[string]int{"failures": 0}}
		if len(a.Secrets) > 0 {
			entry["webhook_secrets"] = a.Secrets
		}
		if a.PublicURL != "" {
			entry["public_url"] = a.PublicURL
		}
		for name, value := range a.Keys {
			entry[name] = value
		}
		switch kind {
		case "paypal":
			entry["cert_roots"], a.sign = paypal.roots, paypal.sign
		case "yookassa", "gopay":
			entry["allowed_ips"], a.sign = []string{"127.0.0.0/8"}, func(*webhooks.Delivery) error { return nil }
		default:
			a.sign = signerOf(t, kind, a)
		}
		r.accounts[kind] = a
		configured = append(configured, entry)
	}
	accounts, err := json.Marshal(configured)
	require.NoError(t, err)
	// Nothing but a webhook moves an attempt: the schedule's first lookup is hours away, and no account's books are due.
	for kind := range r.accounts {
		r.reconciled(t, kind)
	}
	r.service = r.serve(append(append(environ, paypal.environ...), "PAYLATCH_ACCOUNTS="+string(accounts), "PAYLATCH_RECONCILE_AFTER=10h")...)
	return r
}

// reconciled marks an account as compared with its books just now.
func (r *kindsRig) reconciled(t *testing.T, account string) {
	t.Helper()
	_, err := r.db.Exec(t.Context(), `INSERT INTO reconciliations (started_at, source, touched_at, account, finished_at, started_by, to_at, reconciliation_id, from_at)
		SELECT at, 'books', at, $1, at, $2, at, $3, at - interval '1 day' FROM (SELECT now() AS at) AS the_end`, account, reconcile.Daily, uuid.New())
	require.NoError(t, err)
}

// signerOf makes the provider's side of an account's signature.
func signerOf(t *testing.T, kind string, a kindAccount) func(*webhooks.Delivery) error {
	t.Helper()
	v, err := all.New(kind, webhooks.Config{Secrets: a.Secrets, PublicURL: a.PublicURL, Params: a.Keys})
	require.NoError(t, err)
	signer, ok := v.(webhooks.Signer)
	require.True(t, ok, kind)
	return func(d *webhooks.Delivery) error {
		switch kind {
		case "mollie":
			if !strings.HasPrefix(string(d.Body), "{") {
				return nil // the classic notice is not signed
			}
		case "sandbox", "standard":
			var event struct {
				ID string `json:"id"`
			}
			if err := json.Unmarshal(d.Body, &event); err != nil {
				return err
			}
			d.Header.Set("Webhook-Id", event.ID)
		}
		return signer.Sign(d)
	}
}

// providersAPI answers requests by the lines of the lives. It records requests that no life expects.
type providersAPI struct {
	*httptest.Server

	mu    sync.Mutex
	said  map[string]string
	never []string
}

func newProvidersAPI(t *testing.T) *providersAPI {
	t.Helper()
	p := &providersAPI{said: map[string]string{
		"POST /v1/oauth2/token":  `{"access_token":"token","token_type":"Bearer","expires_in":32400}`,
		"POST /api/oauth2/token": `{"access_token":"token","token_type":"bearer","expires_in":1800}`,
		"GET /v1/account":        `{"id":"acct_kinds"}`,
		"GET /v2/merchants/me":   `{"merchant":{"id":"seller"}}`,
		"GET /v2/profiles/me":    `{"resource":"profile","id":"pfl_kinds"}`,
	}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// answers sets the response to a request's line. A response that begins with a status is sent with that status.
func (p *providersAPI) answers(line, answer string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said[line] = answer
}

// ServeHTTP implements http.Handler.
func (p *providersAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sent, _ := io.ReadAll(r.Body)
	line := r.Method + " " + r.URL.Path
	p.mu.Lock()
	answer, known := p.said[line]
	if !known { // a name in a form or an object, not in the address
		answer, known = p.said[line+" "+named(string(sent))]
	}
	if !known {
		p.never = append(p.never, line+" "+string(sent))
	}
	p.mu.Unlock()
	status := http.StatusOK
	if code, rest, found := strings.Cut(answer, " "); found {
		if n, err := strconv.Atoi(code); err == nil {
			status, answer = n, rest
		}
	}
	if !known {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

// named is the payment that the body of a request names.
func named(body string) string {
	var object map[string]any
	if json.Unmarshal([]byte(body), &object) == nil {
		return fmt.Sprint(object["PaymentId"])
	}
	form, _ := url.ParseQuery(body)
	return form.Get("transId")
}

// unexpected are the requests that no life expects.
func (p *providersAPI) unexpected() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.never)
}

// body is the delivery's: the documented sample with the members that the life sets, as the provider writes it.
func (p *begun) body(t *testing.T, d telling) []byte {
	t.Helper()
	text := p.fill.Replace(d.body)
	if !strings.HasPrefix(text, "{") {
		return []byte(text)
	}
	var set any
	require.NoError(t, json.Unmarshal([]byte(text), &set), "%s", text)
	if d.sample != "" {
		set = merged(sampleOf(t, d.sample), set)
	}
	if members, isForm := set.(map[string]any)["form"].(map[string]any); isForm {
		return []byte(form(t, members))
	}
	text2, err := json.Marshal(set)
	require.NoError(t, err)
	return text2
}

// form encodes members as a form; an object becomes its text, and the members of "*" become fields.
func form(t *testing.T, members map[string]any) string {
	t.Helper()
	fields := url.Values{}
	for name, value := range members {
		switch v := value.(type) {
		case string:
			fields.Set(name, v)
		case map[string]any:
			for inner, text := range v {
				if name == "*" {
					fields.Set(inner, fmt.Sprint(text))
				}
			}
			if name != "*" {
				text, err := json.Marshal(v)
				require.NoError(t, err)
				fields.Set(name, string(text))
			}
		default:
			require.Fail(t, "not a field of a form", name)
		}
	}
	return fields.Encode()
}

// sampleOf reads a documented body, nil where the samples are not at hand: then only the members that the life sets are
// delivered.
func sampleOf(t *testing.T, name string) any {
	t.Helper()
	path, err := published.Find(t, published.Payloads, name)
	if err != nil {
		t.Logf("without the documented sample: %v", err)
		return nil
	}
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var sample any
	if strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".params.json") {
		return map[string]any{"form": formSample(t, name, string(raw))}
	}
	require.NoError(t, json.Unmarshal(raw, &sample), name)
	return sample
}

// formSample reads the documented fields of a form.
func formSample(t *testing.T, name, raw string) map[string]any {
	t.Helper()
	fields := map[string]any{}
	if strings.HasSuffix(name, ".json") {
		require.NoError(t, json.Unmarshal([]byte(raw), &fields), name)
		return fields
	}
	values, err := url.ParseQuery(strings.TrimSpace(raw))
	require.NoError(t, err, name)
	for field := range values {
		fields[field] = values.Get(field)
	}
	return fields
}

// merged is a sample with some values replaced: objects member by member, lists item by item.
func merged(sample, set any) any {
	switch s := set.(type) {
	case map[string]any:
		if of, ok := sample.(map[string]any); ok {
			all := maps.Clone(of)
			for name, value := range s {
				all[name] = merged(of[name], value)
			}
			return all
		}
	case []any:
		if of, ok := sample.([]any); ok && len(of) == len(s) {
			all := slices.Clone(of)
			for i, value := range s {
				all[i] = merged(of[i], value)
			}
			return all
		}
	}
	return set
}
