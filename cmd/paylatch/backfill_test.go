package main_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

func TestBackfill(t *testing.T) {
	t.Parallel()
	environ := []string{
		"PAYLATCH_ENVIRONMENT=dev", "PAYLATCH_DATABASE_URL=" + testdb.New(t),
		"PAYLATCH_ACCOUNTS=[{name: in, kind: standard, webhook_secrets: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw]}]",
	}
	code, stdout, stderr := run(t, environ, "backfill", "--account", "in", "--since", "2d")
	require.Equal(t, 1, code)
	require.Equal(t, "0 events\n", stdout)
	require.Contains(t, stderr, "account in: the provider has no readable list of events")
	require.Contains(t, stderr, "paylatch reconcile")
	for name, args := range map[string][]string{
		"no_such_account": {"backfill", "--account", "elsewhere", "--since", "2d"},
		"no_account":      {"backfill", "--since", "2d"},
		"no_since":        {"backfill", "--account", "in"},
		"since":           {"backfill", "--account", "in", "--since", "yesterday"},
		"wrong_order":     {"backfill", "--account", "in", "--since", "1h", "--until", "2h"},
	} {
		code, _, stderr := run(t, environ, args...)
		require.Equal(t, 2, code, "%s: %s", name, stderr)
	}
}
