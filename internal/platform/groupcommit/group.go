package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

var (
	// ErrFull is returned when the queue has no room for all items of a call; no item is enqueued then.
	ErrFull = errors.New("the queue is full")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the group is closed")
	// ErrLocked is returned for an item that was requeued too often, or was requeued while it was retried singly, unless
	// quarantine takes it.
	ErrLocked = errors.New("still locked")
)

// PanicError is returned for the items of a flush that panicked.
type PanicError struct {
	Value any
	Stack []byte
}

// Error implements error.
func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack) }

// Limits bound a number of items; 0 is no bound.
type Limits struct {
	Items int
	// Bytes are counted by Options.Size. One item may have more, alone.
	Bytes int
}

// Options configure a Group. Only Flush is required.
type Options[T any] struct {
	// Flush is called by one leader at a time until it calls Sent or returns. An error is
	// returned for each item of the batch. Its context has the values of the first item's
	// caller and is never cancelled.
	Flush func(ctx context.Context, b *Batch[T]) error

	// Flushed is called with the number of items of each flush; it must not block. Nil is for no call.
	Flushed func(items int)

	// Queue bounds the waiting items, Batch the items of one flush.
	Queue, Batch Limits
	Size         func(item T) int
	// Keys returns hashes of an item's conflict keys: items in concurrent flushes must not share a key. A hash collision
	// only costs a wait.
	Keys func(item T) []uint64

	// Flushes bounds how many may be under way at once; 0 is no bound.
	Flushes int
	// Linger is how long fewer items than half of the peak concurrency wait beside a flush
	// that was sent.
	Linger time.Duration
	// Stall is after how long a flush counts as sent in any case; 0 is never.
	Stall time.Duration

	// Requeues bounds how often an item is flushed again after Batch.Requeue, RequeueAfter
	// each time.
	Requeues     int
	RequeueAfter time.Duration

	// Rejected reports whether an error is about the content of a batch, so that its items must be retried singly. If
	// Rejected is nil, no error is.
	Rejected func(err error) bool
	// Quarantine is called with an item that was rejected by itself, or that is ErrLocked. It returns the error for the
	// item's caller. If Quarantine is nil, the caller gets the cause.
	Quarantine func(ctx context.Context, item T, cause error) error
}

// Group is one group commit. It is safe for concurrent use.
type Group[T any] struct {
	opts Options[T]

	mu    sync.Mutex
	queue queue[T]
	// reading is the batch that was not sent yet.
	reading *Batch[T]
	// batches are under way, with busy items.
	batches, busy int
	// peak is how many items were lately in the group at once.
	peak   float64
	linger linger
	timer  *time.Timer
	closed bool
	// open counts items and leaders.
	open sync.WaitGroup
}

// fade is the factor by which the peak concurrency decays with each batch.
const fade = 0.98

// linger is the state of the wait for more items during a flush.
type linger int

const (
	lingerOff linger = iota
	lingering
	lingerOver
)

// New returns a group. It needs no Close if nothing has to be waited for at the end.
func New[T any](o Options[T]) *Group[T] {
	return &Group[T]{opts: o, queue: queue[T]{limits: o.Queue, keyed: o.Keys != nil}}
}

// Do returns when all items were flushed, with the error of the first failed item, or when ctx ends, with its cause.
// Then it withdraws the items that are not in a flush. Items in a flush may still be written, and their caller must not
// read them any more. It also returns ErrFull, ErrClosed, ErrLocked and a PanicError. It must not be called from a
// flush.
func (g *Group[T]) Do(ctx context.Context, items ...T) error {
	if len(items) == 0 {
		return nil
	}
	c := g.newCall(ctx, items)
	if err := g.enqueue(c); err != nil {
		return err
	}
	select {
	case <-c.done:
		return c.err()
	case <-ctx.Done():
		g.withdraw(c)
		return context.Cause(ctx) //nolint:wrapcheck // the caller's own
	}
}

func (g *Group[T]) newCall(ctx context.Context, values []T) *call[T] {
	c := &call[T]{ctx: ctx, items: make([]item[T], len(values)), done: make(chan struct{})}
	c.open.Store(int32(len(values))) //nolint:gosec // far below 2³¹
	for i, value := range values {
		it := &c.items[i]
		it.value, it.call = value, c
		if g.opts.Size != nil {
			it.size = g.opts.Size(value)
		}
		if g.opts.Keys != nil {
			it.keys = g.opts.Keys(value)
		}
	}
	return c
}

func (g *Group[T]) enqueue(c *call[T]) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return ErrClosed
	case !g.queue.push(c.items):
		return ErrFull
	}
	g.open.Add(len(c.items))
	g.start()
	return nil
}

func (g *Group[T]) withdraw(c *call[T]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open.Add(-g.queue.remove(c))
}

// Close refuses further items and returns when all that were enqueued have been flushed.
func (g *Group[T]) Close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.open.Wait()
}

// start starts a leader if a batch is due. It must be called with the lock held.
func (g *Group[T]) start() {
	if b := g.next(); b != nil {
		g.open.Add(1)
		go g.lead(b)
	}
}

// next returns the batch that is due, or nil and sees to it that one will be. It must be called
// with the lock held.
func (g *Group[T]) next() *Batch[T] {
	if g.reading != nil || g.queue.ready == 0 || g.opts.Flushes > 0 && g.batches >= g.opts.Flushes {
		return nil
	}
	if !g.due() {
		if g.linger == lingerOff {
			g.linger = lingering
			g.wait()
		}
		return nil
	}
	g.batches++
	g.reading = &Batch[T]{group: g}
	return g.reading
}

func (g *Group[T]) due() bool {
	return g.batches == 0 || g.opts.Linger == 0 || g.linger == lingerOver || g.enough()
}

func (g *Group[T]) enough() bool {
	ready := g.queue.ready
	return float64(ready) >= g.peak/2 || g.opts.Batch.Items > 0 && ready >= g.opts.Batch.Items
}

func (g *Group[T]) wait() {
	if g.timer == nil {
		g.timer = time.AfterFunc(g.opts.Linger, g.lingered)
	} else {
		g.timer.Reset(g.opts.Linger)
	}
}

func (g *Group[T]) lingered() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.linger == lingering {
		g.linger = lingerOver
	}
	g.start()
}
