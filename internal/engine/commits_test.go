package engine_test

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
)

// acknowledged are the commits of a store, with the database in which they are looked up. It is safe for concurrent use.
type acknowledged struct {
	mu   sync.Mutex
	list []watermark.Commit
	on   *postgres.Store
}

// listen has the type of setup.store.
func (a *acknowledged) listen(s store) store {
	a.on = s.(*postgres.Store) //nolint:forcetypeassert // it is always this one
	a.on.OnAcknowledged(func(c watermark.Commit) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.list = append(a.list, c)
	})
	return s
}

func (a *acknowledged) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = nil
}

// lost returns the commits that the database does not have.
func (a *acknowledged) lost(t *testing.T, list ...watermark.Commit) []string {
	t.Helper()
	now, err := a.on.Marks().ReadMark(t.Context(), uuid.Nil)
	require.NoError(t, err)
	names, err := a.on.Marks().Lost(t.Context(), now.Server, watermark.Process{}, time.Time{}, list)
	require.NoError(t, err)
	return names
}

// TestCommitsAreFoundAgain: each commit before a call to the provider, and each acknowledged order and webhook, names a row by which
// it is found in the database, and by which no other commit is.
func TestCommitsAreFoundAgain(t *testing.T) {
	t.Parallel()
	var all acknowledged
	r := newEnv(t, setup{silent: true, change: autoRefunds, store: all.listen})
	paid := r.paid(t, "A-1", "tok_success")
	_, err := r.Refund(t.Context(), shop, request("refund", "refund-key", ""), commands.CreateRefund{AttemptID: paid.ID})
	require.NoError(t, err)
	hold := r.held(t, "A-2")
	require.NoError(t, r.confirm(t, hold.ID, "confirm-key"))
	late := r.paid(t, "A-3", "tok_decline")
	require.Equal(t, fsm.Conflict, r.say(t, late.ID, webhooks.KindSucceeded))
	due, err := r.DueRefunds(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, due, 1)
	_, err = r.RecheckRefund(t.Context(), due[0], byTest)
	require.NoError(t, err)

	r.say(t, paid.ID, webhooks.KindSucceeded) // nothing new

	require.Empty(t, all.lost(t, all.list...))
	kinds := map[watermark.CommitKind]int{}
	for _, c := range all.list {
		kinds[c.Kind]++
		other := c
		if other.ID = uuid.New(); c.Kind == watermark.CommitOrder {
			other.Order += "-"
		}
		require.Len(t, all.lost(t, other), 1, "another row than %s", c)
		if other = c; c.Kind != watermark.CommitEvent {
			other.At = c.At.Add(time.Microsecond)
			require.Len(t, all.lost(t, other), 1, "made at another time than %s", c)
		}
	}
	for _, kind := range []watermark.CommitKind{watermark.CommitOrder, watermark.CommitBegun, watermark.CommitSent, watermark.CommitVersion, watermark.CommitEvent} {
		require.Positive(t, kinds[kind], kind)
	}
	sent := rows[string](t, r, "SELECT attempt_id || ' ' || kind || '-' || number FROM operations WHERE sends > 0")
	require.Len(t, sent, 6)
	for _, name := range sent {
		require.True(t, slices.ContainsFunc(all.list, func(c watermark.Commit) bool {
			return name == c.ID.String()+" "+c.Operation+"-"+strconv.Itoa(int(c.Number))
		}), "the commit before the first byte of %s", name)
	}
}

// TestDecisionsAreFoundAgain: an amendment, a cancellation, late money that a person accepts, and positions in the feed move no attempt.
// Each of these commits is found, and is not found where the database has only what was there before it.
func TestDecisionsAreFoundAgain(t *testing.T) {
	t.Parallel()
	var all acknowledged
	r := newEnv(t, setup{silent: true, store: all.listen})
	late := r.late(t)
	r.order(t, "A-2")
	numbered := func() {
		t.Helper()
		from, to, err := all.on.NumberEvents(t.Context(), 100)
		require.NoError(t, err)
		require.Greater(t, to, from)
	}
	numbered()
	all.forget()

	r.amend(t, "amend-key", commands.AmendOrder{Amount: new(int64(price - 500))})
	_, _, err := r.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-2")
	require.NoError(t, err)
	numbered()
	r.charged(t, late)
	_, err = r.Resolve(t.Context(), sam, because(r.open(t, late)[0], payment.ResolvedAccepted))
	require.NoError(t, err)

	lost := map[watermark.CommitKind]func(c watermark.Commit) watermark.Commit{
		watermark.CommitAmended:   func(c watermark.Commit) watermark.Commit { c.ID = uuid.New(); return c },
		watermark.CommitCancelled: func(c watermark.Commit) watermark.Commit { c.Order = "A-1"; return c },
		watermark.CommitAccepted:  func(c watermark.Commit) watermark.Commit { c.Order = "A-2"; return c },
		watermark.CommitNumbered:  func(c watermark.Commit) watermark.Commit { c.Batch--; return c },
	}
	require.Empty(t, all.lost(t, all.list...))
	for kind, other := range lost {
		at := slices.IndexFunc(all.list, func(c watermark.Commit) bool { return c.Kind == kind })
		require.GreaterOrEqual(t, at, 0, "no commit is %s", kind)
		require.Len(t, all.lost(t, other(all.list[at])), 1, kind)
	}
	old := lost[watermark.CommitNumbered](all.list[slices.IndexFunc(all.list, func(c watermark.Commit) bool { return c.Kind == watermark.CommitNumbered })])
	old.At = old.At.Add(-2 * time.Hour)
	require.Empty(t, all.lost(t, old), "events of that age may have been deleted")
}
