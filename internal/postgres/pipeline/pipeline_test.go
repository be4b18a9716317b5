package pipeline_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// fixture is a connection with an empty table t(n int PRIMARY KEY) that counts round trips.
type fixture struct {
	*pgx.Conn

	batches int
}

func (f *fixture) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (f *fixture) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (f *fixture) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	f.batches++
	return ctx
}
func (f *fixture) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (f *fixture) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{}
	cfg, err := pgx.ParseConfig(testdb.New(t))
	require.NoError(t, err)
	cfg.Tracer = f
	f.Conn, err = pgx.ConnectConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close(context.WithoutCancel(t.Context())) })
	_, err = f.Exec(t.Context(), "CREATE TABLE t (n int PRIMARY KEY)")
	require.NoError(t, err)
	return f
}

func (f *fixture) begin(t *testing.T) *pipeline.Tx {
	t.Helper()
	tx := pipeline.New(t.Context(), f.Conn, pipeline.Begin)
	t.Cleanup(func() { tx.Rollback(t.Context()) })
	return tx
}

func (f *fixture) rows(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, f.QueryRow(t.Context(), "SELECT count(*) FROM t").Scan(&n))
	return n
}

func insert(ctx context.Context, db pipeline.DB, n int) (pgconn.CommandTag, error) {
	return db.Exec(ctx, "INSERT INTO t VALUES ($1)", n)
}

func value(ctx context.Context, to *int, n int) pipeline.Query {
	return func(db pipeline.DB) error { return db.QueryRow(ctx, "SELECT $1::int", n).Scan(to) }
}

func TestTx_Pipeline(t *testing.T) {
	t.Parallel()
	t.Run("queries and deferred writes are one round trip", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		tx := f.begin(t)
		_, err := insert(t.Context(), tx.Deferred(), 1)
		require.NoError(t, err)
		require.Zero(t, f.batches)
		var one, all int
		var list []int
		err = tx.Pipeline(t.Context(), value(t.Context(), &one, 7), func(db pipeline.DB) error {
			rows, err := db.Query(t.Context(), "SELECT n FROM t")
			if err != nil {
				return err
			}
			list, err = pgx.CollectRows(rows, pgx.RowTo[int])
			return err
		}, func(db pipeline.DB) error {
			tag, err := insert(t.Context(), db, 2)
			all = int(tag.RowsAffected())
			return err
		})
		require.NoError(t, err)
		require.Equal(t, []any{7, []int{1}, 1, 1}, []any{one, list, all, f.batches})
		require.False(t, tx.Now().IsZero())
		require.NoError(t, tx.Commit(t.Context()))
		require.Equal(t, 2, f.batches)
		require.Equal(t, 2, f.rows(t))
	})
	t.Run("the first error is returned", func(t *testing.T) {
		t.Parallel()
		f, missing, n := newFixture(t), errors.New("missing"), 0
		err := f.begin(t).Pipeline(t.Context(), func(db pipeline.DB) error {
			err := db.QueryRow(t.Context(), "SELECT n FROM t").Scan(&n)
			if errors.Is(err, pgx.ErrNoRows) {
				return missing
			}
			return err
		}, value(t.Context(), &n, 3))
		require.ErrorIs(t, err, missing)
		require.Zero(t, n)
	})
	t.Run("not one statement", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		err := f.begin(t).Pipeline(t.Context(), func(pipeline.DB) error { return nil })
		require.ErrorContains(t, err, "0 statements")
		require.Zero(t, f.batches)
	})
}

func TestTx_Commit(t *testing.T) {
	t.Parallel()
	t.Run("nothing was done", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		require.NoError(t, f.begin(t).Commit(t.Context()))
		require.Zero(t, f.batches)
	})
	t.Run("travels with deferred writes", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		tx, called := f.begin(t), false
		tx.Meanwhile(func() { called = true })
		_, err := insert(t.Context(), tx.Deferred(), 1)
		require.NoError(t, err)
		require.NoError(t, tx.Commit(t.Context()))
		require.Equal(t, []any{1, true, 1}, []any{f.batches, called, f.rows(t)})
	})
	t.Run("too few rows undo it", func(t *testing.T) {
		t.Parallel()
		f, missed := newFixture(t), errors.New("missed")
		tx := f.begin(t)
		_, err := insert(t.Context(), tx.Deferred(), 1)
		require.NoError(t, err)
		_, err = tx.DeferredRows(1, missed).Exec(t.Context(), "DELETE FROM t WHERE n = $1", 2)
		require.NoError(t, err)
		require.ErrorIs(t, tx.Commit(t.Context()), missed)
		tx.Rollback(t.Context())
		require.Zero(t, f.rows(t))
	})
	t.Run("a failure of the clock", func(t *testing.T) {
		t.Parallel()
		f, missed := newFixture(t), errors.New("missed")
		tx := f.begin(t)
		_, err := insert(t.Context(), tx.Deferred(), 1)
		require.NoError(t, err)
		_, err = tx.DeferredRows(1, missed).Exec(t.Context(), "DELETE FROM t WHERE n = $1", 2)
		require.NoError(t, err)
		_ = tx.Now()
		_, err = insert(t.Context(), tx, 3)
		require.ErrorIs(t, err, missed)
		require.ErrorIs(t, tx.Commit(t.Context()), missed)
		tx.Rollback(t.Context())
		require.Zero(t, f.rows(t))
	})
	t.Run("a deferred write that fails", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		tx := f.begin(t)
		for range 2 {
			_, err := insert(t.Context(), tx.Deferred(), 1)
			require.NoError(t, err)
		}
		var refused *pgconn.PgError
		require.ErrorAs(t, tx.Commit(t.Context()), &refused)
		require.Equal(t, "t_pkey", refused.ConstraintName)
		tx.Rollback(t.Context())
		require.Zero(t, f.rows(t))
	})
}

func TestTx_Rollback(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tx := f.begin(t)
	_, err := insert(t.Context(), tx, 1)
	require.NoError(t, err)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tx.Rollback(cancelled)
	require.Zero(t, f.rows(t))
}
