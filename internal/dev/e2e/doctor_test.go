package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// doctor returns the doctor's output for a configuration of the rig, and its exit code.
func (r *rig) doctor(provider string) (printed string, code int) {
	r.t.Helper()
	return r.doctorOf(binary, provider)
}

// doctorOf is doctor of another binary.
func (r *rig) doctorOf(program, provider string, environ ...string) (printed string, code int) {
	r.t.Helper()
	dir := r.t.TempDir()
	file := filepath.Join(dir, "paylatch.yaml")
	text := fmt.Sprintf(settings, r.dsn, dir, secret, provider, sandboxSecret, stripeSecret, partnerSecret)
	require.NoError(r.t, os.WriteFile(file, []byte(text), 0o600))
	cmd := exec.CommandContext(r.t.Context(), program, "doctor", "--config", file)
	cmd.Env = append(os.Environ(), environ...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		var exit *exec.ExitError
		require.ErrorAs(r.t, err, &exit)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestDoctor: the doctor finds the differences between the rig and a production system, and the missing provider.
func TestDoctor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var printed string
	fine := []string{"ok     database\n", "ok     migrations\n", "ok     cell\n", "ok     notices\n", "ok     account sandbox\n"}
	eventually(t, "what is fine", func() bool { // on a busy machine a check may reach its time limit
		var code int
		printed, code = r.doctor(r.sandbox)
		require.Equal(t, 1, code, printed)
		return !slices.ContainsFunc(fine, func(text string) bool { return !strings.Contains(printed, text) })
	})
	for _, hurts := range []string{"fsync is off, so", "the role postgres may change the audit log", "the same secret is configured in accounts[2].webhook_secrets"} {
		require.Contains(t, printed, hurts)
	}
	for _, hidden := range []string{secret, sandboxSecret, stripeSecret, partnerSecret} {
		require.NotContains(t, printed, hidden)
	}
	printed, _ = r.doctor("http://127.0.0.1:1")
	require.Contains(t, printed, "error  account sandbox: accounts: sandbox: the provider was not reached")
}
