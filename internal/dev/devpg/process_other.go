//go:build !linux

package devpg

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

func namespaced() []account { return nil }

// endWithParent can do nothing here: a server that outlives its parent is stopped by the next start.
func endWithParent(*syscall.SysProcAttr, syscall.Signal) {}

// commandLine returns the arguments of a process with spaces between and at the end; empty for a dead one, a zombie included.
func commandLine(pid int) string {
	out, err := exec.CommandContext(context.Background(), "ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out)) + " "
}
