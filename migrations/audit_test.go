package migrations_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/migrations"
)

// TestMigrationChainsTheAuditLog migrates a database whose audit log has entries.
func TestMigrationChainsTheAuditLog(t *testing.T) {
	t.Parallel()
	dsn := emptyDatabase(t)
	before := fstest.MapFS{}
	files, err := filepath.Glob("*.sql")
	require.NoError(t, err)
	for _, name := range files {
		if name < "00032" {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			before[name] = &fstest.MapFile{Data: text}
		}
	}
	require.NoError(t, migrations.UpFrom(t.Context(), dsn, before))
	conn := connect(t, dsn)
	_, err = conn.Exec(t.Context(), `INSERT INTO staff_audit (entry_id, deed_id, actor, roles, action, outcome, at)
		SELECT ('00000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid, gen_random_uuid(), 'ann', '{support}', 'attempt.view', 'done', '2026-01-01'
		FROM generate_series(3, 1, -1) i`)
	require.NoError(t, err)

	require.NoError(t, migrations.Up(t.Context(), dsn))
	_, err = conn.Exec(t.Context(), `INSERT INTO staff_audit (entry_id, deed_id, actor, roles, action, outcome)
		VALUES ('00000000-0000-7000-8000-000000000009', gen_random_uuid(), '', '{}', 'sign_in', 'refused')`)
	require.NoError(t, err)
	var entries, chained int
	var in, at string
	require.NoError(t, conn.QueryRow(t.Context(), `
		SELECT count(*), count(*) FILTER (WHERE hash = audit_hash(e) AND previous = before), string_agg(right(entry_id::text, 1), '' ORDER BY position), min(at)::date::text
		FROM (SELECT a.*, lag(hash, 1, decode(repeat('00', 32), 'hex')) OVER (ORDER BY position) AS before FROM staff_audit a) x,
			LATERAL (SELECT s AS e FROM staff_audit s WHERE s.entry_id = x.entry_id) y`).Scan(&entries, &chained, &in, &at))
	require.Equal(t, []any{4, 4, "1239", "2026-01-01"}, []any{entries, chained, in, at})
}
