package testdb

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestTemplate works on a server of its own, which has no template yet.
func TestTemplate(t *testing.T) {
	t.Parallel()
	admin := Private(t).DSN("postgres")
	require.NoError(t, execAll(t.Context(), admin, "CREATE DATABASE "+templatePrefix+"old", "CREATE DATABASE "+templatePrefix+"new",
		"COMMENT ON DATABASE "+templatePrefix+"old IS '2001-01-01'", "COMMENT ON DATABASE "+templatePrefix+"new IS '9001-01-01'"))
	name, err := ensureTemplate(t.Context(), admin)
	require.NoError(t, err)
	require.Equal(t, []string{name, templatePrefix + "new"}, databases(t, admin))

	require.NoError(t, execAll(t.Context(), admin, "DROP DATABASE "+name, "CREATE DATABASE "+name+"_half"))
	_, err = ensureTemplate(t.Context(), admin)
	require.NoError(t, err)
	require.NoError(t, execAll(t.Context(), admin, "CREATE DATABASE "+prefix+"test_left TEMPLATE "+name))
	require.NoError(t, execAll(t.Context(), withDatabase(admin, prefix+"test_left"), "TABLE goose_db_version"), "it was made anew")
	require.NoError(t, dropLeftovers(t.Context(), admin))
	require.Equal(t, []string{name, templatePrefix + "new"}, databases(t, admin))
}

func TestWithDatabase(t *testing.T) {
	t.Parallel()
	require.Equal(t, "postgres://u:p@h:1/new?sslmode=disable", withDatabase("postgres://u:p@h:1/old?sslmode=disable", "new"))
	require.Equal(t, "host=h dbname=old dbname=new", withDatabase("host=h dbname=old", "new"))
}

func databases(t *testing.T, admin string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), admin)
	require.NoError(t, err)
	rows, err := conn.Query(t.Context(), "SELECT datname FROM pg_database WHERE datname LIKE $1 ORDER BY datname", prefix+"%")
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	return names
}
