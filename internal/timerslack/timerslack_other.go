//go:build !linux

package timerslack

// Restart does nothing: the slack of timers is Linux's.
func Restart() {}

// Usual does nothing.
func Usual() {}
