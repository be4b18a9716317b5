package e2e_test

import "syscall"

// bound makes the kernel end a process when the thread that started it ends.
func bound() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
