package house_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const unit = "../../../deploy/systemd/paylatch.service"

// TestSystemdUnitIsConfined: systemd's own score of the service's privileges, from 0 to 10.
func TestSystemdUnitIsConfined(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not in the PATH; Debian has it in the package systemd")
	}
	said, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager", unit).CombinedOutput()
	require.NoError(t, err, "%s", said)
	level := regexp.MustCompile(`exposure level for paylatch\.service: ([0-9.]+)`).FindSubmatch(said)
	require.Len(t, level, 2, "%s", said)
	exposure, err := strconv.ParseFloat(string(level[1]), 64)
	require.NoError(t, err)
	require.LessOrEqual(t, exposure, 3.0, "%s", said)
}

// unitValues returns the words of all lines of a setting of the unit.
func unitValues(t *testing.T, setting string) (words []string) {
	t.Helper()
	text, err := os.ReadFile(unit)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, setting+"="); found {
			words = append(words, strings.Fields(value)...)
		}
	}
	return words
}

// crashes is the variable that makes TestSystemdRestartsACrash crash. The test sets it for the process that it starts.
const crashes = "PAYLATCH_TEST_CRASHES"

// TestSystemdRestartsACrash: a process that panics does not end in a way that the unit excludes from its restarts.
func TestSystemdRestartsACrash(t *testing.T) {
	t.Parallel()
	if os.Getenv(crashes) != "" {
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}))
		go func() { panic(crashes) }()
		select {}
	}
	require.Equal(t, []string{"always"}, unitValues(t, "Restart"))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = slices.Concat(os.Environ(), unitValues(t, "Environment"), []string{crashes + "=1"})
	said, err := cmd.CombinedOutput()
	require.Contains(t, string(said), "panic: "+crashes)
	var ended *exec.ExitError
	require.ErrorAs(t, err, &ended)
	status, ok := ended.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	prevents := unitValues(t, "RestartPreventExitStatus")
	require.NotEmpty(t, prevents)
	require.NotContains(t, prevents, strconv.Itoa(status.ExitStatus()), "%s", ended)
	require.Equal(t, []string{"0"}, unitValues(t, "LimitCORE"), "a core would have the secrets")
}
