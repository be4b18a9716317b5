package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/migrations"
)

// Beside a running `paylatch dev` the commands use its private database.
func TestWithSharedDatabase(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/tmp", "paylatch-") //nolint:usetesting // the path of a unix socket must be short
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711), "root's server may run as another user")
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	_, running := devpg.Running(filepath.Join(dir, "postgres"), "postgres")
	require.False(t, running)
	server, err := devpg.Start(t.Context(), devpg.Config{Dir: filepath.Join(dir, "postgres")})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Stop() })
	require.NoError(t, migrations.Up(t.Context(), server.DSN("postgres")))
	furnished(t, server.DSN("postgres"))
	for says, args := range map[string][]string{
		"needs_review":                     {"discrepancy", "list"},
		"1 attempts agree with their logs": {"verify"},
		"00001_orders.sql":                 {"migrate", "status"},
		"the schema is at version":         {"migrate", "up"},
	} {
		code, stdout, stderr := run(t, []string{"PAYLATCH_DATA_DIR=" + dir}, args...)
		require.Equal(t, 0, code, stderr)
		require.Contains(t, stdout, says)
	}
}
