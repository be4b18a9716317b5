package postgres_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/testdb"
)

// TestNothingDeadlocks crowds pays, commands, cancellations, webhooks, retries
// and checks of two replicas on few orders. A wrong order of locks would make
// PostgreSQL undo one of two; that it is then run again hides it from the
// callers, not from the count.
func TestNothingDeadlocks(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	stores := twoReplicas(t, url)
	m := newMob(t, stores...)
	impatient, stop := context.WithTimeout(t.Context(), 40*time.Second)
	defer stop()
	go func() {
		// On a slow machine it takes longer until each of them was done.
		for wait := 4 * time.Second; impatient.Err() == nil; wait = 100 * time.Millisecond {
			<-time.After(wait)
			if m.did(deeds) {
				break
			}
		}
		stop()
	}()
	m.run(impatient)
	for _, s := range stores {
		s.Close()
	}

	conn := connect(t, url)
	t.Logf("%v; %d events", m.outcomes, len(m.acked))
	require.Empty(t, m.wrong)
	require.Zero(t, deadlocks(t, conn))
	require.True(t, m.did(deeds))
	require.Zero(t, one[int](t, conn, `SELECT count(*) FROM (SELECT FROM payment_attempts WHERE status <> 'failed' GROUP BY order_id HAVING count(*) > 1) two`))
	require.Zero(t, one[int](t, conn, `SELECT count(*) FROM unnest($1::text[]) id WHERE NOT EXISTS (SELECT FROM provider_events WHERE provider_event_id = id)`, m.acked),
		"an event was acknowledged and is not on disk")
	require.Zero(t, one[int](t, conn, `SELECT count(*) FROM payment_attempts a WHERE version <> (SELECT count(*) FROM attempt_transitions t WHERE t.attempt_id = a.attempt_id)`),
		"an attempt has versions that its log does not tell of")
}

// deeds are what must have happened at least once.
var deeds = []string{"pay", "confirm", "cancel", "cancel order", "recheck", "reconcile", "retry", "intake"}

func (m *mob) did(names []string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !slices.ContainsFunc(names, func(name string) bool { return m.outcomes[name] == 0 })
}

func twoReplicas(t *testing.T, url string) []*postgres.Store {
	t.Helper()
	return []*postgres.Store{open(t, with(t, url, "pool_max_conns", "20")), open(t, with(t, url, "pool_max_conns", "20"))}
}

// TestAWrongLockOrderIsSeen shows that the test above can fail: whoever locks an
// attempt before its order deadlocks with a pay, and is counted although nobody
// notices.
func TestAWrongLockOrderIsSeen(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store := open(t, with(t, url, "deadlock_timeout", "2s"))
	a := placed(t, store, "o1")
	watch, wrong := connect(t, url), connect(t, with(t, url, "deadlock_timeout", "1h"))

	tx, err := wrong.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM payment_attempts WHERE attempt_id = $1 FOR NO KEY UPDATE", a.ID)
	require.NoError(t, err)
	paid := make(chan error, 1)
	go func() {
		paid <- store.InTx(t.Context(), func(ctx context.Context, tx payment.Tx) error {
			_, err := tx.OrderLock(ctx, "o1")
			return err
		})
	}()
	waiting(t, watch, 1)
	_, err = tx.Exec(t.Context(), "SELECT FROM orders WHERE order_id = 'o1' FOR NO KEY UPDATE")
	require.NoError(t, err)
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-paid)

	store.Close()
	require.NoError(t, wrong.Close(t.Context()))
	require.Positive(t, deadlocks(t, watch))
}

// TestSameNamesInOppositeOrder gives two attempts the same names: whoever is
// second waits, and looks again.
func TestSameNamesInOppositeOrder(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store := open(t, url)
	rival := placed(t, store, "o0")
	a, b := placed(t, store, "o1"), placed(t, store, "o2")
	name := func(a payment.Attempt, names ...string) func(ctx context.Context, tx payment.Tx) error {
		return func(ctx context.Context, tx payment.Tx) error {
			refs := make([]payment.Reference, len(names))
			for i, n := range names {
				refs[i] = payment.Reference{Account: "acc", Name: n}
			}
			owners, err := tx.ReferencesFind(ctx, refs)
			if err != nil || len(owners) > 0 {
				return err
			}
			return tx.SaveChanges(ctx, []payment.Change{{Attempt: a, Was: a.Version, Names: names}})
		}
	}
	opposed(t, url, store, "INSERT INTO attempt_references VALUES ('acc', 'm', 'o0', '"+rival.ID.String()+"')",
		name(a, "z", "m", "a"), name(b, "a", "m", "z"))
}

func TestSameDiscrepanciesInOppositeOrder(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store := open(t, url)
	find := func(events ...string) func(ctx context.Context, tx payment.Tx) error {
		var ds []payment.Discrepancy
		for _, e := range events {
			ds = append(ds, payment.Discrepancy{Kind: payment.EventChanged, Event: payment.EventKey{Account: "acc", ID: e}, At: noon})
		}
		return func(ctx context.Context, tx payment.Tx) error { return tx.DiscrepanciesOpen(ctx, ds) }
	}
	opposed(t, url, store, `INSERT INTO discrepancies (discrepancy_id, kind, account, provider_event_id, text, opened_at)
		VALUES (gen_random_uuid(), 'event_changed', 'acc', 'm', '', now())`, find("z", "m", "a"), find("a", "m", "z"))
}

// opposed holds two transactions up in their middle, so that each has what the
// other one comes to next, unless both go the same way.
func opposed(t *testing.T, url string, store *postgres.Store, middle string, fns ...func(ctx context.Context, tx payment.Tx) error) {
	t.Helper()
	watch, holder := connect(t, url), connect(t, url)
	tx, err := holder.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), middle)
	require.NoError(t, err)
	done := make(chan error, len(fns))
	for _, fn := range fns {
		go func() { done <- store.InTx(t.Context(), fn) }()
	}
	waiting(t, watch, len(fns))
	require.NoError(t, tx.Rollback(t.Context()))
	for range fns {
		require.NoError(t, <-done)
	}
	store.Close()
	require.NoError(t, holder.Close(t.Context()))
	require.Zero(t, deadlocks(t, watch))
}
