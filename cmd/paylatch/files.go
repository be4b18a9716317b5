package main

import (
	"math"
	"syscall"
)

// openFiles is how many files the process may open. Go has raised the soft limit
// to the hard one at the start.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return 0
	}
	return int(limit.Cur)
}
