// Package sandboxtest plays a provider's month in seconds, for tests.
package sandboxtest

import (
	"context"
	"sync"
	"time"
)

// Clock stands still until it is advanced. Its methods are those of sandbox.Options.Now and Until.
type Clock struct {
	mu       sync.Mutex
	now      time.Time
	advanced chan struct{}
}

// NewClock returns a clock that shows a time.
func NewClock(at time.Time) *Clock { return &Clock{now: at, advanced: make(chan struct{})} }

// Now is the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock. A waiter goes on once the clock passes its time.
func (c *Clock) Advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
	close(c.advanced)
	c.advanced = make(chan struct{})
}

// Until waits until the clock shows a time, and returns early, with its error, when ctx ends.
func (c *Clock) Until(ctx context.Context, at time.Time) error {
	for {
		c.mu.Lock()
		now, advanced := c.now, c.advanced
		c.mu.Unlock()
		if !now.Before(at) {
			return ctx.Err() //nolint:wrapcheck // the caller needs no more than that
		}
		select {
		case <-advanced:
		case <-ctx.Done():
			return ctx.Err() //nolint:wrapcheck // the caller needs no more than that
		}
	}
}
