package inbox_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/inbox"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// addOne is the effect of a message.
const addOne = `UPDATE effects SET times = times + 1`

// open returns a database with an inbox and a counter of effects.
func open(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), testdb.New(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	for range 2 { // it may be there already
		_, err = pool.Exec(t.Context(), inbox.Schema)
		require.NoError(t, err)
	}
	_, err = pool.Exec(t.Context(), `CREATE TABLE effects (times int NOT NULL); INSERT INTO effects VALUES (0)`)
	require.NoError(t, err)
	return pool
}

// once delivers a message, in a transaction that is committed unless the consumer failed.
func once(ctx context.Context, pool *pgxpool.Pool, c inbox.Consumer, id string) (done bool, err error) {
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		done, err = c.Once(ctx, tx, id, func(ctx context.Context) error {
			_, err := tx.Exec(ctx, addOne)
			return err
		})
		return err
	})
	return done, err
}

func count(t *testing.T, pool *pgxpool.Pool, query string) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), query).Scan(&n))
	return n
}

func effects(t *testing.T, pool *pgxpool.Pool) int {
	t.Helper()
	return count(t, pool, `SELECT times FROM effects`)
}

func markers(t *testing.T, pool *pgxpool.Pool) int {
	t.Helper()
	return count(t, pool, `SELECT count(*) FROM processed_messages`)
}
