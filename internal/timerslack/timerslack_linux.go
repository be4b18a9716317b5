package timerslack

import (
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Restart runs the program anew, from its beginning and as the same process, with
// [Slack]. A thread gets its slack from the one that starts it, and the runtime's
// begin before the program can say anything, but exec keeps it (prctl(2),
// PR_SET_TIMERSLACK). Restart returns if there is nothing to do, or if the system
// does not let it: then all stays as it is. It must come before anything that a
// second beginning would find changed.
func Restart() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if current() >= Slack {
		return
	}
	// A thread of a real-time policy keeps none: it would restart for ever.
	if set(Slack); current() < Slack {
		return
	}
	if self, err := os.Executable(); err == nil {
		_ = syscall.Exec(self, os.Args, os.Environ()) //nolint:gosec // ourselves
	}
}

// Usual gives a thread that its goroutine has locked, and the processes that this
// starts, what Linux gives to all.
func Usual() { set(usual) }

// set does nothing where the system does not let it.
func set(slack time.Duration) {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack.Nanoseconds()), 0, 0, 0) //nolint:gosec // one of ours
}

// current is that of the calling thread, 0 where there is none.
func current() time.Duration {
	n, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return 0
	}
	return time.Duration(n)
}
