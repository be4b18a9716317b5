package migrations_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/migrations"
)

// TestMigrationKeepsTheSchedule migrates a database in which checks are open.
//
//nolint:dupword // it is SQL
func TestMigrationKeepsTheSchedule(t *testing.T) {
	t.Parallel()
	dsn := emptyDatabase(t)
	before := fstest.MapFS{}
	files, err := filepath.Glob("000[01]?_*.sql")
	require.NoError(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		before[name] = &fstest.MapFile{Data: text}
	}
	require.NoError(t, migrations.UpFrom(t.Context(), dsn, before))
	conn := connect(t, dsn)
	_, err = conn.Exec(t.Context(), `
		INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
			SELECT 'o' || i, 'u1', 'r' || i, '\x01', 1000, 'EUR', now(), now() FROM generate_series(1, 3) i;
		INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency,
				next_check_at, created_at, updated_at, finalized_at)
			VALUES ('o1', gen_random_uuid(), 'u1', 'r1', '\x01', 'acc', 'pending', 'processing', 1000, 'EUR', '2026-01-01', now(), now(), NULL),
				('o2', gen_random_uuid(), 'u1', 'r2', '\x01', 'acc', 'failed', 'final', 1000, 'EUR', '2026-02-01', now(), now(), now()),
				('o3', gen_random_uuid(), 'u1', 'r3', '\x01', 'acc', 'succeeded', 'final', 1000, 'EUR', NULL, now(), now(), now());
		INSERT INTO attempt_transitions (order_id, attempt_id, version, from_stage, to_stage, cause, detail, at)
			SELECT order_id, attempt_id, 1, '', 'requested', 'pay', '{"news": "succeeded", "captured": 1000}', now() FROM payment_attempts`)
	require.NoError(t, err)

	require.NoError(t, migrations.Up(t.Context(), dsn))
	var scheduled, live, captured string
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT
		(SELECT string_agg(a.order_id || ' ' || c.due_at::date, ', ' ORDER BY a.order_id) FROM attempt_checks c JOIN payment_attempts a USING (attempt_id)),
		(SELECT string_agg(order_id, ' ' ORDER BY order_id) FROM payment_attempts WHERE live),
		(SELECT string_agg(detail ->> 'captured', ' ') FROM attempt_transitions)`).Scan(&scheduled, &live, &captured))
	require.Equal(t, "o1 2026-01-01, o2 2026-02-01", scheduled)
	require.Equal(t, "o1 o3", live)
	require.Equal(t, "1000 1000 1000", captured)
}
