package devpg

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// namespaced returns an account in a user namespace: the process is root on the host and an ordinary user in the namespace.
// Some containers forbid namespaces.
func namespaced() []account {
	one := []syscall.SysProcIDMap{{ContainerID: 1000, HostID: 0, Size: 1}}
	return []account{{attr: syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: one, GidMappings: one}}}
}

func endWithParent(attr *syscall.SysProcAttr, sig syscall.Signal) { attr.Pdeathsig = sig }

// commandLine returns the arguments of a process with spaces between and at the end; empty for a dead one, a zombie included.
func commandLine(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(bytes.ReplaceAll(b, []byte{0}, []byte{' '}))
}
