package main

import (
	"math"
	"syscall"

	"github.com/rs/zerolog"
)

// filesBeside is the number of files reserved for all but the waiters: webhooks must
// still be accepted at the limit.
const filesBeside = 1000

// waiterLimit bounds the waiters, each with an open file, by the process's limit of
// open files.
func waiterLimit(configured int, log zerolog.Logger) int {
	files := openFiles()
	able := max(files-filesBeside, files/2)
	if files <= 0 || configured <= able {
		return configured
	}
	log.Info().Int("max_waiters", configured).Int("limit", able).Int("open_files", files).
		Msg("fewer may wait than configured: the limit of open files is too low")
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
