package payment

import (
	"context"
	"slices"
	"sync"
	"time"
)

// gathered bounds how many calls share one transaction.
const gathered = 64

// slow is how long calls wait for those before them to end. What takes longer may
// never end: its connection may be dead, and theirs need not be.
const slow = 250 * time.Millisecond

// gatherer lets calls that come while a transaction or a read is under way share
// the next one, which begins when that has ended or is slow. A lone call waits for
// nobody: one of the callers works for all. A call says in itself what became of it.
type gatherer[T any] struct {
	apply func(ctx context.Context, calls []T)
	// patience is how long a call waits for others to apply it before it gives up; 0
	// for as long as it takes.
	patience time.Duration

	mu      sync.Mutex
	waiting []*turn[T]
	// busy says that somebody commits whom the next one waits for.
	busy bool
}

// turn is a call that waits: for others to have taken it along, or for its caller
// to commit.
type turn[T any] struct {
	call T
	lead chan bool
}

// do returns when the call has been applied, or false when it has given up: then
// others may still be at it, and it is not to be looked at any more.
func (g *gatherer[T]) do(ctx context.Context, call T) bool {
	own := &turn[T]{call: call, lead: make(chan bool, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, own)
	leads, told := !g.busy, true
	g.busy = true
	g.mu.Unlock()
	if !leads {
		leads, told = g.await(own)
	}
	if leads {
		g.commit(context.WithoutCancel(ctx))
	}
	return told
}

// await reports whether the caller of a turn is the one to commit. If others have, it
// is not. It is told nothing if it gives up.
func (g *gatherer[T]) await(own *turn[T]) (leads, told bool) {
	if g.patience == 0 {
		return <-own.lead, true
	}
	timer := time.NewTimer(g.patience)
	defer timer.Stop()
	select {
	case leads = <-own.lead:
		return leads, true
	case <-timer.C:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case leads = <-own.lead:
		return leads, true
	default:
	}
	g.waiting = slices.DeleteFunc(g.waiting, func(t *turn[T]) bool { return t == own })
	return false, false
}

// commit applies what is waiting, the caller's own call first, and hands over to
// whoever came meanwhile.
func (g *gatherer[T]) commit(ctx context.Context) {
	g.mu.Lock()
	n := min(len(g.waiting), gathered)
	turns := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	g.mu.Unlock()
	handOver := sync.OnceFunc(g.handOver)
	late := time.AfterFunc(slow, handOver)
	defer func() {
		late.Stop()
		for _, t := range turns[1:] {
			t.lead <- false
		}
		handOver()
	}()
	calls := make([]T, n)
	for i, t := range turns {
		calls[i] = t.call
	}
	g.apply(ctx, calls)
}

// handOver lets the first who waits commit.
func (g *gatherer[T]) handOver() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy = len(g.waiting) > 0; g.busy {
		g.waiting[0].lead <- true
	}
}
