package payment

import (
	"context"
	"slices"
	"sync"
	"time"
)

// gathered bounds how many calls share one transaction.
const gathered = 64

// gatherer lets calls that come while a transaction or a read is under way share
// the next one. A lone call waits for nobody: there is neither a timer nor a
// goroutine, one of the callers works for all. A call says in itself what became
// of it.
type gatherer[T any] struct {
	apply func(ctx context.Context, calls []T)
	// patience is how long a call waits to be taken along before it gives up; 0 for
	// as long as it takes.
	patience time.Duration

	mu      sync.Mutex
	waiting []*turn[T]
	busy    bool
}

// turn is a call that waits: for others to have taken it along, or for its caller
// to commit.
type turn[T any] struct {
	call T
	lead chan bool
}

// do returns when the call has been applied, or has given up.
func (g *gatherer[T]) do(ctx context.Context, call T) {
	own := &turn[T]{call: call, lead: make(chan bool, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, own)
	first := !g.busy
	g.busy = true
	g.mu.Unlock()
	if first || g.await(own) {
		g.commit(context.WithoutCancel(ctx))
	}
}

// await reports whether the caller of a turn is the one to commit. It is not when
// others have, or it gives up.
func (g *gatherer[T]) await(own *turn[T]) bool {
	if g.patience == 0 {
		return <-own.lead
	}
	timer := time.NewTimer(g.patience)
	defer timer.Stop()
	select {
	case leads := <-own.lead:
		return leads
	case <-timer.C:
	}
	if g.leave(own) {
		return false
	}
	return <-own.lead
}

// leave takes back a turn; false if others have taken it along, or left it to lead.
func (g *gatherer[T]) leave(own *turn[T]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, own)
	if i < 0 || len(own.lead) > 0 {
		return false
	}
	g.waiting = slices.Delete(g.waiting, i, i+1)
	return true
}

// commit applies what is waiting, the caller's own call first, and hands over to
// whoever came meanwhile.
func (g *gatherer[T]) commit(ctx context.Context) {
	g.mu.Lock()
	n := min(len(g.waiting), gathered)
	turns := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	g.mu.Unlock()
	defer func() {
		for _, t := range turns[1:] {
			t.lead <- false
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.busy = len(g.waiting) > 0; g.busy {
			g.waiting[0].lead <- true
		}
	}()
	calls := make([]T, n)
	for i, t := range turns {
		calls[i] = t.call
	}
	g.apply(ctx, calls)
}
