package main

import (
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// now is a clock that is off by CLOCK_OFF, a duration, and by the seconds in the file CLOCK_STEP, if it is set. The file is read again
// after each SIGUSR1: the clock steps. As on a real machine, a step does not change the monotonic reading.
func now() time.Time {
	t := time.Now().Add(off)
	*(*uint64)(unsafe.Pointer(&t)) += uint64(step.Load()) << 30 // the wall seconds of a time with a monotonic reading
	return t
}

var (
	off, _ = time.ParseDuration(os.Getenv("CLOCK_OFF"))
	step   atomic.Int64
)

// timeOfIDs is the clock of new ids.
//
//go:linkname timeOfIDs github.com/google/uuid.timeNow
var timeOfIDs func() time.Time

func readStep(file string) {
	text, _ := os.ReadFile(file)
	seconds, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	step.Store(seconds)
}

func init() {
	timeOfIDs = now
	file := os.Getenv("CLOCK_STEP")
	if file == "" {
		return
	}
	stepped := make(chan os.Signal, 1)
	signal.Notify(stepped, syscall.SIGUSR1)
	readStep(file)
	go func() {
		for range stepped {
			readStep(file)
		}
	}()
}
