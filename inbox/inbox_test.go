package inbox_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/inbox"
)

func TestOnce(t *testing.T) {
	t.Parallel()
	pool := open(t)
	for i := range 3 {
		done, err := once(t.Context(), pool, "", "m-1")
		require.NoError(t, err)
		require.Equal(t, i == 0, done)
	}
	require.Equal(t, 1, effects(t, pool))
	done, err := once(t.Context(), pool, "", "m-2")
	require.NoError(t, err)
	require.True(t, done)
	_, err = once(t.Context(), pool, "", "")
	require.ErrorIs(t, err, inbox.ErrNoMessageID)
	require.Equal(t, 2, effects(t, pool))
}

func TestOnceForEachConsumer(t *testing.T) {
	t.Parallel()
	pool := open(t)
	for _, c := range []inbox.Consumer{"stock", "mail", "stock", "mail"} {
		_, err := once(t.Context(), pool, c, "m-1")
		require.NoError(t, err)
	}
	require.Equal(t, 2, effects(t, pool))
	require.Equal(t, 2, markers(t, pool))
}

func TestOnceAtTheSameTime(t *testing.T) {
	t.Parallel()
	pool := open(t)
	var acted atomic.Int32
	var all sync.WaitGroup
	barrier := make(chan struct{})
	for range 200 {
		all.Go(func() {
			<-barrier
			done, err := once(t.Context(), pool, "stock", "m-1")
			if err != nil {
				t.Error(err)
			}
			if done {
				acted.Add(1)
			}
		})
	}
	close(barrier)
	all.Wait()
	require.EqualValues(t, 1, acted.Load())
	require.Equal(t, 1, effects(t, pool))
}

// The caller commits although the consumer failed: nothing of it stays, and its transaction goes on.
func TestOnceThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, fail := range map[string]func(ctx context.Context, tx pgx.Tx) error{
		"by an error": func(context.Context, pgx.Tx) error { return broken },
		"in a statement": func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `SELECT 1/0`)
			return errors.Join(broken, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := open(t)
			require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
				done, err := inbox.Once(t.Context(), tx, "m-1", func(ctx context.Context) error {
					_, err := tx.Exec(ctx, addOne)
					return errors.Join(err, fail(ctx, tx))
				})
				require.ErrorIs(t, err, broken)
				require.False(t, done)
				_, err = tx.Exec(t.Context(), `SELECT 1`)
				return err
			}))
			require.Zero(t, markers(t, pool))
			require.Zero(t, effects(t, pool))
			done, err := once(t.Context(), pool, "", "m-1")
			require.NoError(t, err)
			require.True(t, done)
		})
	}
}

// A consumer that swallows the error of a statement does not get a marker for it.
func TestOnceOfASwallowedError(t *testing.T) {
	t.Parallel()
	pool := open(t)
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := inbox.Once(t.Context(), tx, "m-1", func(ctx context.Context) error {
			_, _ = tx.Exec(ctx, `SELECT 1/0`)
			return nil
		})
		return err
	})
	require.Error(t, err)
	require.Zero(t, markers(t, pool))
}

func TestOnceThatPanics(t *testing.T) {
	t.Parallel()
	pool := open(t)
	require.PanicsWithValue(t, "broken", func() {
		_ = pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			_, err := inbox.Once(t.Context(), tx, "m-1", func(context.Context) error { panic("broken") })
			return err
		})
	})
	require.Zero(t, markers(t, pool))
}

func TestOnceInASerializableTransaction(t *testing.T) {
	t.Parallel()
	pool := open(t)
	err := pgx.BeginTxFunc(t.Context(), pool, pgx.TxOptions{IsoLevel: pgx.Serializable}, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `SELECT times FROM effects`) // takes the snapshot
		require.NoError(t, err)
		_, err = once(t.Context(), pool, "", "m-1")
		require.NoError(t, err)
		_, err = inbox.Once(t.Context(), tx, "m-1", func(context.Context) error { return nil })
		return err
	})
	var failure *pgconn.PgError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "40001", failure.Code)
	require.Equal(t, 1, effects(t, pool))
}
