package e2e_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// result requires the result in the response's headers. A request that was sent again after a refusal may have done its work the first
// time: then it is reused.
func (a answer) result(t *testing.T, want string) {
	t.Helper()
	if want == "created" && a.repeated && a.header.Get("Idempotency-Result") == "reused" {
		return
	}
	require.Equal(t, want, a.header.Get("Idempotency-Result"), "%s", a.text)
	require.Equal(t, want == "reused", a.header.Get("Idempotency-Replayed") == "true")
}

func TestReplays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	c := s.shop("u1")
	const body = `{"order_id":"A-1","amount":1999,"currency":"EUR","metadata":{"a":"1","b":"2"}}`
	send := func(body string) answer { return c.createAgain(t, body) }
	first := send(body)
	first.is(t, http.StatusCreated)
	first.result(t, "created")
	for name, again := range map[string]answer{
		"to the letter": send(body),
		"the same JSON": send(` {"currency":"EUR", "metadata":{"b":"2","a":"1"}, "amount":1999,"order_id":"\u0041-1"}`),
		"a quoted key":  c.send(t.Context(), http.MethodPost, "/v1/orders", body, `Idempotency-Key: "order-A-1"`),
		"a new token":   s.as(token("shop-2", "service", "support")).createAgain(t, body, "On-Behalf-Of: u1"),
	} {
		require.Equal(t, http.StatusCreated, again.status, name)
		require.Equal(t, string(first.text), string(again.text), name)
		require.Equal(t, "order-A-1", again.header.Get("Idempotency-Key"), name)
		again.result(t, "reused")
	}

	reused := send(`{"order_id":"A-1","amount":2000,"currency":"EUR","metadata":{"a":"1","b":"2"}}`)
	require.False(t, *reused.problem(t, http.StatusConflict, "idempotency-key-reused").Retryable)
	require.Empty(t, reused.header.Get("Retry-After"))
	query := c.send(t.Context(), http.MethodPost, "/v1/orders?source=mail", body, "Idempotency-Key: order-A-1")
	query.problem(t, http.StatusConflict, "idempotency-key-reused")
	require.Equal(t, string(first.text), string(send(body).text), "the first request is untouched")

	s.shop("u2").createAgain(t, body).problem(t, http.StatusConflict, "order-exists")
}

func (c client) createAgain(t *testing.T, body string, headers ...string) answer {
	t.Helper()
	return c.send(t.Context(), http.MethodPost, "/v1/orders", body, append([]string{"Idempotency-Key: order-A-1"}, headers...)...)
}

// TestAReplayedPayShowsTheAttemptAsItIs: it has the first status code, even after a purge of the key, since the request is
// stored for ever.
func TestAReplayedPayShowsTheAttemptAsItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.serve().customer()
	order, key := c.order(t), unique("pay")
	first := c.pay(t.Context(), order, key, "tok_async_success")
	first.result(t, "created")
	a := first.attempt(t, http.StatusCreated)
	end := c.settled(t, a.ID)
	for range 2 {
		again := c.pay(t.Context(), order, key, "tok_async_success")
		again.result(t, "reused")
		now := again.attempt(t, http.StatusCreated)
		require.Equal(t, "succeeded", now.Status)
		require.Equal(t, end.Version, now.Version)
		require.Equal(t, http.StatusOK, client{base: c.base, token: now.StatusToken}.read(t.Context(), a.ID).status)
		c.pay(t.Context(), order, key, "tok_decline").problem(t, http.StatusConflict, "idempotency-key-reused")
		_, err := r.db.Exec(t.Context(), `DELETE FROM idempotency_keys`)
		require.NoError(t, err)
	}
	r.charged(t, a.ID, 1999)
}

// TestTheSameKeyElsewhere: on another order, or of another user, it is another
// command.
func TestTheSameKeyElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	ids := map[string]bool{}
	for _, user := range []string{"u1", "u2"} {
		c := s.as(token(user, "customer"))
		for range 2 {
			got := c.pay(t.Context(), c.order(t), "the-same-key", "tok_success")
			got.result(t, "created")
			ids[got.attempt(t, http.StatusCreated).ID] = true
		}
	}
	require.Len(t, ids, 4)
	require.Len(t, r.movements(t), 4)
}

// TestRefusalsThatUseUpTheKey are kept and replayed to the letter.
func TestRefusalsThatUseUpTheKey(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.serve().customer()
	order := c.order(t)
	c.pay(t.Context(), order, unique("pay"), "tok_success").is(t, http.StatusCreated)
	key := unique("pay")
	first := c.pay(t.Context(), order, key, "tok_success")
	first.problem(t, http.StatusConflict, "order-already-paid")
	first.result(t, "created")
	again := c.pay(t.Context(), order, key, "tok_success")
	again.problem(t, http.StatusConflict, "order-already-paid")
	again.result(t, "reused")
	require.Equal(t, string(first.text), string(again.text))
	c.pay(t.Context(), order, key, "tok_decline").problem(t, http.StatusConflict, "idempotency-key-reused")

	none := unique("o")
	c = c.backend()
	c.pay(t.Context(), none, key, "tok_success").problem(t, http.StatusNotFound, "not-found")
	c.createOrder(t.Context(), none, unique("key")).is(t, http.StatusCreated)
	again = c.pay(t.Context(), none, key, "tok_success")
	again.problem(t, http.StatusNotFound, "not-found")
	again.result(t, "reused")
	_, err := r.db.Exec(t.Context(), `UPDATE idempotency_keys SET expires_at = now() WHERE status = 404`)
	require.NoError(t, err)
	expired := c.pay(t.Context(), none, key, "tok_success")
	expired.is(t, http.StatusCreated)
	expired.result(t, "created")
}

// TestRefusalsThatDoNotUseUpTheKey: the corrected request may bear it.
func TestRefusalsThatDoNotUseUpTheKey(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	c, key := s.shop("u1"), unique("key")
	id := unique("o")
	path := "/v1/orders"
	c.send(t.Context(), http.MethodPost, path, `{`, "Idempotency-Key: "+key).problem(t, http.StatusBadRequest, "malformed-request")
	c.send(t.Context(), http.MethodPost, path, `{"amount":0,"currency":"EUR"}`, "Idempotency-Key: "+key).problem(t, http.StatusUnprocessableEntity, "validation-failed")
	c.send(t.Context(), http.MethodPost, path, `{}`, "Idempotency-Key: "+key, "Content-Type: text/plain").problem(t, http.StatusUnsupportedMediaType, "unsupported-media-type")
	s.as("none").createOrder(t.Context(), id, key).problem(t, http.StatusUnauthorized, "unauthenticated")
	s.as(token("u1", "support")).createOrder(t.Context(), id, key).problem(t, http.StatusForbidden, "forbidden")
	created := c.createOrder(t.Context(), id, key)
	created.is(t, http.StatusCreated)
	created.result(t, "created")

	// A pay that is refused for a temporary reason does not count either.
	for _, body := range []string{
		`{"payment_method":{"token":"tok_success"},"amount":1998}`,
		`{"payment_method":{"token":"tok_success"},"currency":"USD"}`,
		`{"payment_method":{"token":"tok_success"},"account":"partner"}`,
		`{"payment_method":{"token":"tok_success"},"account":"nobody"}`,
	} {
		c.send(t.Context(), http.MethodPost, path+"/"+id+"/pay", body, "Idempotency-Key: "+key).problem(t, http.StatusUnprocessableEntity, "validation-failed")
	}
	s.as(token("u2", "customer")).pay(t.Context(), id, key, "tok_success").problem(t, http.StatusForbidden, "forbidden")
	other := c.pay(t.Context(), id, unique("tab"), "tok_never").attempt(t, http.StatusCreated)
	for range 2 {
		refused := c.pay(t.Context(), id, key, "tok_success")
		require.Equal(t, other.ID, refused.problem(t, http.StatusConflict, "payment-in-progress").Attempt.ID)
		refused.result(t, "")
	}
	cancel := client{base: r.sandbox}.send(t.Context(), http.MethodPost, "/v1/charges/"+*other.ProviderPaymentID+"/cancel", "{}", "Idempotency-Key: by-the-dashboard")
	cancel.is(t, http.StatusOK)
	require.True(t, c.settled(t, other.ID).CanStartNew)
	paid := c.pay(t.Context(), id, key, "tok_success")
	require.Equal(t, "succeeded", paid.attempt(t, http.StatusCreated).Status)
	paid.result(t, "created")
}

// TestWhileTheFirstStillRuns: a copy waits, and then gets the state so far.
func TestWhileTheFirstStillRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.hooks.shut()
	slow := []string{"PAYLATCH_IDEMPOTENCY_WAIT=5s", "PAYLATCH_PROVIDER_TIMEOUT=4m", "PAYLATCH_IDEMPOTENCY_LEASE=5m"}
	machines := []client{r.serve(slow...).customer(), r.serve(slow...).customer()}
	patient := r.serve("PAYLATCH_IDEMPOTENCY_WAIT=1m", "PAYLATCH_IDEMPOTENCY_LEASE=2m").customer()
	held := r.hold(t, (*faults.Hold).After)
	u := machines[0].begin(t)
	await(t, held)
	var id string
	for _, c := range machines {
		began := time.Now()
		copied := c.pay(t.Context(), u.order, u.key, "tok_success")
		require.GreaterOrEqual(t, time.Since(began), 4900*time.Millisecond)
		copied.result(t, "reused")
		a := copied.attempt(t, http.StatusCreated)
		require.Equal(t, "pending", a.Status)
		require.NotEmpty(t, copied.header.Get("Retry-After"))
		id = a.ID

	}
	began := time.Now()
	patient.pay(t.Context(), u.order, u.key, "tok_decline").problem(t, http.StatusConflict, "idempotency-key-reused")
	require.Less(t, time.Since(began), 50*time.Second, "another request does not wait")
	waiting := make(chan answer, 2)
	for _, c := range machines {
		go func() { waiting <- c.pay(t.Context(), u.order, u.key, "tok_success") }()
	}
	held.Free()
	first := <-u.answer
	first.result(t, "created")
	require.Equal(t, "succeeded", first.attempt(t, http.StatusCreated).Status)
	for range machines {
		require.Equal(t, id, (<-waiting).attempt(t, http.StatusCreated).ID)
	}
	require.Equal(t, int64(1), r.gate.Count(charges))
	r.charged(t, id, 1999)
}

// TestQuota: new keys are bounded, replays are free, of refusals too.
func TestQuota(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve("PAYLATCH_IDEMPOTENCY_QUOTA_NEW_KEYS=4", "PAYLATCH_IDEMPOTENCY_QUOTA_PER=240h")
	c := s.customer()
	order, created, paid, refused := unique("o"), unique("key"), unique("key"), unique("key")
	replay := func() {
		for range 3 {
			c.createOrder(t.Context(), order, created).is(t, http.StatusCreated)
			c.pay(t.Context(), order, paid, "tok_success").is(t, http.StatusCreated)
			c.pay(t.Context(), order, refused, "tok_success").problem(t, http.StatusConflict, "order-already-paid")
		}
	}
	replay()
	c.createOrder(t.Context(), unique("o"), unique("key")).is(t, http.StatusCreated)

	for _, over := range []answer{
		c.createOrder(t.Context(), unique("o"), unique("key")),
		c.pay(t.Context(), order, unique("key"), "tok_success"),
	} {
		p := over.problem(t, http.StatusTooManyRequests, "quota-exceeded")
		require.True(t, *p.Retryable)
		wait, err := strconv.Atoi(over.header.Get("Retry-After"))
		require.NoError(t, err)
		require.Positive(t, wait)
		over.result(t, "")
	}
	replay()
	s.as(token("u2", "customer")).order(t)
	_, err := r.db.Exec(t.Context(), `UPDATE key_quotas SET window_at = window_at - interval '240 hours'`)
	require.NoError(t, err)
	c.order(t)
}
