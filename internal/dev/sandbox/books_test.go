package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/dev/sandbox/sandboxtest"
)

type page struct {
	Items []json.RawMessage
	Next  string `json:"next_cursor"`
}

// list reads a list to its end, and counts the pages.
func (r *env) list(t *testing.T, path string, query url.Values) (all []json.RawMessage, pages int) {
	t.Helper()
	for {
		a := r.get(t, path+"?"+query.Encode())
		require.Equal(t, http.StatusOK, a.status, a.body)
		p := parse[page](t, a.body)
		all, pages = append(all, p.Items...), pages+1
		if p.Next == "" {
			return all, pages
		}
		query.Set("cursor", p.Next)
	}
}

type booked struct {
	EntryID   string `json:"entry_id"`
	Kind      string
	OrderID   string `json:"order_id"`
	RefundID  string `json:"refund_id"`
	DisputeID string `json:"dispute_id"`
	Amount    int64
	Fee, Net  int64
	PayoutID  *string `json:"payout_id"`
}

func (r *env) balance(t *testing.T, query url.Values) (all []booked) {
	t.Helper()
	items, _ := r.list(t, "/v1/balance", query)
	for _, item := range items {
		all = append(all, parse[booked](t, string(item)))
	}
	return all
}

// noon is when the tests' clocks begin.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func TestBalance(t *testing.T) {
	t.Parallel()
	clock := sandboxtest.NewClock(noon())
	r := start(t, sandbox.Options{Now: clock.Now, Until: clock.Until})
	c := r.pay(t, "key-1", `{"reference":"att-1","order_id":"A-1","amount":1999,"currency":"EUR","token":"tok_success"}`)
	re := r.post(t, "/v1/dashboard/charges/"+c.ID+"/refund", "", `{"amount":499}`).refund(t)
	d := r.disputed(t, c.ID, "")
	clock.Advance(24 * time.Hour)
	r.decided(t, d.ID, "win")

	all := r.balance(t, url.Values{})
	first := new("po_20260301_eur")
	for i, m := range r.ledger(t) {
		require.Equal(t, m.EntryID, all[i].EntryID)
		all[i].EntryID = ""
	}
	require.Equal(t, []booked{
		{Kind: "charge", OrderID: "A-1", Amount: 1999, Fee: 53, Net: 1946, PayoutID: first},
		{Kind: "refund", OrderID: "A-1", RefundID: re.ID, Amount: 499, Net: -499, PayoutID: first},
		{Kind: "chargeback", OrderID: "A-1", DisputeID: d.ID, Amount: 1500, Net: -1500, PayoutID: first},
		{Kind: "chargeback_reversal", OrderID: "A-1", DisputeID: d.ID, Amount: 1500, Net: 1500},
	}, all)

	midnight := noon().Truncate(24*time.Hour).AddDate(0, 0, 1).Format(time.RFC3339)
	require.Len(t, r.balance(t, url.Values{"to": {midnight}}), 3)
	require.Len(t, r.balance(t, url.Values{"from": {midnight}}), 1)
	items, pages := r.list(t, "/v1/balance", url.Values{"limit": {"2"}, "to": {midnight}})
	require.Len(t, items, 3)
	require.Equal(t, 2, pages)
}

func TestListsRefuseOtherQueries(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	for _, query := range []string{"limit=0", "limit=101", "limit=x", "cursor=x", "cursor=-1", "from=yesterday", "to=1"} {
		for _, path := range []string{"/v1/balance?", "/v1/events?"} {
			a := r.get(t, path+query)
			require.Equal(t, http.StatusUnprocessableEntity, a.status, path+query)
			require.Equal(t, "validation_failed", a.failure(t).Code)
		}
	}
	require.JSONEq(t, `{"items":[],"next_cursor":null}`, r.get(t, "/v1/balance?cursor=7").body)
}

// The list has each event with the very bytes of its webhook, and those that were never sent.
func TestEventsListed(t *testing.T) {
	t.Parallel()
	r, rec := startWithReceiver(t, sandbox.Options{})
	c := r.pay(t, "key-1", order("a<b>&\u2028", "tok_success"))
	r.disputed(t, c.ID, `{"reason":"a<b>"}`)
	require.Eventually(t, func() bool { return len(rec.all()) == 2 }, patience, tick)
	sent, listed := map[string]bool{}, map[string]bool{}
	for _, a := range rec.all() {
		sent[a.raw] = true
	}
	items, _ := r.list(t, "/v1/events", url.Values{"limit": {"1"}})
	for _, item := range items {
		listed[string(item)] = true
	}
	require.Equal(t, sent, listed)

	silent := start(t, sandbox.Options{})
	silent.pay(t, "key-1", order("att-1", "tok_success"))
	items, _ = silent.list(t, "/v1/events", url.Values{})
	require.Len(t, items, 1, "without an address for webhooks, too")
}

// lostOf returns the payments without any webhook, out of 50 at a provider that loses webhooks.
func lostOf(t *testing.T, seed uint64) (lost []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	r, rec := startWithReceiver(t, sandbox.Options{StateFile: path, Lose: 0.2, Seed: seed})
	for i := range 50 {
		r.pay(t, fmt.Sprintf("key-%d", i), order(fmt.Sprintf("att-%d", i), "tok_success"))
	}
	items, _ := r.list(t, "/v1/events", url.Values{})
	require.Len(t, items, 50, "the list has what is lost")
	require.Eventually(t, func() bool {
		state, err := os.ReadFile(path)
		return err == nil && received(t, path)+strings.Count(string(state), `"listed":true`) == 50
	}, patience, tick)
	r.stop()
	came := rec.distinct()
	for i := range 50 {
		if name := fmt.Sprintf("att-%d", i); !slices.Contains(came, name+" charge.succeeded") {
			lost = append(lost, name)
		}
	}
	return lost
}

func TestLose(t *testing.T) {
	t.Parallel()
	lost := lostOf(t, 7)
	require.InDelta(t, 10, len(lost), 5)
	require.Equal(t, lost, lostOf(t, 7), "one seed loses the same")
	require.NotEqual(t, lost, lostOf(t, 8))
}

// A month is played in no time: later steps of charges, deliveries and their back-off follow the clock.
func TestClock(t *testing.T) {
	t.Parallel()
	clock := sandboxtest.NewClock(noon())
	rec := newReceiver(t)
	var down atomic.Bool
	var tries atomic.Int32
	rec.hook = func(arrival) int {
		tries.Add(1)
		if down.Load() {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	}
	r := start(t, sandbox.Options{
		WebhookURL: rec.url, WebhookSecret: secret, Now: clock.Now, Until: clock.Until, Signed: time.Now,
		Delays: sandbox.Delays{Async: 2 * time.Hour, RetryMin: time.Hour, RetryMax: time.Hour, Timeout: patience},
	})
	for day := range 30 {
		c := r.pay(t, fmt.Sprintf("key-%d", day), order(fmt.Sprintf("att-%d", day), "tok_async_success"))
		require.Equal(t, "pending", r.lookup(t, c.ID).Status)
		down.Store(day%10 == 9)
		before := tries.Load()
		clock.Advance(2 * time.Hour)
		r.becomes(t, c.ID, "succeeded")
		clock.Advance(time.Second)
		require.Eventually(t, func() bool { return tries.Load() > before }, patience, tick)
		if down.Swap(false) {
			require.Len(t, rec.all(), day, "nothing is sent again before its time")
		}
		require.Eventually(t, func() bool {
			clock.Advance(10 * time.Minute)
			return len(rec.all()) > day
		}, patience, tick)
		clock.Advance(noon().AddDate(0, 0, day+1).Sub(clock.Now()))
	}
	march := url.Values{"from": {"2026-03-01T00:00:00Z"}, "to": {"2026-03-31T00:00:00Z"}}
	all := r.balance(t, march)
	require.Len(t, all, 30)
	require.Equal(t, "po_20260330_eur", *all[29].PayoutID)
	require.Len(t, rec.all(), 30)
}
