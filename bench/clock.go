package main

import (
	"context"
	"time"
)

// now is the clock that everything is measured by.
func now() time.Time { return time.Now() } //nolint:forbidigo // a benchmark measures real time

func since(t time.Time) time.Duration { return now().Sub(t) }

// wait returns early when ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // says all there is
	}
}
