//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package datadir

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// Lock keeps two processes from writing one file.

const (
	lockTries = 40
	lockPause = 50 * time.Millisecond
)

// Lock keeps a second process from writing between our lines, until the file is closed. It tries for two
// seconds: a killed predecessor may still be exiting.
func Lock(file *os.File) error {
	pause := time.NewTicker(lockPause)
	defer pause.Stop()
	var err error
	for range lockTries {
		if err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return nil
		}
		<-pause.C
	}
	return fmt.Errorf("flock: %w", err)
}

// Try is Lock without waiting. It reports whether the file is locked for this process now.
func Try(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
