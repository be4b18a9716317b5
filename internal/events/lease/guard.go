package lease

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// PanicError is a panic of a loop: a fault of the program, which must not end the process.
type PanicError struct {
	Value any
	Stack []byte
}

// Error implements error.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Guard calls do, and returns a *PanicError where it panics.
func Guard(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return do()
}

// Until calls do until it succeeds or ctx ends, with a pause after each failure, and reports whether it has succeeded. A panic is
// a failure.
func Until(ctx context.Context, pause time.Duration, do func(ctx context.Context) error, log func(error)) bool {
	for ctx.Err() == nil {
		err := Guard(func() error { return do(ctx) })
		if err == nil {
			return true
		}
		if ctx.Err() == nil {
			log(err)
		}
		Pause(ctx, pause)
	}
	return false
}

// Pause returns early when ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Rest waits for d at most, until moved is closed or ctx ends.
func Rest(ctx context.Context, moved <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-moved:
	case <-timer.C:
	}
}
