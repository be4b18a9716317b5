package reconcile_test

import (
	"bytes"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
)

func nothing(payment.Discrepancy) {}

// TestRunDaily: of processes that are due at once one runs, and each day once; a failure is tried again after an hour.
func TestRunDaily(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	with, without := r.WithBooks()
	require.Equal(t, []string{reconcileAccount, "strict"}, with)
	require.Equal(t, []string{"bookless", "filed"}, without)
	r.bank.books = []gateway.Entry{captured(r.pay(t, "A-1").ProviderPaymentID)}

	release := make(chan struct{}, 4)
	var ran atomic.Int32
	var all sync.WaitGroup
	r.bank.between = func(int) error { <-release; return nil }
	for range 4 {
		all.Go(func() {
			n, due, err := r.RunDaily(t.Context(), reconcileAccount, nothing)
			if err == nil && due && n == (reconcile.Count{Entries: 1, Agreed: 1}) {
				ran.Add(1)
			} else if !due && err == nil {
				release <- struct{}{}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, ran.Load())
	r.bank.between = nil
	_, due, err := r.RunDaily(t.Context(), reconcileAccount, nothing)
	require.NoError(t, err)
	require.False(t, due, "once a day")

	r.Now = func() time.Time { return time.Now().Add(24 * time.Hour) }
	r.bank.between = func(int) error { return errDown }
	_, due, err = r.RunDaily(t.Context(), reconcileAccount, nothing)
	require.ErrorIs(t, err, errDown)
	require.True(t, due)
	r.bank.between = nil
	_, due, err = r.RunDaily(t.Context(), reconcileAccount, nothing)
	require.NoError(t, err)
	require.False(t, due, "within the hour")
	r.Now = func() time.Time { return time.Now().Add(25*time.Hour + time.Minute) }
	_, due, err = r.RunDaily(t.Context(), reconcileAccount, nothing)
	require.NoError(t, err)
	require.True(t, due)
	require.Equal(t, []string{"72h0m0s", "96h0m0s", "97h1m0s"}, r.spans(t))
	ages, err := r.Ages(t.Context())
	require.NoError(t, err)
	require.Len(t, ages, 1)
}

// TestRunDaily_reads_what_changes_later: an entry gets its payout ten days after it was booked, where the account's books change so late.
func TestRunDaily_reads_what_changes_later(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	late := r.Accounts.Get(reconcileAccount)
	late.BooksOverlap = 35 * 24 * time.Hour
	r.Accounts.Replace(map[string]gateway.Account{reconcileAccount: late})
	e := captured(r.pay(t, "A-1").ProviderPaymentID)
	for day := range 11 {
		now := time.Now().Add(time.Duration(day)*25*time.Hour + 2*time.Hour)
		r.Now = func() time.Time { return now }
		if day == 10 {
			e.Payout = "po_1"
		}
		r.bank.books = []gateway.Entry{e}
		_, due, err := r.RunDaily(t.Context(), reconcileAccount, nothing)
		require.NoError(t, err)
		require.True(t, due)
	}
	require.Equal(t, []string{"po_1"}, rows(t, r, "SELECT payout_id FROM settlements"))
}

// spans are how long the runs' spans are, by their beginning, to the minute.
func (r *env) spans(t *testing.T) (all []string) {
	t.Helper()
	for _, text := range rows(t, r, "SELECT extract(epoch FROM to_at - from_at)::bigint || 's' FROM reconciliations ORDER BY started_at") {
		d, err := time.ParseDuration(text)
		require.NoError(t, err)
		all = append(all, d.Round(time.Minute).String())
	}
	return all
}

func TestRunAges(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	for _, row := range []string{
		"'bank', now() - interval '50 hours', now() - interval '50 hours', 'daily'", "'bank', now() - interval '2 hours', NULL, 'daily'",
		"'strict', now() - interval '9 hours', NULL, 'daily'", "'strict', now() - interval '1 hour', now(), 'cli:sam'", "'gone', now(), current_timestamp, 'daily'",
	} {
		_, err := r.db.Exec(t.Context(), `INSERT INTO reconciliations (reconciliation_id, source, account, from_at, to_at, started_at, touched_at, finished_at, started_by)
			SELECT gen_random_uuid(), 'books', n.account, now() - interval '1 day', now(), n.at, n.at + interval '0', n.finished::timestamptz, n.by FROM (SELECT `+row+`) n (account, at, finished, by)`)
		require.NoError(t, err)
	}
	ages, err := r.Ages(t.Context())
	require.NoError(t, err)
	require.Len(t, ages, 2, "of accounts with books")
	require.InDelta(t, 50, ages["bank"].Hours(), .1, "since the last that was finished")
	require.InDelta(t, 9, ages["strict"].Hours(), .1, "since the first, where none was")
}

func TestPrinter(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	var out, progress bytes.Buffer
	p := &reconcile.Printer{Out: &out, Err: &progress, Now: func() time.Time { return now }}
	money := euros(1999)
	found := payment.Discrepancy{Kind: payment.UnknownHere, AboutID: "pay_\x1b[2J", OrderID: "A-1", Money: &money}
	n := reconcile.Count{Entries: 7, Agreed: 1, LookedUp: 2, Applied: 1, Review: 1, Foreign: 1, Outside: 1, Missing: 4, Lost: 1, Unasked: 2, Unanswered: 1}
	for range 3 {
		p.Progress(n)
	}
	now = now.Add(time.Second)
	p.Progress(n)
	p.Found(found)
	require.NoError(t, p.Sum(n))
	line := "7 entries: 1 agreed, 2 after a lookup, 1 applied, 1 to review, 1 foreign; 1 outside of the span; " +
		"4 payments without an entry: 1 unknown at the provider, 2 that can't be looked up, 1 lookups failed\n"
	require.Equal(t, line+line, progress.String())
	require.Equal(t, `unknown_here 19.99 EUR, order "A-1", of "pay_\x1b[2J"`+"\n"+line, out.String())

	out.Reset()
	p.JSON = true
	p.Found(found)
	require.NoError(t, p.Sum(n))
	var printed struct {
		Counts        map[string]int   `json:"counts"`
		Discrepancies []map[string]any `json:"discrepancies"`
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &printed))
	require.Equal(t, 2, printed.Counts["looked_up"])
	require.Equal(t, "pay_\x1b[2J", printed.Discrepancies[0]["about_id"])
	require.Contains(t, printed.Discrepancies[0]["text"], "paylatch does not have")
}
