package postgres_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

// TestNothingDeadlocks runs pays, commands, cancellations, webhooks, retries and checks of two replicas at once on few
// orders. A wrong order of locks would make PostgreSQL abort one of two transactions. The rerun hides that from the
// callers, but not from the count.
func TestNothingDeadlocks(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	stores := twoReplicas(t, url)
	var l *load
	// On a slow machine each call and each lease needs longer until each action was done once.
	for pace := 40 * time.Millisecond; pace < time.Minute; pace *= 4 {
		l = newLoad(t, l, pace, stores...)
		impatient, stop := context.WithTimeout(t.Context(), 40*time.Second+100*pace)
		go func() {
			defer stop()
			for wait := 4 * time.Second; impatient.Err() == nil; wait = 100 * time.Millisecond {
				<-time.After(wait)
				if l.did(happened) {
					return
				}
			}
		}()
		l.run(impatient)
		if l.did(happened) {
			break
		}
	}
	for _, s := range stores {
		s.Close()
	}

	conn := testdb.Connect(t, url)
	t.Logf("%v; %d events", l.outcomes, len(l.acked))
	require.Empty(t, l.wrong)
	require.Zero(t, deadlocks(t, conn))
	require.True(t, l.did(happened))
	require.Zero(t, testdb.One[int](t, conn, `SELECT count(*) FROM (SELECT FROM payment_attempts WHERE status <> 'failed' GROUP BY order_id HAVING count(*) > 1) two`))
	require.Zero(t, testdb.One[int](t, conn, `SELECT count(*) FROM unnest($1::text[]) id WHERE NOT EXISTS (SELECT FROM provider_events WHERE provider_event_id = id)`, l.acked),
		"an event was acknowledged and is not on disk")
	require.Zero(t, testdb.One[int](t, conn, `SELECT count(*) FROM payment_attempts a WHERE version <> (SELECT count(*) FROM attempt_transitions t WHERE t.attempt_id = a.attempt_id)`),
		"an attempt has versions that its log does not tell of")
}

// happened are the actions that must have happened at least once.
var happened = []string{"pay", "confirm", "cancel", "cancel order", "recheck", "reconcile", "retry", "intake"}

func (l *load) did(names []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !slices.ContainsFunc(names, func(name string) bool { return l.outcomes[name] == 0 })
}

func twoReplicas(t *testing.T, url string) []*postgres.Store {
	t.Helper()
	return []*postgres.Store{enginetest.Store(t, testdb.With(t, url, "pool_max_conns", "20")), enginetest.Store(t, testdb.With(t, url, "pool_max_conns", "20"))}
}

// TestAWrongLockOrderIsSeen shows that the test above can fail. A transaction that locks an attempt before its order
// deadlocks with a pay. The test counts the deadlock although no caller notices it.
func TestAWrongLockOrderIsSeen(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	a := placed(t, enginetest.Store(t, url), "o1")
	watch := testdb.Connect(t, url)
	// PostgreSQL looks for a deadlock once, when a wait has lasted deadlock_timeout: the other wait must have begun by then.
	for _, limits := range [][2]string{{"1s", "10s"}, {"10s", "40s"}, {"60s", "120s"}} {
		if paidThroughADeadlock(t, testdb.With(t, url, "deadlock_timeout", limits[0], "lock_timeout", limits[1]), watch, a) == nil {
			break
		}
	}
	_, err := watch.Exec(t.Context(), "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	require.NoError(t, err)
	require.Positive(t, deadlocks(t, watch))
}

// paidThroughADeadlock locks an order for a pay, and for another transaction that has locked the attempt before. It returns the pay's error.
func paidThroughADeadlock(t *testing.T, url string, watch *pgx.Conn, a payment.Attempt) error {
	t.Helper()
	store, wrong := enginetest.Store(t, url), testdb.Connect(t, testdb.With(t, url, "deadlock_timeout", "1h", "lock_timeout", "0"))
	tx, err := wrong.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM payment_attempts WHERE attempt_id = $1 FOR NO KEY UPDATE", a.ID)
	require.NoError(t, err)
	paid := make(chan error, 1)
	go func() {
		paid <- store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
			_, err := tx.OrderLock(ctx, "o1")
			return err
		})
	}()
	testdb.Waiting(t, watch, 1)
	_, err = tx.Exec(t.Context(), "SELECT FROM orders WHERE order_id = 'o1' FOR NO KEY UPDATE")
	require.NoError(t, err)
	require.NoError(t, tx.Commit(t.Context()))
	return <-paid
}

// TestSameNamesInOppositeOrder gives two attempts the same names: whoever is
// second waits, and looks again.
func TestSameNamesInOppositeOrder(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store := enginetest.Store(t, url)
	rival := placed(t, store, "o0")
	a, b := placed(t, store, "o1"), placed(t, store, "o2")
	name := func(a payment.Attempt, names ...string) func(ctx context.Context, tx postgres.Tx) error {
		return func(ctx context.Context, tx postgres.Tx) error {
			refs := make([]payment.Reference, len(names))
			for i, n := range names {
				refs[i] = payment.Reference{Account: "acc", Name: n}
			}
			owners, err := tx.ReferencesFind(ctx, refs)
			if err != nil || len(owners) > 0 {
				return err
			}
			return save(ctx, tx, changeset.AttemptWrite{Attempt: a, Names: names})
		}
	}
	opposed(t, url, store, "INSERT INTO attempt_references VALUES ('acc', 'm', 'o0', '"+rival.ID.String()+"')",
		name(a, "z", "m", "a"), name(b, "a", "m", "z"))
}

// TestSameMovementsInOppositeOrder is TestSameNamesInOppositeOrder for named movements.
func TestSameMovementsInOppositeOrder(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store := enginetest.Store(t, url)
	a, b := placed(t, store, "o1"), placed(t, store, "o2")
	record := func(a payment.Attempt, ids ...string) func(ctx context.Context, tx postgres.Tx) error {
		return func(ctx context.Context, tx postgres.Tx) error {
			w := changeset.AttemptWrite{Attempt: a}
			names := make([]payment.MovementName, len(ids))
			for i, id := range ids {
				names[i] = payment.MovementName{Account: "acc", Kind: payment.MovementRefund, ID: id}
				w.Movements = append(w.Movements, payment.Movement{
					Number: i + 1, Kind: payment.MovementRefund, Source: payment.MovementNamed, ProviderID: id, Money: a.Money,
					Cause: payment.Cause{Kind: payment.CauseWebhook}, RecordedAt: noon,
				})
			}
			owners, err := tx.MovementOwners(ctx, names)
			if err != nil || len(owners) > 0 {
				return err
			}
			return save(ctx, tx, w)
		}
	}
	opposed(t, url, store, `INSERT INTO money_movements (order_id, attempt_id, number, account, kind, source, provider_id, amount, currency, cause, recorded_at)
		VALUES ('o0', gen_random_uuid(), 1, 'acc', 'refund', 'named', 'm', 1, 'EUR', 'webhook', now())`, record(a, "z", "m", "a"), record(b, "a", "m", "z"))
}

func TestSameDiscrepanciesInOppositeOrder(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store := enginetest.Store(t, url)
	find := func(events ...string) func(ctx context.Context, tx postgres.Tx) error {
		var ds []changeset.DiscrepancyWrite
		for _, e := range events {
			d := payment.Discrepancy{
				ID: payment.DiscrepancyID(uuid.New()), Kind: payment.EventChanged, Event: payment.EventKey{Account: "acc", ID: e}, At: noon,
			}
			ds = append(ds, changeset.DiscrepancyWrite{Discrepancy: d, Opened: outbox.Discrepancy(d)})
		}
		return func(ctx context.Context, tx postgres.Tx) error {
			return tx.Save(ctx, changeset.Writes{Discrepancies: ds})
		}
	}
	opposed(t, url, store, `INSERT INTO discrepancies (discrepancy_id, kind, account, provider_event_id, text, opened_at)
		VALUES (gen_random_uuid(), 'event_changed', 'acc', 'm', '', now())`, find("z", "m", "a"), find("a", "m", "z"))
}

// opposed stops two transactions in their middle, so that each holds the lock that the other one needs next, unless both
// lock in the same order.
func opposed(t *testing.T, url string, store *postgres.Store, middle string, fns ...func(ctx context.Context, tx postgres.Tx) error) {
	t.Helper()
	watch, holder := testdb.Connect(t, url), testdb.Connect(t, url)
	tx, err := holder.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), middle)
	require.NoError(t, err)
	done := make(chan error, len(fns))
	for _, fn := range fns {
		go func() { done <- store.InAnyTx(t.Context(), fn) }()
	}
	testdb.Waiting(t, watch, len(fns))
	require.NoError(t, tx.Rollback(t.Context()))
	for range fns {
		require.NoError(t, <-done)
	}
	store.Close()
	require.NoError(t, holder.Close(t.Context()))
	require.Zero(t, deadlocks(t, watch))
}
