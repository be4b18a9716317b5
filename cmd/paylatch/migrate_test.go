package main_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/migrations"
)

func TestMigrateOnThePrivateDatabase(t *testing.T) {
	t.Parallel()
	environ := []string{"PAYLATCH_DATA_DIR=" + t.TempDir()}
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

func TestMigrateWithoutADatabase(t *testing.T) {
	t.Parallel()
	code, _, stderr := run(t, []string{"PAYLATCH_DATABASE_URL=postgres://u:HUSH@127.0.0.1:1/none"}, "migrate", "up")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "127.0.0.1")
	require.NotContains(t, stderr, "HUSH")
}
