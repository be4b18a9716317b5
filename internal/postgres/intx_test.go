package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
)

// TestInTxRunsAgainAfterASerializationFailure provokes 40001 by a stricter
// isolation and a rival that is faster each time, so often.
func TestInTxRunsAgainAfterASerializationFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rivals, runs int
		err          error
	}{
		"once":            {rivals: 1, runs: 2},
		"three times":     {rivals: 3, runs: 4},
		"again and again": {rivals: 100, runs: 4, err: payment.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := testdb.New(t)
			store, rival := enginetest.Store(t, testdb.With(t, url, "default_transaction_isolation", "serializable")), testdb.Connect(t, url)
			placed(t, store, "o1")
			runs := 0
			err := store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
				tx.Now() // the snapshot is older than the rival's update
				if runs++; runs <= c.rivals {
					_, err := rival.Exec(ctx, "UPDATE orders SET description = description || 'x'")
					require.NoError(t, err)
				}
				_, err := tx.OrderLock(ctx, "o1")
				return err
			})
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.runs, runs)
		})
	}
}

// TestInTxRunsAgainAfterADeadlock makes the transaction the victim of one.
func TestInTxRunsAgainAfterADeadlock(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store := enginetest.Store(t, testdb.With(t, url, "deadlock_timeout", "20ms"))
	placed(t, store, "o1")
	placed(t, store, "o2")
	watch, rival := testdb.Connect(t, url), testdb.Connect(t, testdb.With(t, url, "deadlock_timeout", "1h"))
	other, err := rival.Begin(t.Context())
	require.NoError(t, err)
	lock := func(tx pgx.Tx, id string) error {
		_, err := tx.Exec(t.Context(), "SELECT FROM orders WHERE order_id = $1 FOR NO KEY UPDATE", id)
		return err
	}
	require.NoError(t, lock(other, "o2"))

	runs, done := 0, make(chan error, 1)
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		runs++
		if _, err := tx.OrderLock(ctx, "o1"); err != nil {
			return err
		}
		if runs == 1 {
			go func() { done <- errors.Join(lock(other, "o1"), other.Commit(t.Context())) }()
			testdb.Waiting(t, watch, 1)
		}
		if _, err := tx.OrderLock(ctx, "o2"); err != nil {
			return err
		}
		return tx.OrderCancel(ctx, "o2", cancelled("o2"))
	})
	require.NoError(t, <-done)
	require.Greater(t, runs, 1)
	o, err := store.Order(t.Context(), "o2")
	require.NoError(t, err)
	require.NotNil(t, o.CancelRequestedAt)
}

// TestInTxLeavesNothingBehind ends transactions in every way but well.
func TestInTxLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	oops := errors.New("oops")
	for name, fail := range map[string]func(ctx context.Context, tx postgres.Tx, cancel func()) error{
		"an error":           func(context.Context, postgres.Tx, func()) error { return oops },
		"a panic":            func(context.Context, postgres.Tx, func()) error { panic(oops) },
		"a cancelled caller": func(_ context.Context, _ postgres.Tx, cancel func()) error { cancel(); return nil },
		"a caller cancelled meanwhile": func(ctx context.Context, tx postgres.Tx, cancel func()) error {
			cancel()
			return tx.OrderCancel(ctx, "o1", cancelled("o1"))
		},
		"a refused statement, ignored": func(ctx context.Context, tx postgres.Tx, _ func()) error {
			o := order("o2")
			o.Money.Minor = 0
			_, err := tx.OrderInsert(ctx, o)
			require.Error(t, err)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := enginetest.Store(t, testdb.With(t, testdb.New(t), "pool_max_conns", "1"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err := recovered(func() error {
				return store.InAnyTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
					_, err := tx.OrderInsert(ctx, order("o1"))
					require.NoError(t, err)
					return fail(ctx, tx, cancel)
				})
			})
			require.Error(t, err)
			untouched(t, store)
		})
	}
}

func recovered(do func() error) (err error) {
	defer func() {
		if p, ok := recover().(error); ok {
			err = p
		}
	}()
	return do()
}

// untouched requires that no order and no open transaction exist, and that the one connection is back.
func untouched(t *testing.T, store *postgres.Store) {
	t.Helper()
	_, err := store.Order(t.Context(), "o1")
	require.ErrorIs(t, err, payment.ErrOrderNotFound)
	require.NoError(t, store.Read(t.Context(), func(_ context.Context, c *pgxpool.Conn) error {
		require.Zero(t, testdb.One[int](t, c.Conn(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`))
		return nil
	}))
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		_, err := tx.OrderInsert(ctx, order("o1"))
		return err
	})
}

// TestMeanwhileIsWhileTheCommitIsOnItsWay keeps the storage busy with the last
// round trip.
func TestMeanwhileIsWhileTheCommitIsOnItsWay(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store, other := enginetest.Store(t, url), testdb.Connect(t, url)
	a := placed(t, store, "o1")
	write := func(id string, meanwhile func()) {
		inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
			tx.Now() // the beginning goes by itself
			tx.Meanwhile(meanwhile)
			e := payment.StoredEvent{ID: payment.EventID(uuid.New()), Verdict: "ignored", ReceivedEvent: payment.ReceivedEvent{Account: a.Account, Event: webhooks.Event{ID: id}, At: tx.Now()}}
			return tx.EventsInsert(ctx, []payment.StoredEvent{e})
		})
	}
	write("evt_1", nil) // prepares the statement
	held, err := other.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), "LOCK TABLE provider_events IN SHARE MODE")
	require.NoError(t, err)
	write("evt_2", func() {
		testdb.Waiting(t, testdb.Connect(t, url), 1)
		require.NoError(t, held.Rollback(t.Context()), "nobody else lets go of the table")
	})
	require.Equal(t, 2, testdb.One[int](t, other, "SELECT count(*) FROM provider_events"))
}

func TestMeanwhileIsNotWithoutACommit(t *testing.T) {
	t.Parallel()
	store, oops := enginetest.Store(t, testdb.New(t)), errors.New("oops")
	require.ErrorIs(t, store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		tx.Meanwhile(func() { t.Error("called") })
		_, err := tx.OrderInsert(ctx, order("o1"))
		return errors.Join(err, oops)
	}), oops)
}
