package idempotency

import (
	"context"
	"sync"
	"time"
)

// Flights lets the duplicates of a command wait, within this process, for the
// first one. A waiter costs a channel and nothing else. The zero value is ready.
type Flights[T any] struct {
	mu   sync.Mutex
	open map[ident]*flight[T]
}

// ident holds the hash, too: of two requests with one key only the storage can
// decide which came first.
type ident struct {
	user, endpoint string
	key            Key
	hash           Hash
}

type flight[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// Do runs a command. If the same command is already under way, Do waits for that
// run and returns its results, with shared true. Another request with the same
// key runs by itself. It returns ErrInProgress if the first run is still under way
// after wait, or ended in a panic.
func (f *Flights[T]) Do(ctx context.Context, r Request, wait time.Duration, run func() (T, error)) (value T, shared bool, err error) {
	id := ident{r.User, r.Endpoint, r.Key, r.Hash}
	f.mu.Lock()
	if first, ok := f.open[id]; ok {
		f.mu.Unlock()
		value, err = first.join(ctx, wait)
		return value, true, err
	}
	if f.open == nil {
		f.open = make(map[ident]*flight[T])
	}
	own := &flight[T]{done: make(chan struct{}), err: ErrInProgress}
	f.open[id] = own
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.open, id)
		f.mu.Unlock()
		close(own.done)
	}()
	own.value, own.err = run()
	return own.value, false, own.err
}

func (f *flight[T]) join(ctx context.Context, wait time.Duration) (T, error) {
	var none T
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-f.done:
		return f.value, f.err
	case <-timer.C:
		return none, ErrInProgress
	case <-ctx.Done():
		return none, context.Cause(ctx) //nolint:wrapcheck // the caller's own end
	}
}
