package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// commandLine runs a command with the configuration of the rig's services.
func (r *rig) commandLine(args ...string) (printed string, code int) {
	r.t.Helper()
	dir := r.t.TempDir()
	file := filepath.Join(dir, "paylatch.yaml")
	text := fmt.Sprintf(settings, r.dsn, dir, secret, r.gate.URL, sandboxSecret, stripeSecret, partnerSecret)
	require.NoError(r.t, os.WriteFile(file, []byte(text), 0o600))
	eventually(r.t, "a response of the database", func() bool {
		cmd := exec.CommandContext(r.t.Context(), binary, append(args, "--config", file)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			var exit *exec.ExitError
			require.ErrorAs(r.t, err, &exit)
		}
		printed, code = string(out), cmd.ProcessState.ExitCode()
		return code == 0 || !unreached(printed)
	})
	return printed, code
}

// TestRefundCommand refunds from the command line: the same key once, and no more than is left.
func TestRefundCommand(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.serve().customer()
	a := c.pay(t.Context(), c.order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated)
	for range 2 {
		printed, code := r.commandLine("refund", "create", a.ID, "--amount", "500", "--reason", "case 4711", "--key", "refund-of-case-4711")
		require.Zero(t, code, printed)
		require.Contains(t, printed, "of €5.00 is succeeded.")
	}
	printed, code := r.commandLine("refund", "create", a.ID, "--amount", "600", "--reason", "case 4711", "--key", "refund-of-case-4711")
	require.Equal(t, 1, code, printed)
	printed, code = r.commandLine("refund", "create", a.ID, "--expected-refundable", "1999", "--reason", "case 4712")
	require.Equal(t, 1, code, printed)
	printed, code = r.commandLine("refund", "create", a.ID, "--reason", "case 4712")
	require.Zero(t, code, printed)
	require.Contains(t, printed, "of €14.99 is succeeded.")
	require.Len(t, r.ledger(t, a.ID), 3)
	require.Equal(t, []string{"case 4711", "case 4712"}, column[string](t, r, `SELECT DISTINCT reason FROM staff_audit WHERE action = 'createRefund' AND outcome = 'done' ORDER BY 1`))
	r.verifies(t)
}

// TestDiscrepancyResolveCommand resolves from the command line.
func TestDiscrepancyResolveCommand(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.serve().customer()
	a := c.pay(t.Context(), c.order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated)
	id := one[string](t, r, `INSERT INTO discrepancies (discrepancy_id, kind, order_id, attempt_id, text, opened_at)
		VALUES (gen_random_uuid(), 'event_changed', $1, $2, 'An event came again with other bytes.', now()) RETURNING discrepancy_id::text`, a.OrderID, a.ID)
	_, code := r.commandLine("discrepancy", "resolve", id, "--resolution", "accepted")
	require.Equal(t, 2, code, "a reason is required")
	printed, code := r.commandLine("discrepancy", "resolve", id, "--resolution", "not_paid", "--reason", "case 4711")
	require.Equal(t, 1, code, printed)
	printed, code = r.commandLine("discrepancy", "resolve", id, "--resolution", "accepted", "--reason", "case 4711")
	require.Zero(t, code, printed)
	require.Contains(t, printed, "is resolved as accepted.")
	require.Equal(t, "accepted case 4711", one[string](t, r, `SELECT resolution || ' ' || reason FROM discrepancies WHERE discrepancy_id = $1`, id))
}
