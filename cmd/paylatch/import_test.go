package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/migrations"
)

func TestImport(t *testing.T) {
	t.Parallel()
	environ := []string{"PAYLATCH_ENVIRONMENT=dev", "PAYLATCH_DATABASE_URL=" + testdb.New(t)}
	file := filepath.Join(t.TempDir(), "past.jsonl")
	text := `{"order_id":"A-1","user_id":"u1","provider_payment_id":"ch_1","status":"succeeded","amount":1999,"currency":"EUR","created_at":"2024-05-06T07:08:09Z"}` + "\n" +
		`{"order_id":"A-2","user_id":"u1","provider_payment_id":"ch_2","status":"paid","amount":1999,"currency":"EUR","created_at":"2024-05-06T07:08:09Z"}` + "\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))

	code, stdout, stderr := run(t, environ, "import", "--account", "sandbox", "--dry-run", file)
	require.Equal(t, 1, code, stderr)
	require.Equal(t, "2 lines: 1 would be imported, 0 already imported, 1 refused\n", stdout)
	code, stdout, stderr = run(t, environ, "import", "--account", "sandbox", file)
	require.Equal(t, 1, code)
	require.Equal(t, "2 lines: 1 imported, 0 already imported, 1 refused\n", stdout)
	require.Contains(t, stderr, "line 2: status: must be succeeded or failed")
	code, stdout, stderr = run(t, environ, "verify")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "1 attempts agree with their logs")

	for name, args := range map[string][]string{
		"no_such_account": {"import", "--account", "elsewhere", file},
		"no_account":      {"import", file},
		"no_such_file":    {"import", "--account", "sandbox", file + "x"},
		"max_errors":      {"import", "--account", "sandbox", "--max-errors=-1", file},
	} {
		code, _, _ := run(t, environ, args...)
		require.Equal(t, 2, code, name)
	}
}

// TestImport_servingRole: the serving role may import, and check before, with no right beyond its grants.
func TestImport_servingRole(t *testing.T) {
	t.Parallel()
	server := testdb.Private(t)
	admin := testdb.Connect(t, server.DSN("postgres"))
	for _, statement := range []string{"CREATE ROLE serves LOGIN", "REVOKE ALL ON DATABASE postgres FROM PUBLIC", "GRANT CONNECT ON DATABASE postgres TO serves"} {
		_, err := admin.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	_, err := migrations.Grant(t.Context(), server.DSN("postgres"), "serves", false)
	require.NoError(t, err)
	environ := []string{"PAYLATCH_ENVIRONMENT=dev", "PAYLATCH_DATABASE_URL=" + server.DSN("postgres") + "&user=serves"}
	file := filepath.Join(t.TempDir(), "past.jsonl")
	line := func(order, payment, more string) string {
		return `{"order_id":"` + order + `","user_id":"u1",` + more + `"provider_payment_id":"` + payment +
			`","status":"succeeded","amount":1999,"currency":"EUR","created_at":"2024-05-06T07:08:09Z"}` + "\n"
	}
	text := line("A-1", "ch_1", "") + line("A-2", "ch_2", `"user_id":"u2",`) + line("A-3", "ch_1", "") + line("A-1", "ch_4", "")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))

	for _, c := range []struct{ flag, sum string }{
		{"--dry-run", "4 lines: 1 would be imported, 0 already imported, 3 refused\n"},
		{"--max-errors=9", "4 lines: 1 imported, 0 already imported, 3 refused\n"},
	} {
		code, stdout, stderr := run(t, environ, "import", "--account", "sandbox", c.flag, file)
		require.Equal(t, 1, code, stderr)
		require.Equal(t, c.sum, stdout, stderr)
		require.Contains(t, stderr, `line 2: has the member "user_id" twice; remove one of them`)
		require.Contains(t, stderr, "line 3: provider_payment_id: ch_1 belongs to attempt")
		require.Contains(t, stderr, "line 4: ", "the order is paid")
	}
}
