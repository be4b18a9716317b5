package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/testdb"
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
	require.Equal(t, "2 lines: 1 would be made, 0 there already, 1 refused\n", stdout)
	code, stdout, stderr = run(t, environ, "import", "--account", "sandbox", file)
	require.Equal(t, 1, code)
	require.Equal(t, "2 lines: 1 made, 0 there already, 1 refused\n", stdout)
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
