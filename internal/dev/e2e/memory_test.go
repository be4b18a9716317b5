package e2e_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// littleGarbage makes the resident memory of a service about what it has in use: otherwise it lets garbage grow to four times that, as far
// as the machine has the memory.
const littleGarbage = "GOGC=100"

// peakMemory is the peak resident memory of a process until now, in bytes, as Linux counts it (VmHWM of proc_pid_status(5)). It
// is 0 for a process that has ended, and on other systems.
func (p *process) peakMemory() (bytes int64) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &bytes); n == 1 {
			return bytes << 10
		}
	}
	return 0
}

// ends waits until a process has ended with success, which may take long, and returns its peak memory in bytes. The last moments
// may be missing in it.
func (p *process) ends(t *testing.T, limit time.Duration) (peak int64) {
	t.Helper()
	look, late := time.NewTicker(20*time.Millisecond), time.NewTimer(limit)
	defer look.Stop()
	defer late.Stop()
	for {
		select {
		case <-p.done:
			require.True(t, p.cmd.ProcessState.Success(), "%s: %s", p.cmd.ProcessState, tail(p.stderr.String()))
			return peak
		case <-late.C:
			require.Fail(t, "the process did not end within "+limit.String())
		case <-look.C:
			peak = max(peak, p.peakMemory())
		}
	}
}
