//go:build !linux

package e2e_test

import "syscall"

func bound() *syscall.SysProcAttr { return nil }
