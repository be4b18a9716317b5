package house_test

import (
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSystemdUnitIsConfined: systemd's own score of the service's privileges, from 0 to 10.
func TestSystemdUnitIsConfined(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not in the PATH; Debian has it in the package systemd")
	}
	said, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager", "../../../deploy/systemd/paylatch.service").CombinedOutput()
	require.NoError(t, err, "%s", said)
	level := regexp.MustCompile(`exposure level for paylatch\.service: ([0-9.]+)`).FindSubmatch(said)
	require.Len(t, level, 2, "%s", said)
	exposure, err := strconv.ParseFloat(string(level[1]), 64)
	require.NoError(t, err)
	require.LessOrEqual(t, exposure, 3.0, "%s", said)
}
