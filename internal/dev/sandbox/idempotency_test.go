package sandbox_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
)

func TestSameKeySameAnswer(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	first := r.post(t, "/v1/charges", "key-1", order("att-1", "tok_async_success"))
	r.becomes(t, first.charge(t).ID, "succeeded")
	again := r.post(t, "/v1/charges", "key-1", strings.ReplaceAll(order("att-1", "tok_async_success"), ",", " ,\n"))
	require.Equal(t, first.body, again.body)
	require.Equal(t, first.status, again.status)
	require.Empty(t, first.header.Get("Idempotent-Replayed"))
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
}

func TestSameKeyOfEveryCommand(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	c := r.pay(t, "key-1", manual("att-1", "tok_success"))
	for _, command := range []string{"capture", "refunds", "cancel"} { // the last is refused, twice
		path := "/v1/charges/" + c.ID + "/" + command
		first := r.post(t, path, "key-"+command, "")
		require.Equal(t, first.body, r.post(t, path, "key-"+command, "{}").body)
	}
	require.Len(t, r.ledger(t), 2)
}

func TestSameKeyOtherRequest(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	c := r.pay(t, "key-1", order("att-1", "tok_success"))
	r.post(t, "/v1/charges", "key-2", order("att-2", "tok_500_once"))
	for key, body := range map[string]string{"key-1": order("att-3", "tok_success"), "key-2": order("att-3", "tok_500_once")} {
		a := r.post(t, "/v1/charges", key, body)
		require.Equal(t, http.StatusConflict, a.status)
		require.Equal(t, "idempotency_key_reused", a.failure(t).Code)
	}
	require.Equal(t, http.StatusConflict, r.post(t, "/v1/charges/"+c.ID+"/refunds", "key-1", "").status)
	require.Len(t, r.ledger(t), 1)
}

func TestSameKeyConcurrent(t *testing.T) {
	t.Parallel()
	const calls = 200
	for _, token := range []string{"tok_success", "tok_webhook_first", "tok_500_charged", "tok_500_once"} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			r, rec := startWithReceiver(t, sandbox.Options{StateFile: t.TempDir() + "/state"})
			answers := make([]answer, calls)
			gate := make(chan struct{})
			var wg sync.WaitGroup
			for i := range answers {
				wg.Go(func() {
					<-gate
					answers[i], _ = r.send(t.Context(), http.MethodPost, "/v1/charges", "key-1", order("att-1", token))
				})
			}
			close(gate)
			wg.Wait()
			c := r.pay(t, "key-1", order("att-1", token))
			faults := 0
			for _, a := range answers {
				if a.status == http.StatusInternalServerError {
					faults++
					continue
				}
				require.Equal(t, http.StatusCreated, a.status, a.body)
				require.Equal(t, c, a.charge(t))
			}
			require.Equal(t, strings.HasPrefix(token, "tok_500"), faults == 1, "%d faults", faults)
			requireCharged(t, r, c.ID, 1999)
			rec.gets(t, "charge.succeeded")
		})
	}
}

func TestDecodeStrict(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	good := order("att-1", "tok_success")
	with := func(extra string) string { return strings.TrimSuffix(good, "}") + "," + extra + "}" }
	tests := []struct {
		name, key, body, code string
		status                int
	}{
		{"no key", "", good, "idempotency_key_missing", http.StatusBadRequest},
		{"long key", strings.Repeat("k", 256), good, "idempotency_key_missing", http.StatusBadRequest},
		{"no body", "key", "", "validation_failed", http.StatusUnprocessableEntity},
		{"no object", "key", `[]`, "malformed_request", http.StatusBadRequest},
		{"cut short", "key", good[:20], "malformed_request", http.StatusBadRequest},
		{"trailing data", "key", good + "{}", "malformed_request", http.StatusBadRequest},
		{"unknown member", "key", with(`"x":1`), "malformed_request", http.StatusBadRequest},
		{"member twice", "key", with(`"amount":1`), "malformed_request", http.StatusBadRequest},
		{"other case", "key", with(`"Amount":1`), "malformed_request", http.StatusBadRequest},
		{"not UTF-8", "key", with("\"return_url\":\"\xff\""), "malformed_request", http.StatusBadRequest},
		{"fraction", "key", strings.Replace(good, "1999", "1999.0", 1), "malformed_request", http.StatusBadRequest},
		{"too large", "key", with(`"return_url":"` + strings.Repeat("x", 64<<10) + `"`), "body_too_large", http.StatusRequestEntityTooLarge},
		{"no reference", "key", order("", "tok_success"), "validation_failed", http.StatusUnprocessableEntity},
		{"nothing", "key", strings.Replace(good, "1999", "0", 1), "validation_failed", http.StatusUnprocessableEntity},
		{"negative", "key", strings.Replace(good, "1999", "-1", 1), "validation_failed", http.StatusUnprocessableEntity},
		{"too much", "key", strings.Replace(good, "1999", "1000000000001", 1), "validation_failed", http.StatusUnprocessableEntity},
		{"currency", "key", strings.Replace(good, "EUR", "eur", 1), "validation_failed", http.StatusUnprocessableEntity},
		{"capture", "key", with(`"capture":"later"`), "validation_failed", http.StatusUnprocessableEntity},
		{"script", "key", with(`"return_url":"javascript:alert(1)"`), "validation_failed", http.StatusUnprocessableEntity},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := r.post(t, "/v1/charges", tt.key, tt.body)
			require.Equal(t, tt.status, a.status, a.body)
			require.Equal(t, tt.code, a.failure(t).Code)
			require.Empty(t, r.ledger(t))
		})
	}
}

func TestDecodeContentType(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/charges", strings.NewReader(order("att-1", "tok_success")))
	require.NoError(t, err)
	req.Header.Set("Idempotency-Key", "key-1")
	req.Header.Set("Content-Type", "text/plain")
	res, err := r.client.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusUnsupportedMediaType, res.StatusCode)
}
