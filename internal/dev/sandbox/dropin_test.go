package sandbox_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
)

// form is a charge as its drop-in is shown it.
type form struct {
	ID, Status, Currency string
	Confirmed            bool
	Amount               int64
	FailureMessage       *string                     `json:"failure_message"`
	NextAction           *struct{ Type, URL string } `json:"next_action"`
}

// open creates a charge for the drop-in, as a shop's backend does, and returns its secret.
func (r *env) open(t *testing.T, key, reference string) (charge, string) {
	t.Helper()
	a := r.post(t, "/v1/charges", key, order(reference, "tok_dropin"))
	require.Equal(t, http.StatusCreated, a.status, a.body)
	return a.charge(t), parse[struct {
		Secret string `json:"client_secret"`
	}](t, a.body).Secret
}

// byScript calls as the drop-in does.
func (r *env) byScript(t *testing.T, method, path, secret, body string) (answer, error) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, r.url+"/v1/dropin/charges/"+path, strings.NewReader(body))
	require.NoError(t, err)
	q.Header.Set("Authorization", "Bearer "+secret)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Origin", "https://shop.example")
	return do(r.client, q)
}

func (r *env) confirm(t *testing.T, id, secret, token string) form {
	t.Helper()
	a, err := r.byScript(t, http.MethodPost, id+"/confirm", secret, `{"token":"`+token+`","return_url":"http://shop.example/back"}`)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Equal(t, "*", a.header.Get("Access-Control-Allow-Origin"))
	return parse[form](t, a.body)
}

func TestDropin(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]struct {
		at, end  string
		webhooks []string
		charged  int64
	}{
		"tok_success":       {"succeeded", "succeeded", []string{"charge.succeeded"}, 1999},
		"tok_decline":       {"failed", "failed", []string{"charge.failed"}, 0},
		"tok_async_success": {"pending", "succeeded", []string{"charge.succeeded"}, 1999},
		"tok_webhook_first": {"succeeded", "succeeded", []string{"charge.succeeded"}, 1999},
		"tok_twice":         {"succeeded", "succeeded", []string{"charge.succeeded", "charge.succeeded", "charge.succeeded"}, 1999},
		"tok_late_success":  {"failed", "succeeded", []string{"charge.failed", "charge.succeeded"}, 1999},
		"tok_wrong_amount":  {"succeeded", "succeeded", []string{"charge.succeeded"}, 2000},
		"tok_never":         {"pending", "pending", nil, 0},
	} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			r, rec := startWithReceiver(t, sandbox.Options{})
			c, secret := r.open(t, "key-1", "att-1")
			require.Equal(t, "pending", c.Status)
			a, err := r.byScript(t, http.MethodGet, c.ID, secret, "")
			require.NoError(t, err)
			require.Equal(t, form{ID: c.ID, Status: "pending", Amount: 1999, Currency: "EUR"}, parse[form](t, a.body))

			confirmed := r.confirm(t, c.ID, secret, token)
			require.True(t, confirmed.Confirmed)
			require.Equal(t, want.at, confirmed.Status)
			require.Equal(t, want.at == "failed", confirmed.FailureMessage != nil)
			r.becomes(t, c.ID, want.end)
			rec.gets(t, want.webhooks...)
			requireCharged(t, r, c.ID, want.charged)
		})
	}
}

// The key of the charge's creation is the one in the books: the attempt's own.
func TestDropinIsCreatedOnce(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	c, secret := r.open(t, "key-1", "att-1")
	again, same := r.open(t, "key-1", "att-1")
	require.Equal(t, c, again)
	require.Equal(t, secret, same, "a page that is loaded again gets the same form")
	r.confirm(t, c.ID, secret, "tok_success")
	require.Equal(t, "key-1", r.ledger(t)[0].IdempotencyKey)
	require.NotContains(t, r.get(t, "/v1/charges/"+c.ID).body, secret)
	require.NotContains(t, r.get(t, "/v1/charges?reference=att-1").body, secret)
}

func TestDropinIsConfirmedOnce(t *testing.T) {
	t.Parallel()
	r, rec := startWithReceiver(t, sandbox.Options{})
	c, secret := r.open(t, "key-1", "att-1")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			_, err := r.byScript(t, http.MethodPost, c.ID+"/confirm", secret, `{"token":"`+[]string{"tok_success", "tok_async_success"}[i%2]+`"}`)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	r.becomes(t, c.ID, "succeeded")
	rec.gets(t, "charge.succeeded")
	requireCharged(t, r, c.ID, 1999)
	require.Equal(t, "succeeded", r.confirm(t, c.ID, secret, "tok_decline").Status)
}

func TestDropinIsCanceled(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	c, secret := r.open(t, "key-1", "att-1")
	require.Equal(t, http.StatusOK, r.post(t, "/v1/charges/"+c.ID+"/cancel", "key-2", "").status)
	require.Equal(t, form{ID: c.ID, Status: "canceled", Amount: 1999, Currency: "EUR"}, r.confirm(t, c.ID, secret, "tok_success"))
	require.Empty(t, r.ledger(t))
}

func TestDropinByTheHostedPage(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	c, secret := r.open(t, "key-1", "att-1")
	require.Equal(t, r.url+"/pay/"+c.ID, r.confirm(t, c.ID, secret, "tok_redirect").NextAction.URL)
	require.Equal(t, "http://shop.example/back", r.press(t, r.url+"/pay/"+c.ID, "approve").header.Get("Location"))
	requireCharged(t, r, c.ID, 1999)
}

// A fault replaces only the response to the first try. The next try does the work that the first did not do.
func TestDropinFaults(t *testing.T) {
	t.Parallel()
	for token, done := range map[string]bool{"tok_500_charged": true, "tok_500_once": false, "tok_hang_charged": true, "tok_hang_not_charged": false} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			delays := quick()
			delays.Hang = 20 * time.Millisecond
			r := start(t, sandbox.Options{Delays: delays})
			c, secret := r.open(t, "key-1", "att-1")
			a, err := r.byScript(t, http.MethodPost, c.ID+"/confirm", secret, `{"token":"`+token+`"}`)
			require.True(t, err != nil || a.status == http.StatusInternalServerError)
			require.Len(t, r.ledger(t), map[bool]int{true: 1}[done])
			require.Equal(t, "succeeded", r.confirm(t, c.ID, secret, token).Status)
			requireCharged(t, r, c.ID, 1999)
		})
	}
}

func TestDropinOutlivesARestart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state")
	r := start(t, sandbox.Options{StateFile: file})
	c, secret := r.open(t, "key-1", "att-1")
	r.stop()
	r = start(t, sandbox.Options{StateFile: file})
	require.Equal(t, "succeeded", r.confirm(t, c.ID, secret, "tok_success").Status)
	r.stop()
	r = start(t, sandbox.Options{StateFile: file})
	require.Equal(t, "succeeded", r.confirm(t, c.ID, secret, "tok_success").Status)
	requireCharged(t, r, c.ID, 1999)
}

func TestDropinRefused(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	c, secret := r.open(t, "key-1", "att-1")
	other, _ := r.open(t, "key-2", "att-2")
	plain := r.pay(t, "key-3", order("att-3", "tok_never"))
	for name, try := range map[string]struct {
		id, secret, body string
		status           int
	}{
		"no secret":            {c.ID, "", `{"token":"tok_success"}`, 401},
		"wrong secret":         {c.ID, secret + "x", `{"token":"tok_success"}`, 401},
		"another's secret":     {other.ID, secret, `{"token":"tok_success"}`, 401},
		"not the drop-in's":    {plain.ID, "", `{"token":"tok_success"}`, 401},
		"no charge":            {"ch_none", "", `{"token":"tok_success"}`, 401},
		"no token":             {c.ID, secret, `{}`, 422},
		"the form in the form": {c.ID, secret, `{"token":"tok_dropin"}`, 422},
		"a card to store":      {c.ID, secret, `{"token":"tok_save"}`, 422},
		"no way back":          {c.ID, secret, `{"token":"tok_redirect","return_url":"javascript:alert(1)"}`, 422},
		"no JSON":              {c.ID, secret, `token`, 400},
	} {
		a, err := r.byScript(t, http.MethodPost, try.id+"/confirm", try.secret, try.body)
		require.NoError(t, err)
		require.Equal(t, try.status, a.status, name)
		require.Equal(t, "*", a.header.Get("Access-Control-Allow-Origin"), "the script can read a refusal: %s", name)
	}
	a, err := r.byScript(t, http.MethodGet, c.ID, secret+"x", "")
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, a.status)
	require.Empty(t, r.ledger(t))
}

// Pages of other origins reach the drop-in and nothing else.
func TestDropinIsForPages(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	script := r.get(t, "/v1/dropin.js")
	require.Equal(t, "text/javascript; charset=utf-8", script.header.Get("Content-Type"))
	require.Equal(t, "cross-origin", script.header.Get("Cross-Origin-Resource-Policy"))
	require.Contains(t, script.body, "window.PaylatchSandbox")
	require.NotContains(t, script.body, "innerHTML")
	a, err := r.byScript(t, http.MethodOptions, "ch_1/confirm", "", "")
	require.NoError(t, err)
	require.Equal(t, http.StatusNoContent, a.status)
	require.Equal(t, "Authorization, Content-Type", a.header.Get("Access-Control-Allow-Headers"))
	for _, path := range []string{"/v1/ledger", "/v1/charges?reference=att-1"} {
		require.Empty(t, r.get(t, path).header.Get("Access-Control-Allow-Origin"), path)
	}
}
