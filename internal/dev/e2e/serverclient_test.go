package e2e_test

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A shop's backend with the client in TypeScript charges once, whichever responses are lost, and can make each call of a service.
func TestServerClient(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node to run the client of servers with")
	}
	if exec.CommandContext(t.Context(), node, "-e", "process.exit(AbortSignal.any ? 0 : 1)").Run() != nil {
		t.Skip("the tests of the client of servers need node 20.3 or newer")
	}
	r := newRig(t)
	address, lost := lossy(t, r.serve().base)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, node, "--test", "--test-reporter=tap", "../../../sdk/js/test/service/client.test.js")
	run.Env = append(os.Environ(), "PAYLATCH_URL="+address, "PAYLATCH_TOKEN="+token("shop", "service"))
	run.WaitDelay = time.Second
	said, err := run.CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.True(t, bytes.Contains(said, []byte("\n# fail 0\n")) && !bytes.Contains(said, []byte("\n# pass 0\n")), "%s", said)
	require.GreaterOrEqual(t, lost.Load(), int32(20))

	charges := map[string]int{}
	for _, m := range r.movements(t) {
		if m.Kind == "charge" {
			charges[m.Reference]++
			require.Equal(t, 1, charges[m.Reference], "charged once")
		}
	}
	require.Len(t, charges, one[int](t, r, `SELECT count(*) FROM payment_attempts WHERE amount_captured > 0`))
}

// takesPayments walks through a shop's checkout: the shop's price, one charge for all copies, the second step, and nothing of and for others.
func takesPayments(t *testing.T, p program) {
	t.Helper()
	r := newRig(t)
	s := newShop(t, p, "PAYLATCH_URL="+r.serve().base, "PAYLATCH_TOKEN="+token("shop", "service"))
	s.launch(t)
	s.listens(t)
	shop := client{base: "http://" + s.address}
	ordered := func() string {
		id := unique("o")
		_, err := s.db.Exec(t.Context(), `INSERT INTO orders (order_id, customer) VALUES ($1, 'u1')`, id)
		require.NoError(t, err)
		return "/checkout/" + id
	}
	as := func(user, path, body string, headers ...string) answer {
		return shop.send(t.Context(), http.MethodPost, path, body, append([]string{"X-Forwarded-User: " + user}, headers...)...)
	}
	post := func(path, body string, headers ...string) answer { return as("u1", path, body, headers...) }
	at, key := ordered(), "Idempotency-Key: "+unique("press")
	for _, result := range []string{"created", "reused"} {
		made := post(at, `{"amount":1,"currency":"JPY"}`)
		made.is(t, http.StatusCreated)
		require.Contains(t, string(made.text), `"amount":1999,"currency":"EUR"`)
		require.Equal(t, result, made.header.Get("Idempotency-Result"))
	}
	const pay = `{"payment_method":{"token":"tok_async_success"}}`
	refusedBy(t, post(at+"/pay", pay), http.StatusBadRequest, "idempotency-key-missing")
	refusedBy(t, as("u2", at, ""), http.StatusNotFound, "not-found")
	refusedBy(t, as("u2", at+"/pay", pay, key), http.StatusForbidden, "forbidden")
	refusedBy(t, as("", at+"/pay", pay, key), http.StatusUnauthorized, "unauthenticated")
	refusedBy(t, post(at+"/pay", pay, key, "Sec-Fetch-Site: cross-site"), http.StatusForbidden, "forbidden")
	for _, body := range []string{`{"capture":"manual"}`, `{"account":"partner"}`, `{"customer":{"reference":"c"}}`, `{"payment_method":{"token":"tok","stored":true}}`, `{"provider_data":{}}`} {
		refusedBy(t, post(at+"/pay", body, key), http.StatusUnprocessableEntity, "validation-failed")
	}
	require.Zero(t, one[int](t, r, `SELECT count(*) FROM payment_attempts`))

	first := post(at+"/pay", pay, key)
	require.Contains(t, string(first.text), `"status_token":"pst_`)
	a := first.attempt(t, http.StatusCreated)
	require.Equal(t, a.ID, post(at+"/pay", pay, key).attempt(t, http.StatusCreated).ID)
	status := at + "/status?payment_attempt_id=" + a.ID
	refusedBy(t, shop.send(t.Context(), http.MethodGet, status, "", "X-Forwarded-User: u2"), http.StatusForbidden, "forbidden")
	eventually(t, "the payment succeeds", func() bool {
		return shop.send(t.Context(), http.MethodGet, status, "", "X-Forwarded-User: u1").attempt(t, http.StatusOK).Status == "succeeded"
	})
	now := shop.send(t.Context(), http.MethodGet, status, "", "X-Forwarded-User: u1")
	shop.send(t.Context(), http.MethodGet, status, "", "X-Forwarded-User: u1", "If-None-Match: "+now.header.Get("Etag")).is(t, http.StatusNotModified)
	r.charged(t, a.ID, 1999)

	at = ordered()
	post(at, "").is(t, http.StatusCreated)
	a = post(at+"/pay", `{"payment_method":{"token":"tok_3ds"},"return_url":"https://shop.example/back"}`, key).attempt(t, http.StatusCreated)
	resp, err := plain.PostForm(a.NextAction.URL, url.Values{"decision": {"approve"}})
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	back, err := resp.Location()
	require.NoError(t, err)
	require.Equal(t, "shop.example", back.Host)
	details := `{"details":{"sandbox_result":"` + back.Query().Get("sandbox_result") + `"}}`
	done := at + "/complete?payment_attempt_id=" + a.ID
	refusedBy(t, as("u2", done, details, key), http.StatusForbidden, "forbidden")
	require.Equal(t, "succeeded", post(done, details, key).attempt(t, http.StatusOK).Status)
	r.charged(t, a.ID, 1999)
}

// refusedBy requires a refusal of the shop or of paylatch.
func refusedBy(t *testing.T, a answer, status int, code string) {
	t.Helper()
	a.is(t, status)
	require.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
	require.Contains(t, string(a.text), `"code":"`+code+`"`)
}
