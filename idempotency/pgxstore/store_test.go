package pgxstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/idempotency/pgxstore"
	"github.com/paylatch/paylatch/idempotency/storetest"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// open returns a pool of a database whose table of keys is the package's own.
func open(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), testdb.New(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), "DROP TABLE idempotency_keys")
	require.NoError(t, err)
	for range 2 { // it may be there already
		_, err = pool.Exec(t.Context(), pgxstore.Schema)
		require.NoError(t, err)
	}
	return pool
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) idempotency.Store {
		t.Helper()
		return pgxstore.New(open(t), pgxstore.Options{})
	})
}

// The statements are those of paylatch itself, so the table must be, too.
func TestSchemaIsPaylatchs(t *testing.T) {
	t.Parallel()
	theirs, ours := testdb.Connect(t, testdb.New(t)), open(t)
	for name, query := range map[string]string{
		"columns": `SELECT string_agg(format('%s %s %s %s', column_name, data_type, is_nullable, column_default), E'\n' ORDER BY ordinal_position)
			FROM information_schema.columns WHERE table_name = 'idempotency_keys'`,
		"constraints": `SELECT string_agg(conname || ' ' || pg_get_constraintdef(oid), E'\n' ORDER BY conname)
			FROM pg_constraint WHERE conrelid = 'idempotency_keys'::regclass`,
		"indexes": `SELECT string_agg(indexdef, E'\n' ORDER BY indexdef) FROM pg_indexes WHERE tablename = 'idempotency_keys'`,
	} {
		var want, got string
		require.NoError(t, theirs.QueryRow(t.Context(), query).Scan(&want))
		require.NoError(t, ours.QueryRow(t.Context(), query).Scan(&got))
		require.Equal(t, want, got, name)
	}
}

func TestPurge(t *testing.T) {
	t.Parallel()
	pool := open(t)
	_, err := pool.Exec(t.Context(), `INSERT INTO idempotency_keys (user_id, endpoint, key, request_hash, lease_until, created_at, expires_at)
		SELECT 'u1', 'POST /x', 'key-' || 10000 + n, '', '2026-01-01', '2026-01-02', now() + make_interval(hours => CASE WHEN n <= 2500 THEN -1 ELSE 1 END)
		FROM generate_series(1, 2600) n`)
	require.NoError(t, err)
	removed, err := pgxstore.New(pool, pgxstore.Options{}).Purge(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2500, removed)
}

// A claim does not wait for longer than it may, and leaves the transaction's own timeout as it was.
func TestClaimTimeout(t *testing.T) {
	t.Parallel()
	pool := open(t)
	store := pgxstore.New(pool, pgxstore.Options{ClaimTimeout: 50 * time.Millisecond})
	claim := idempotency.Claim{Request: idempotency.Request{User: "u1", Endpoint: "POST /x", Key: "key-00000001"}, Lease: time.Hour, Keep: time.Hour}
	require.NoError(t, store.InTx(t.Context(), func(ctx context.Context, tx pgxstore.Tx) error {
		_, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '7s'")
		require.NoError(t, err)
		_, ours, err := tx.KeyClaim(ctx, claim)
		require.NoError(t, err)
		require.True(t, ours)
		var timeout string
		require.NoError(t, pgxstore.TxOf(ctx).QueryRow(ctx, "SHOW lock_timeout").Scan(&timeout))
		require.Equal(t, "7s", timeout)

		require.ErrorIs(t, store.InTx(t.Context(), func(ctx context.Context, tx pgxstore.Tx) error {
			_, _, err := tx.KeyClaim(ctx, claim)
			return err
		}), idempotency.ErrInProgress)
		return nil
	}))
}

func TestTxOfOutsideOfATransaction(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { pgxstore.TxOf(t.Context()) })
}

// A panic of a command undoes it.
func TestAPanicIsUndone(t *testing.T) {
	t.Parallel()
	pool := open(t)
	store := pgxstore.New(pool, pgxstore.Options{Tx: pgx.TxOptions{IsoLevel: pgx.RepeatableRead}})
	require.PanicsWithValue(t, "broken", func() {
		_ = store.InTx(t.Context(), func(ctx context.Context, tx pgxstore.Tx) error {
			_, _, err := tx.KeyClaim(ctx, idempotency.Claim{Request: idempotency.Request{User: "u1", Key: "key-00000001"}, Keep: time.Hour})
			require.NoError(t, err)
			panic("broken")
		})
	})
	var keys int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM idempotency_keys").Scan(&keys))
	require.Zero(t, keys)
}
