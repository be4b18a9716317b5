package postgres_test

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/migrations"
)

// client is psql, which is in the PATH or beside the server.
func client(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("psql"); err == nil {
		return path
	}
	bin, err := devpg.FindBin()
	require.NoError(t, err)
	return filepath.Join(bin, "psql")
}

// The database roles of deploy/ suffice: one role migrates and grants. The other serves and can't change written rows.
func TestDeployedRoles(t *testing.T) {
	t.Parallel()
	server := testdb.Private(t)
	psql := exec.CommandContext(t.Context(), client(t), "--no-psqlrc", "--quiet", "--file", "../../deploy/postgres/roles.sql", server.DSN("postgres"))
	psql.Env = append(os.Environ(), "OWNER_PASSWORD=it's; --", "SERVING_PASSWORD=secret")
	out, err := psql.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Empty(t, string(out))
	as := func(role string) string {
		u, err := url.Parse(server.DSN("paylatch"))
		require.NoError(t, err)
		u.User = url.User(role)
		return u.String()
	}
	for range 2 { // each Pod does it before it serves
		require.NoError(t, migrations.Up(t.Context(), as("paylatch_owner")))
		_, err = migrations.Grant(t.Context(), as("paylatch_owner"), "paylatch", false)
		require.NoError(t, err)
	}
	store := enginetest.Store(t, as("paylatch"))
	placed(t, store, "A-1")
	require.NoError(t, store.Support().AuditInsert(t.Context(), deedOf("ann")))
	role, may, err := store.Support().AuditMayBeChanged(t.Context())
	require.NoError(t, err)
	require.Equal(t, "paylatch", role)
	require.False(t, may)
	for _, attack := range []string{"DELETE FROM staff_audit", "TRUNCATE staff_audit", "CREATE TEMP TABLE staff_audit ()", "CREATE TABLE mine ()", "DROP SCHEMA public CASCADE"} {
		_, err := testdb.Connect(t, as("paylatch")).Exec(t.Context(), attack)
		require.ErrorContains(t, err, "42501", attack)
	}
	_, err = migrations.Grant(t.Context(), as("paylatch_owner"), "paylatch_owner", false)
	require.ErrorIs(t, err, migrations.ErrUnbound)
	_, err = migrations.Grant(t.Context(), as("paylatch"), "paylatch", false)
	require.ErrorContains(t, err, "permission denied")
}
