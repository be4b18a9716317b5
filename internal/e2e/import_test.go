package e2e_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKilledDuringAnImport kills an import twice, each time in the middle of a file, and runs it a third time: each payment
// is there once, and agrees with its log.
func TestKilledDuringAnImport(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("imports 100,000 lines, which takes a minute")
	}
	const lines = 100_000
	r := newRig(t)
	dir := t.TempDir()
	file, config := filepath.Join(dir, "past.jsonl"), filepath.Join(dir, "paylatch.yaml")
	past(t, file, lines)
	text := fmt.Sprintf(settings, r.dsn, dir, secret, r.sandbox, sandboxSecret, stripeSecret, partnerSecret)
	require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	imported := func() int { return one[int](t, r, `SELECT count(*) FROM payment_attempts`) }
	for range 2 {
		before := imported()
		p := start(t, dir, nil, "import", "--config", config, "--account", "stripe-eu", file)
		eventually(t, "lines that are made", func() bool { return imported() > before+2000 })
		p.kill()
		require.Less(t, imported(), lines, "it was killed too late")
	}
	cut := imported()
	out, err := exec.CommandContext(t.Context(), binary, "import", "--config", config, "--account", "stripe-eu", file).Output()
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%d lines: %d made, %d there already, 0 refused\n", lines, lines-cut, cut), string(out))
	require.Equal(t, lines, imported())
	require.Equal(t, 2*lines, one[int](t, r, `SELECT count(*) FROM attempt_transitions`))
	require.Equal(t, lines, one[int](t, r, `SELECT count(*) FROM money_movements`))
	require.Equal(t, 3*lines, one[int](t, r, `SELECT count(*) FROM attempt_references`))
	require.Zero(t, one[int](t, r, `SELECT count(*) FROM outbox`))
	(&grid{rig: r}).verifies(t)
}

// past writes a file of payments that succeeded.
func past(t *testing.T, name string, lines int) {
	t.Helper()
	f, err := os.Create(name)
	require.NoError(t, err)
	w := bufio.NewWriter(f)
	for i := range lines {
		_, err = fmt.Fprintf(w, `{"order_id":"P-%d","user_id":"u%d","provider_payment_id":"pi_%d","references":["ch_%d"],"status":"succeeded",`+
			`"amount":1999,"currency":"EUR","created_at":"2024-01-02T03:04:05Z"}`+"\n", i, i%100, i, i)
		require.NoError(t, err)
	}
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())
}
