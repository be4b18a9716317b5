package api_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.order, b.payments.result = order(), idempotency.Created
	send := func(path string, headers ...string) answer {
		return b.send(http.MethodPost, path, goodOrder, append(headers, "Authorization: Bearer service-1", "On-Behalf-Of: u1")...)
	}
	send("/v1/orders").is(t, 400, "idempotency-key-missing")
	send("/v1/orders", "Idempotency-Key: ").is(t, 400, "idempotency-key-missing")
	for _, key := range []string{"short", strings.Repeat("a", 201), "with blanks", "ümlaut-ümlaut", `"unclosed-key`, "a,b,c,d,e,f,g"} {
		got := send("/v1/orders", "Idempotency-Key: "+key)
		got.is(t, 400, "idempotency-key-invalid")
		require.Empty(t, got.Header.Get("Idempotency-Key"))
	}
	send("/v1/orders", "Idempotency-Key: key-00000001", "Idempotency-Key: key-00000001").is(t, 400, "idempotency-key-invalid")
	for _, name := range []string{"idempotency_key", "Idempotency-Key", "IDEMPOTENCY-key", "Idempotency_Key", "idempotency%5Fkey"} {
		got := send("/v1/orders?x=1&"+name+"=key-00000001", "Idempotency-Key: key-00000001")
		got.is(t, 400, "idempotency-key-in-query")
		require.Equal(t, "key-00000001", got.Header.Get("Idempotency-Key"))
		send("/v1/orders?"+name).is(t, 400, "idempotency-key-in-query")
	}
	require.Zero(t, b.payments.calls)
	for _, key := range []string{"12345678", strings.Repeat("a", 200), "A-Z_a.z:0~9"} {
		got := send("/v1/orders", "Idempotency-Key: "+key)
		require.Equal(t, http.StatusCreated, got.StatusCode)
		require.Equal(t, key, got.Header.Get("Idempotency-Key"))
	}
}

func TestTheKeyIsEchoedWhateverHappens(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, header := range []string{"Authorization: -", "Authorization: Bearer nobody", "Authorization: Bearer panic", "Authorization: Bearer broken", "Content-Type: text/plain"} {
		got := b.command("/v1/orders", goodOrder, header)
		require.GreaterOrEqual(t, got.StatusCode, 400)
		require.Equal(t, "key-00000001", got.Header.Get("Idempotency-Key"), header)
	}
	for _, err := range []error{payment.ErrOrderExists, payment.ErrUnavailable, idempotency.ErrKeyReused} {
		b.payments.err = err
		require.Equal(t, "key-00000001", b.command("/v1/orders", goodOrder).Header.Get("Idempotency-Key"))
	}
}

func TestRefusalsAreKeptAndReplayedToTheLetter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.refuses, b.payments.err = true, payment.ErrOrderExists
	first := b.command("/v1/orders", goodOrder)
	first.is(t, 409, "order-exists")
	require.Equal(t, "created", first.Header.Get("Idempotency-Result"))
	require.Empty(t, first.Header.Get("Idempotency-Replayed"))
	require.Equal(t, string(first.text), string(b.payments.kept.Body))

	b.payments.refuses, b.payments.err = false, &idempotency.ReplayError{Response: b.payments.kept}
	again := b.command("/v1/orders", goodOrder, "X-Request-Id: "+first.Header.Get("X-Request-Id"))
	require.Equal(t, first.text, again.text)
	require.Equal(t, first.StatusCode, again.StatusCode)
	require.Equal(t, first.Header.Get("Content-Type"), again.Header.Get("Content-Type"))
	require.Equal(t, "reused", again.Header.Get("Idempotency-Result"))
	require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
}

func TestARefusalSharedWithTheFirstRequestIsReused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.result, b.payments.err = idempotency.Reused, payment.ErrOrderExists
	require.Equal(t, "reused", b.command("/v1/orders", goodOrder).Header.Get("Idempotency-Result"))
	b.payments.err = payment.ErrUnavailable
	require.Empty(t, b.command("/v1/orders", goodOrder).Header.Get("Idempotency-Result"), "what was not executed has no result")
}

// The configuration may choose the status of a reused key. The code and the rest of the problem stay.
func TestReusedStatus(t *testing.T) {
	t.Parallel()
	for chosen, want := range map[int]int{0: 409, 409: 409, 422: 422} {
		b := newBench(t, func(o *api.Options) { o.ReusedStatus = chosen })
		b.payments.err = idempotency.ErrKeyReused
		for _, path := range []string{"/v1/orders", "/v1/orders/A-1/cancel"} {
			body := map[bool]string{true: goodOrder}[path == "/v1/orders"]
			got := b.command(path, body)
			p := got.is(t, want, "idempotency-key-reused")
			require.False(t, p.Retryable)
			require.False(t, *p.SafeNewKey)
			require.Empty(t, got.Header.Get("Retry-After"))
		}
		page := string(b.send(http.MethodGet, "/problems/idempotency-key-reused", "", "Authorization: -", "Accept: text/html").text)
		require.Contains(t, page, "status "+strconv.Itoa(want))
		b.payments.err = idempotency.ErrInProgress
		b.command("/v1/orders", goodOrder).is(t, 409, "request-in-progress")
	}
}

func TestConflictsOfKeys(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.err = idempotency.ErrKeyReused
	got := b.command("/v1/orders", goodOrder)
	require.False(t, got.is(t, 409, "idempotency-key-reused").Retryable)
	require.Empty(t, got.Header.Get("Retry-After"))
	for _, err := range []error{idempotency.ErrInProgress, idempotency.ErrFenced, payment.ErrBusy} {
		b.payments.err = err
		got = b.command("/v1/orders", goodOrder)
		p := got.is(t, 409, "request-in-progress")
		require.True(t, p.Retryable)
		require.Equal(t, int64(1000), p.RetryAfterMS)
		require.Equal(t, "1", got.Header.Get("Retry-After"))
	}
	b.payments.err = payment.ErrUnavailable
	got = b.command("/v1/orders", goodOrder)
	p := got.is(t, 503, "storage-unavailable")
	require.True(t, p.Retryable)
	require.Equal(t, "2", got.Header.Get("Retry-After"))
}
