package pool_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// open opens a pool with the limits of a busy machine, except for limits that the address sets.
func open(t *testing.T, url string) *pool.Pool {
	t.Helper()
	p := usual(t, testdb.Patient(url))
	p.Patiently(testdb.Patience)
	return p
}

// usual opens a pool with the limits of a process.
func usual(t *testing.T, url string) *pool.Pool {
	t.Helper()
	p, err := pool.Open(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

func read(t *testing.T, p *pool.Pool) error {
	t.Helper()
	return p.Read(t.Context(), func(ctx context.Context, c *pgxpool.Conn) error {
		_, err := c.Exec(ctx, "SELECT FROM orders")
		return err
	})
}

func write(t *testing.T, p *pool.Pool) error {
	t.Helper()
	return p.InTx(t.Context(), func(ctx context.Context, tx *pipeline.Tx) error {
		_, err := tx.Exec(ctx, "SELECT FROM orders FOR NO KEY UPDATE")
		return err
	})
}
