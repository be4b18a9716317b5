package main_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/migrations"
)

// TestOnlyDevBringsADatabase: without a configuration no command but `dev` starts a PostgreSQL where it stands.
func TestOnlyDevBringsADatabase(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"migrate", "up"},
		{"migrate", "status"},
		{"migrate", "grants", "--to", "paylatch"},
		{"verify"},
		{"doctor"},
		{"serve"},
		{"discrepancy", "list"},
		{"endpoint", "list"},
		{"erase", "--user", "u1"},
		{"attempt", "show", "0198c0de-0000-7000-8000-000000000000"},
		{"reconcile", "--account", "sandbox", "--from", "2026-01-01", "--to", "2026-01-02"},
	} {
		dir := t.TempDir()
		code, stdout, stderr := run(t, []string{"PAYLATCH_DATA_DIR=" + dir}, args...)
		require.Equal(t, 2, code, "%v: %s", args, stderr)
		require.Contains(t, stderr, "database_url: is missing", "%v", args)
		require.Empty(t, stdout, "%v", args)
		require.NoDirExists(t, filepath.Join(dir, "postgres"), "%v", args)
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	_, err := testdb.Connect(t, dsn).Exec(t.Context(), "CREATE SCHEMA fresh")
	require.NoError(t, err)
	environ := []string{"PAYLATCH_DATABASE_URL=" + testdb.With(t, dsn, "search_path", "fresh")}
	code, stdout, stderr := run(t, environ, "migrate", "status")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "pending")

	for range 2 {
		code, stdout, stderr = run(t, environ, "migrate", "up")
		require.Equal(t, 0, code, stderr)
		require.Equal(t, fmt.Sprintf("the schema is at version %d\n", migrations.Required()), stdout)
	}

	code, stdout, stderr = run(t, environ, "migrate", "status")
	require.Equal(t, 0, code, stderr)
	require.NotContains(t, stdout, "pending")
	require.Contains(t, stdout, "00001_orders.sql")
	require.Contains(t, stdout, fmt.Sprintf("%05d_", migrations.Required()))
}

// An older binary may stay for a while, and must not take the schema for its own.
func TestMigrateOnASchemaOfANewerBinary(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	newer := migrations.Required() + 2
	_, err = conn.Exec(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)", newer)
	require.NoError(t, err)
	code, stdout, stderr := run(t, []string{"PAYLATCH_DATABASE_URL=" + dsn + "&pool_max_conns=3"}, "migrate", "up")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, fmt.Sprintf("the schema is at version %d, newer than this binary, which has %d\n", newer, migrations.Required()), stdout)
}

func TestMigrateWithoutADatabase(t *testing.T) {
	t.Parallel()
	code, _, stderr := run(t, []string{"PAYLATCH_DATABASE_URL=postgres://u:HUSH@127.0.0.1:1/none"}, "migrate", "up")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "127.0.0.1")
	require.NotContains(t, stderr, "HUSH")
}

// A role that was granted once has all serving privileges after each upgrade, too.
func TestMigrateGrants(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	environ := []string{"PAYLATCH_DATABASE_URL=" + dsn}
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	role := "serving_" + strings.ToLower(rand.Text())
	_, err = conn.Exec(t.Context(), "CREATE ROLE "+role)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := conn.Exec(context.WithoutCancel(t.Context()), "DROP OWNED BY "+role+"; DROP ROLE "+role)
		require.NoError(t, err)
	})
	may := func() (granted bool) {
		t.Helper()
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT has_table_privilege($1::name, 'orders', 'UPDATE')", role).Scan(&granted))
		return granted
	}
	code, dry, stderr := run(t, environ, "migrate", "grants", "--to", role, "--dry-run")
	require.Zero(t, code, stderr)
	require.Contains(t, dry, "GRANT SELECT, INSERT ON public.staff_audit TO \""+role+"\";\n")
	require.False(t, may())
	code, stdout, stderr := run(t, environ, "migrate", "grants", "--to", role)
	require.Zero(t, code, stderr)
	require.Equal(t, dry, stdout)
	require.True(t, may())

	_, err = conn.Exec(t.Context(), "REVOKE ALL ON orders FROM "+role)
	require.NoError(t, err)
	code, stdout, stderr = run(t, environ, "migrate", "up")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "the role "+role+" has the privileges that the service needs\n")
	require.True(t, may())

	code, stdout, stderr = run(t, environ, "migrate", "grants", "--to", "postgres")
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "grant to postgres: grants do not bind this role: it is a superuser")
	code, _, _ = run(t, environ, "migrate", "grants")
	require.Equal(t, 2, code)
}
