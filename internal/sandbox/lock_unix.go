//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sandbox

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

const (
	lockTries = 40
	lockPause = 50 * time.Millisecond
)

// lockFile keeps a second process from writing between our lines. It tries for two
// seconds: a killed predecessor may still be exiting.
func lockFile(file *os.File) error {
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
