package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
)

// Every refusal of a command, whichever it is of.
func TestRefusalsOfCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.invented = true // every command is refused in every way
	paths := []string{"/v1/orders/A-1/cancel", attemptPath + "/confirm", attemptPath + "/cancel", attemptPath + "/refunds"}
	for _, c := range []struct {
		err    error
		status int
		code   string
		// wait is Retry-After; such a problem may be sent again.
		wait string
		// stored refusals use up the key.
		stored bool
	}{
		{payment.ErrOrderPaid, 409, "order-already-paid", "", true},
		{payment.ErrAttemptFinal, 409, "attempt-final", "", true},
		{payment.ErrCaptureExceeds, 409, "capture-exceeds-authorization", "", true},
		{payment.ErrRefundExceeds, 409, "refund-exceeds-payment", "", true},
		{payment.ErrNotCapturable, 409, "attempt-not-capturable", "", false},
		{payment.ErrNotRefundable, 409, "attempt-not-refundable", "", false},
		{payment.ErrOrderChanged, 412, "order-changed", "", false},
		{payment.ErrRefundableChanged, 412, "refundable-changed", "", false},
		{payment.ErrBusy, 409, "request-in-progress", "1", false},
		{idempotency.ErrInProgress, 409, "request-in-progress", "1", false},
		{idempotency.ErrFenced, 409, "request-in-progress", "1", false},
		{idempotency.ErrKeyReused, 409, "idempotency-key-reused", "", false},
		{&idempotency.QuotaError{RetryAfter: 2500 * time.Millisecond}, 429, "quota-exceeded", "3", false},
		{&idempotency.QuotaError{}, 429, "quota-exceeded", "1", false},
		{payment.ErrUnavailable, 503, "storage-unavailable", "2", false},
		{payment.ErrForbidden, 403, "forbidden", "", false},
		{payment.ErrAttemptNotFound, 404, "not-found", "", true},
	} {
		for _, path := range paths {
			b.payments.err, b.payments.refuses = c.err, c.stored
			got := b.command(path, ``)
			p := got.is(t, c.status, c.code)
			require.Equal(t, c.wait != "", p.Retryable, c.code)
			require.Equal(t, c.wait, got.Header.Get("Retry-After"), c.code)
			require.Equal(t, "key-00000001", got.Header.Get("Idempotency-Key"))
			require.Empty(t, got.Header.Get("Idempotency-Replayed"))
			if !c.stored {
				require.Empty(t, got.Header.Get("Idempotency-Result"), c.code)
				continue
			}
			require.Equal(t, "created", got.Header.Get("Idempotency-Result"), c.code)
			b.payments.err = &idempotency.ReplayError{Response: b.payments.kept}
			again := b.command(path, ``, "X-Request-Id: "+p.RequestID)
			require.Equal(t, got.text, again.text, "to the letter")
			require.Equal(t, c.status, again.StatusCode)
			require.Equal(t, "reused", again.Header.Get("Idempotency-Result"))
			require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
		}
	}
	b.payments.err, b.payments.refuses = &idempotency.QuotaError{RetryAfter: 2500 * time.Millisecond}, false
	require.EqualValues(t, 2500, b.command(paths[0], ``).problem(t).RetryAfterMS)
}

func TestTheKeysHashIsInTheLogWhateverHappens(t *testing.T) {
	t.Parallel()
	const hash = `"idempotency_key_hash":"25e78447de76"`
	b := newBench(t)
	lines := func() []string { return strings.Split(strings.TrimSpace(b.log.String()), "\n") }
	for _, header := range []string{
		"Authorization: -", "Authorization: Bearer nobody", "Authorization: Bearer broken", "Authorization: Bearer panic",
		"Authorization: Bearer status." + attemptID.String(), "On-Behalf-Of: ", "Content-Type: text/plain",
	} {
		require.GreaterOrEqual(t, b.command("/v1/orders", goodOrder, header).StatusCode, 400, header)
	}
	b.command("/v1/orders?Idempotency-Key=key-00000001", goodOrder).is(t, 400, "idempotency-key-in-query")
	b.command("/v1/orders", `{}`).is(t, 422, "validation-failed")
	b.command("/v1/orders", `{`).is(t, 400, "malformed-request")
	b.command("/v1/orders/a%20b/cancel", ``, "Authorization: Bearer u1").is(t, 403, "forbidden")
	for _, err := range []error{
		payment.ErrUnavailable, payment.ErrBusy, idempotency.ErrKeyReused, &idempotency.QuotaError{}, http.ErrBodyNotAllowed,
	} {
		b.payments.err = err
		for _, path := range []string{"/v1/orders/A-1/cancel", attemptPath + "/confirm", attemptPath + "/cancel", attemptPath + "/refunds"} {
			b.command(path, ``)
		}
	}
	require.Len(t, lines(), 11+20, "one line a request")
	for _, line := range lines() {
		require.Contains(t, line, hash)
		require.NotContains(t, line, "key-00000001")
	}
}
