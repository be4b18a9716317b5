package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

func TestDueOperations(t *testing.T) {
	t.Parallel()
	store, now := enginetest.Store(t, testdb.New(t)), time.Now()
	var names []payment.OperationName
	for i, at := range []struct{ due, leased time.Duration }{
		{-time.Minute, 0}, {-time.Hour, 0}, {time.Hour, 0}, {-2 * time.Hour, time.Hour}, {-time.Second, -time.Second},
	} {
		a := placed(t, store, payment.OrderID("o"+string(rune('0'+i))))
		inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
			return save(ctx, tx, moved(a, func(o *payment.Operation) {
				o.Lose()
				o.Wait(now.Add(at.due))
				if at.leased != 0 {
					until := now.Add(at.leased)
					o.LeaseUntil = &until
				}
			}))
		})
		names = append(names, a.Operations[0].Name())
	}
	due, err := store.DueOperations(t.Context(), "acc", 10)
	require.NoError(t, err)
	require.Equal(t, []payment.OperationName{names[1], names[0], names[4]}, due)
	due, err = store.DueOperations(t.Context(), "acc", 1)
	require.NoError(t, err)
	require.Equal(t, names[1:2], due)
	due, err = store.DueOperations(t.Context(), "other", 10)
	require.NoError(t, err)
	require.Empty(t, due)
	accounts, err := store.DueAccounts(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"acc"}, accounts)
}

// TestWhatTrailsIsClosed has more trailing operations of final attempts than one statement closes. All of them are due
// longer than the one that counts.
func TestWhatTrailsIsClosed(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	store, conn := enginetest.Store(t, dsn), testdb.Connect(t, dsn)
	live, many := placed(t, store, "o1"), placedMany(t, store, 1500)
	_, err := conn.Exec(t.Context(), `UPDATE operations SET lease_until = NULL, next_at = now() - interval '1 day';
		UPDATE operations SET next_at = now() - interval '1 hour' WHERE order_id = 'o1';
		UPDATE payment_attempts SET status = 'failed', stage = 'final', finalized_at = now() WHERE order_id <> 'o1'`)
	require.NoError(t, err)
	due, err := store.DueOperations(t.Context(), "acc", 64)
	require.NoError(t, err)
	require.Equal(t, []payment.OperationName{live.Operations[0].Name()}, due)
	require.Equal(t, len(many), testdb.One[int](t, conn, `SELECT count(*) FROM operations WHERE state = 'done' AND next_at IS NULL`))
}

// TestSuccessesStayInTheirPages counts the updates that left the indexes alone (PostgreSQL:
// heap-only tuples): a success of an attempt, and its charge that is accepted and is due
// when it was due before. It has a server of its own: transactions of others keep dead rows.
func TestSuccessesStayInTheirPages(t *testing.T) {
	t.Parallel()
	dsn := testdb.Private(t).DSN("postgres")
	store, conn := enginetest.Store(t, dsn), testdb.Connect(t, dsn)
	attempts := placedMany(t, store, 1000)
	paid := time.Now()
	const commits = 40
	for i := range commits {
		inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
			var writes []changeset.AttemptWrite
			for j := i; j < len(attempts); j += commits { // neighbours are paid at different times
				a := attempts[j]
				w := moved(a, func(o *payment.Operation) { o.Accept() })
				w.Changed, w.Attempt.State, w.Attempt.Version, w.Attempt.FinalizedAt = true, fsm.Succeeded, 2, &paid
				w.Attempt.ProviderPaymentID, w.Attempt.Authorized, w.Attempt.Captured = "pp-"+a.ID.String(), 1000, 1000
				writes = append(writes, w)
			}
			return save(ctx, tx, writes...)
		})
	}
	store.Close()
	for _, table := range []string{"payment_attempts", "operations"} {
		var updated, hot int64
		require.Eventually(t, func() bool {
			require.NoError(t, conn.QueryRow(t.Context(),
				`SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = $1`, table).Scan(&updated, &hot))
			return updated == int64(len(attempts))
		}, soon, time.Millisecond, table)
		require.GreaterOrEqual(t, float64(hot)/float64(updated), 0.9, table)
	}
}
