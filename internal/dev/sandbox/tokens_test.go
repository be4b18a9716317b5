package sandbox_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	const authorized, success, declined = "charge.authorized", "charge.succeeded", "charge.failed"
	tests := []struct {
		token, answer, end string
		webhooks           []string
		charged            int64
	}{
		{token: "tok_success", answer: "succeeded", end: "succeeded", webhooks: []string{success}, charged: 1999},
		{token: "tok_decline", answer: "failed", end: "failed", webhooks: []string{declined}},
		{token: "tok_async_success", answer: "pending", end: "succeeded", webhooks: []string{success}, charged: 1999},
		{token: "tok_async_decline", answer: "pending", end: "failed", webhooks: []string{declined}},
		{token: "tok_redirect", answer: "pending", end: "pending"},
		{token: "tok_webhook_first", answer: "succeeded", end: "succeeded", webhooks: []string{success}, charged: 1999},
		{token: "tok_twice", answer: "succeeded", end: "succeeded", webhooks: []string{success, success, success}, charged: 1999},
		{token: "tok_disorder", answer: "pending", end: "succeeded", webhooks: []string{success, authorized}, charged: 1999},
		{token: "tok_never", answer: "pending", end: "pending"},
		{token: "tok_late_success", answer: "failed", end: "succeeded", webhooks: []string{declined, success}, charged: 1999},
		{token: "tok_wrong_amount", answer: "succeeded", end: "succeeded", webhooks: []string{success}, charged: 2000},
	}
	for _, tt := range tests {
		t.Run(tt.token, func(t *testing.T) {
			t.Parallel()
			r, rec := startWithReceiver(t, sandbox.Options{})
			c := r.pay(t, "key-1", order("att-1", tt.token))
			require.Equal(t, tt.answer, c.Status)
			require.Equal(t, tt.answer == "failed", c.FailureCode != nil)

			end := r.becomes(t, c.ID, tt.end)
			require.Equal(t, tt.charged, end.AmountCaptured)
			require.Equal(t, tt.end == "failed", end.FailureCode != nil)
			for _, a := range rec.gets(t, tt.webhooks...) {
				require.Equal(t, []any{c.ID, "att-1", end.Amount, "EUR"},
					[]any{a.Data.ChargeID, a.Data.Reference, a.Data.Amount, a.Data.Currency})
				require.Nil(t, a.Data.RefundID)
				require.Equal(t, a.Type == declined, a.Data.FailureCode != nil)
			}
			requireCharged(t, r, c.ID, tt.charged)
		})
	}
}

func TestTokensWithManualCapture(t *testing.T) {
	t.Parallel()
	tests := []struct {
		token, answer string
		webhooks      []string
	}{
		{token: "tok_success", answer: "authorized"},
		{token: "tok_async_success", answer: "pending"},
		{token: "tok_webhook_first", answer: "authorized"},
		{token: "tok_disorder", answer: "pending"},
		{token: "tok_late_success", answer: "failed", webhooks: []string{"charge.failed"}},
	}
	for _, tt := range tests {
		t.Run(tt.token, func(t *testing.T) {
			t.Parallel()
			r, rec := startWithReceiver(t, sandbox.Options{})
			c := r.pay(t, "key-1", manual("att-1", tt.token))
			require.Equal(t, tt.answer, c.Status)
			require.Zero(t, r.becomes(t, c.ID, "authorized").AmountCaptured)
			seen := append(slices.Clone(tt.webhooks), "charge.authorized")
			rec.gets(t, seen...)
			require.Empty(t, r.ledger(t), "an authorisation is no movement")

			captured := r.post(t, "/v1/charges/"+c.ID+"/capture", "key-2", "")
			require.Equal(t, http.StatusOK, captured.status, captured.body)
			require.Equal(t, "succeeded", captured.charge(t).Status)
			rec.gets(t, append(seen, "charge.succeeded")...)
			requireCharged(t, r, c.ID, 1999)
			require.Equal(t, "key-2", r.ledger(t)[0].IdempotencyKey)
		})
	}
}

func TestTokensWithoutResponse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		token   string
		hangs   bool
		charges int // that a lookup finds before the second call
	}{
		{token: "tok_hang_charged", hangs: true, charges: 1},
		{token: "tok_hang_not_charged", hangs: true},
		{token: "tok_500_charged", charges: 1},
		{token: "tok_500_once"},
	}
	for _, tt := range tests {
		t.Run(tt.token, func(t *testing.T) {
			t.Parallel()
			delays := quick()
			delays.Hang = 20 * time.Millisecond
			r, rec := startWithReceiver(t, sandbox.Options{Delays: delays})
			requireNoAnswer(t, r, tt.hangs, order("att-1", tt.token))
			require.Len(t, r.find(t, "att-1"), tt.charges)
			require.Len(t, r.ledger(t), tt.charges)

			c := r.pay(t, "key-1", order("att-1", tt.token))
			require.Equal(t, "succeeded", c.Status)
			require.Equal(t, []charge{c}, r.find(t, "att-1"))
			requireCharged(t, r, c.ID, 1999)
			rec.gets(t, "charge.succeeded")
		})
	}
}

func requireNoAnswer(t *testing.T, r *env, hangs bool, body string) {
	t.Helper()
	began := time.Now()
	a, err := r.send(t.Context(), http.MethodPost, "/v1/charges", "key-1", body)
	if hangs { // the connection is closed in the end
		require.Error(t, err)
		require.GreaterOrEqual(t, time.Since(began), 20*time.Millisecond)
		return
	}
	require.NoError(t, err)
	require.Equal(t, http.StatusInternalServerError, a.status)
	require.Equal(t, "internal_error", a.failure(t).Code)
}

func requireCharged(t *testing.T, r *env, id string, amount int64) {
	t.Helper()
	entries := r.ledger(t)
	if amount == 0 {
		require.Empty(t, entries)
		return
	}
	require.Len(t, entries, 1)
	e := entries[0]
	require.Equal(t, []any{"charge", id, "att-1", amount, "EUR"}, []any{e.Kind, e.ChargeID, e.Reference, e.Amount, e.Currency})
	require.NotEmpty(t, e.EntryID)
	_, err := time.Parse(time.RFC3339, e.At)
	require.NoError(t, err)
}

func TestHangIsBounded(t *testing.T) {
	t.Parallel()
	delays := quick()
	delays.Hang = 20 * time.Millisecond
	r := start(t, sandbox.Options{Delays: delays})
	_, err := r.send(t.Context(), http.MethodPost, "/v1/charges", "key-1", order("att-1", "tok_hang_charged"))
	require.Error(t, err, "the connection is closed without an answer")
}

func TestCloseHangingCalls(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	// On a reused connection net/http itself would repeat a call that has a key.
	fresh := &env{url: r.url, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	hung := make(chan error, 1)
	go func() {
		_, err := fresh.send(t.Context(), http.MethodPost, "/v1/charges", "key-1", order("att-1", "tok_hang_charged"))
		hung <- err
	}()
	require.Eventually(t, func() bool { return len(r.find(t, "att-1")) == 1 }, patience, tick)
	r.stop()
	require.Error(t, <-hung)
}

func TestUnknownToken(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	a := r.post(t, "/v1/charges", "key-1", order("att-1", "tok_other"))
	require.Equal(t, http.StatusUnprocessableEntity, a.status)
	require.Equal(t, "invalid_token", a.failure(t).Code)
	require.Empty(t, r.find(t, "att-1"))
	r.pay(t, "key-1", order("att-1", "tok_success")) // the refusal did not use the key up
}
