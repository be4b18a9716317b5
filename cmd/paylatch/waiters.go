package main

import "github.com/rs/zerolog"

// filesBeside are those that a process needs for all but its waiters: webhooks
// must still be taken when as many wait as may.
const filesBeside = 1000

// waiterLimit is how many may wait, each with an open file, in a process that
// may not open any number of them.
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
