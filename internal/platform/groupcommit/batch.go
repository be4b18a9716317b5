package groupcommit

import (
	"context"
	"runtime/debug"
	"slices"
	"time"
)

// Batch is the input of one flush.
type Batch[T any] struct {
	// Items are in the order in which they were enqueued.
	Items []T

	group *Group[T]
	items []*item[T]
	stall *time.Timer
}

// Sent reports that the flush has read its data and only waits to be written, so that the next flush may read. It may be
// called more than once.
func (b *Batch[T]) Sent() {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reading == b {
		g.reading = nil
		g.start()
	}
}

// Requeue lets the item with that index be flushed again, since it is locked. It counts only if
// the flush returns no error. Later items of the batch that share a key with it must be
// requeued as well if their order matters.
func (b *Batch[T]) Requeue(i int) { b.items[i].state = requeued }

// lead flushes batch after batch until no batch is due.
func (g *Group[T]) lead(b *Batch[T]) {
	defer g.open.Done()
	for b != nil {
		g.take(b)
		g.flush(b)
		b = g.end(b)
	}
}

// take fills a batch as late as possible, so that it contains the items that arrived meanwhile.
func (g *Group[T]) take(b *Batch[T]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.peak = max(g.peak*fade, float64(g.busy+len(g.queue.pending)))
	b.items = g.queue.take(g.opts.Batch)
	b.Items = make([]T, len(b.items))
	for i, it := range b.items {
		b.Items[i] = it.value
	}
	g.busy += len(b.items)
	g.linger = lingerOff
	if g.timer != nil {
		g.timer.Stop()
	}
	if g.opts.Stall > 0 {
		b.stall = time.AfterFunc(g.opts.Stall, b.Sent)
	}
}

func (g *Group[T]) flush(b *Batch[T]) {
	if len(b.items) == 0 { // all were withdrawn
		return
	}
	ctx := context.WithoutCancel(b.items[0].call.ctx)
	err := g.try(ctx, b)
	b.Sent()
	if g.rejected(err) {
		for _, it := range b.items {
			it.end(g.single(ctx, it))
			g.finish(it)
		}
		return
	}
	for _, it := range b.items {
		switch {
		case err != nil || it.state != requeued:
			it.end(err)
		case it.requeues == g.opts.Requeues:
			it.end(g.quarantine(ctx, it, ErrLocked))
		default:
			it.requeues++
		}
	}
}

// try flushes once, and returns a panic as an error.
func (g *Group[T]) try(ctx context.Context, b *Batch[T]) (err error) {
	defer catch(&err)
	if g.opts.Flushed != nil {
		g.opts.Flushed(len(b.Items))
	}
	return g.opts.Flush(ctx, b)
}

func (g *Group[T]) rejected(err error) bool {
	return err != nil && g.opts.Rejected != nil && g.opts.Rejected(err)
}

// single flushes an item of a rejected batch by itself.
func (g *Group[T]) single(ctx context.Context, it *item[T]) error {
	it.state = underWay
	err := g.try(ctx, &Batch[T]{Items: []T{it.value}, group: g, items: []*item[T]{it}})
	switch {
	case err == nil && it.state == requeued:
		return g.quarantine(ctx, it, ErrLocked)
	case g.rejected(err):
		return g.quarantine(ctx, it, err)
	}
	return err
}

func (g *Group[T]) quarantine(ctx context.Context, it *item[T], cause error) (err error) {
	if g.opts.Quarantine == nil {
		return cause
	}
	defer catch(&err)
	return g.opts.Quarantine(ctx, it.value, cause)
}

func catch(err *error) {
	if thrown := recover(); thrown != nil {
		*err = &PanicError{Value: thrown, Stack: debug.Stack()}
	}
}

// end releases the items of a batch, and returns the next batch if it is due.
func (g *Group[T]) end(b *Batch[T]) *Batch[T] {
	next, ended := g.release(b)
	for _, it := range ended {
		if it.state != finished {
			g.finish(it)
		}
	}
	return next
}

func (g *Group[T]) release(b *Batch[T]) (next *Batch[T], ended []*item[T]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.stall != nil {
		b.stall.Stop()
	}
	if g.reading == b {
		g.reading = nil
	}
	g.batches--
	g.busy -= len(b.items)
	if again := g.queue.release(b.items); len(again) > 0 {
		time.AfterFunc(g.opts.RequeueAfter, func() { g.wake(again) })
	}
	ended = slices.DeleteFunc(b.items, func(it *item[T]) bool { return it.state == resting })
	return g.next(), ended
}

func (g *Group[T]) wake(items []*item[T]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue.wake(items)
	g.start()
}

// finish returns an item to its caller.
func (g *Group[T]) finish(it *item[T]) {
	it.state = finished
	if it.call.open.Add(-1) == 0 {
		close(it.call.done)
	}
	g.open.Done()
}
