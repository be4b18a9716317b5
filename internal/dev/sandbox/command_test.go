package sandbox_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/dev/sandbox/sandboxtest"
)

func TestCapture(t *testing.T) {
	t.Parallel()
	r, rec := startWithReceiver(t, sandbox.Options{})
	c := r.pay(t, "key-1", manual("att-1", "tok_success"))
	rec.gets(t, "charge.authorized")
	path := "/v1/charges/" + c.ID + "/capture"
	requireRefused(t, r.post(t, path, "key-2", `{"amount":2000}`), "capture_exceeds_authorization", "authorized")

	got := r.post(t, path, "key-3", `{"amount":1500}`)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Equal(t, int64(1999), got.charge(t).Amount)
	require.Equal(t, int64(1500), got.charge(t).AmountCaptured)
	requireRefused(t, r.post(t, path, "key-4", ""), "charge_not_capturable", "succeeded")
	requireCharged(t, r, c.ID, 1500)
	require.Equal(t, int64(1500), rec.gets(t, "charge.authorized", "charge.succeeded")[1].Data.Amount)
}

func TestCaptureNotAuthorized(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	c := r.pay(t, "key-1", manual("att-1", "tok_never"))
	requireRefused(t, r.post(t, "/v1/charges/"+c.ID+"/capture", "key-2", ""), "charge_not_capturable", "pending")
	requireNotFound(t, r.post(t, "/v1/charges/ch_0/capture", "key-3", ""))
}

func TestCancel(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body string }{
		{"pending", order("att-1", "tok_never")},
		{"redirect", order("att-1", "tok_redirect")},
		{"authorized", manual("att-1", "tok_success")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, rec := startWithReceiver(t, sandbox.Options{})
			c := r.pay(t, "key-1", tt.body)
			var told []string
			if c.Status == "authorized" {
				told = []string{"charge.authorized"}
			}
			rec.gets(t, told...)
			got := r.post(t, "/v1/charges/"+c.ID+"/cancel", "key-2", "")
			require.Equal(t, http.StatusOK, got.status, got.body)
			require.Equal(t, "canceled", got.charge(t).Status)
			require.Nil(t, got.charge(t).NextAction)
			rec.gets(t, append(told, "charge.canceled")...)
			require.Empty(t, r.ledger(t))
		})
	}
}

func TestCancelFinal(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	for token, status := range map[string]string{"tok_success": "succeeded", "tok_decline": "failed"} {
		c := r.pay(t, "key-"+token, order(token, token))
		requireRefused(t, r.post(t, "/v1/charges/"+c.ID+"/cancel", "cancel-"+token, ""), "charge_final", status)
	}
	requireNotFound(t, r.post(t, "/v1/charges/ch_0/cancel", "key-3", ""))
}

func TestCancelStopsPlan(t *testing.T) {
	t.Parallel()
	clock, delays := sandboxtest.NewClock(noon()), quick()
	delays.Async = time.Hour
	r, rec := startWithReceiver(t, sandbox.Options{Delays: delays, Now: clock.Now, Until: clock.Until, Signed: time.Now})
	c := r.pay(t, "key-1", order("att-1", "tok_async_success"))
	require.Equal(t, http.StatusOK, r.post(t, "/v1/charges/"+c.ID+"/cancel", "key-2", "").status)
	clock.Advance(time.Minute)
	rec.gets(t, "charge.canceled")
	// A later one of the same delay shows that the time of the first has passed.
	later := r.pay(t, "key-3", order("att-2", "tok_async_decline"))
	clock.Advance(time.Hour)
	r.becomes(t, later.ID, "failed")
	require.Equal(t, "canceled", r.lookup(t, c.ID).Status)
	require.Empty(t, r.ledger(t))
}

func TestRefunds(t *testing.T) {
	t.Parallel()
	r, rec := startWithReceiver(t, sandbox.Options{})
	c := r.pay(t, "key-1", order("att-1", "tok_success"))
	rec.gets(t, "charge.succeeded")
	path := "/v1/charges/" + c.ID + "/refunds"

	a := r.post(t, path, "key-2", `{"amount":500,"reference":"ref-1"}`)
	require.Equal(t, http.StatusCreated, a.status, a.body)
	first := a.refund(t)
	require.Equal(t, refund{ID: first.ID, ChargeID: c.ID, Reference: "ref-1", Amount: 500, Currency: "EUR", Status: "succeeded"}, first)
	requireRefused(t, r.post(t, path, "key-3", `{"amount":1500}`), "refund_exceeds_charge", "succeeded")
	rest := r.post(t, path, "key-4", "").refund(t)
	require.Equal(t, int64(1499), rest.Amount)
	requireRefused(t, r.post(t, path, "key-5", ""), "refund_exceeds_charge", "succeeded")

	require.Equal(t, int64(1999), r.lookup(t, c.ID).AmountRefunded)
	require.Equal(t, first, r.get(t, "/v1/refunds/"+first.ID).refund(t))
	found := parse[struct{ Items []refund }](t, r.get(t, "/v1/refunds?reference=ref-1").body).Items
	require.Equal(t, []refund{first}, found)
	requireNotFound(t, r.get(t, "/v1/refunds/re_0"))

	entries := r.ledger(t)
	require.Len(t, entries, 3)
	require.Equal(t, []any{"refund", c.ID, "att-1", "key-2", int64(500)},
		[]any{entries[1].Kind, entries[1].ChargeID, entries[1].Reference, entries[1].IdempotencyKey, entries[1].Amount})
	refunded := map[string]int64{}
	require.Eventually(t, func() bool { return len(rec.all()) == 3 }, patience, tick)
	for _, news := range rec.all()[1:] {
		require.Equal(t, "refund.succeeded", news.Type)
		refunded[*news.Data.RefundID] = news.Data.Amount
	}
	require.Equal(t, map[string]int64{first.ID: 500, rest.ID: 1499}, refunded)
}

func TestRefundsNotRefundable(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	c := r.pay(t, "key-1", manual("att-1", "tok_success"))
	requireRefused(t, r.post(t, "/v1/charges/"+c.ID+"/refunds", "key-2", ""), "charge_not_refundable", "authorized")
	requireNotFound(t, r.post(t, "/v1/charges/ch_0/refunds", "key-3", ""))
}

func TestRefundsConcurrent(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	c := r.pay(t, "key-1", order("att-1", "tok_success"))
	var statuses [2]int
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() {
			a, _ := r.send(t.Context(), http.MethodPost, "/v1/charges/"+c.ID+"/refunds", []string{"a", "b"}[i], `{"amount":1200}`)
			statuses[i] = a.status
		})
	}
	wg.Wait()
	require.ElementsMatch(t, []int{http.StatusCreated, http.StatusConflict}, statuses[:])
	require.Len(t, r.ledger(t), 2)
}

func TestLookups(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	requireNotFound(t, r.get(t, "/v1/charges/ch_0"))
	require.JSONEq(t, `{"items":[]}`, r.get(t, "/v1/charges?reference=none").body)
	require.JSONEq(t, `{"items":[]}`, r.get(t, "/v1/refunds?reference=none").body)
	require.JSONEq(t, `[]`, r.get(t, "/v1/ledger").body)
	require.Equal(t, http.StatusUnprocessableEntity, r.get(t, "/v1/charges").status)

	first := r.pay(t, "key-1", order("att-1", "tok_success"))
	second := r.pay(t, "key-2", order("att-1", "tok_success"))
	require.Equal(t, []charge{first, second}, r.find(t, "att-1"), "another key is another charge")
	require.Len(t, r.ledger(t), 2)
}

func requireRefused(t *testing.T, a answer, code, status string) {
	t.Helper()
	require.Equal(t, http.StatusConflict, a.status, a.body)
	require.Equal(t, code, a.failure(t).Code)
	require.Equal(t, status, a.failure(t).ChargeStatus)
}

func requireNotFound(t *testing.T, a answer) {
	t.Helper()
	require.Equal(t, http.StatusNotFound, a.status, a.body)
	require.Equal(t, "not_found", a.failure(t).Code)
}
