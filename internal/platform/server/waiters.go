package server

import (
	"math"
	"syscall"
)

// filesBeside is the number of files reserved for all but the waiters: webhooks must
// still be accepted at the limit.
const filesBeside = 1000

// Waiters bounds the waiters, each with an open file, by the process's limit of open files. If that allows fewer than
// configured, it calls fewer with the limit.
func Waiters(configured int, fewer func(able, files int)) int {
	files := openFiles()
	able := max(files-filesBeside, files/2)
	if files <= 0 || configured <= able {
		return configured
	}
	fewer(able, files)
	return able
}

// openFiles returns the process's limit of open files. Go has raised the soft limit to
// the hard one at the start.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return 0
	}
	return int(limit.Cur)
}
