package groupcommit

import (
	"context"
	"slices"
	"sync/atomic"
)

// call is the wait of one caller.
type call[T any] struct {
	ctx   context.Context
	items []item[T]
	open  atomic.Int32
	done  chan struct{}
}

func (c *call[T]) err() error {
	for i := range c.items {
		if err := c.items[i].err; err != nil {
			return err
		}
	}
	return nil
}

type item[T any] struct {
	value T
	size  int
	keys  []uint64
	call  *call[T]
	state state
	// requeues counts how often the item was requeued.
	requeues int
	err      error
}

func (it *item[T]) end(err error) { it.state, it.err = flushed, err }

// state is where an item is. While it waits it belongs to the queue's lock, from then on to
// its leader.
type state int

const (
	waiting state = iota
	// blocked items share a key with an item that is under way, resting, or blocked before them.
	blocked
	// resting items were requeued a moment ago.
	resting
	underWay
	// requeued items will be flushed again.
	requeued
	flushed
	// finished items are their caller's.
	finished
)

// queue holds the waiting items, oldest first. Its user holds a lock.
type queue[T any] struct {
	limits  Limits
	keyed   bool
	pending []*item[T]
	bytes   int
	// ready is how many can be taken.
	ready int
	// taken are the keys of items under way, held the keys of resting or blocked items.
	taken, held map[uint64]bool
}

// push enqueues all items, or no item if there is no room.
func (q *queue[T]) push(items []item[T]) bool {
	bytes := q.bytes
	for i := range items {
		bytes += items[i].size
	}
	if q.limits.Items > 0 && len(q.pending)+len(items) > q.limits.Items ||
		q.limits.Bytes > 0 && bytes > q.limits.Bytes && len(q.pending)+len(items) > 1 {
		return false
	}
	q.bytes = bytes
	for i := range items {
		q.pending = append(q.pending, &items[i])
		q.sort(&items[i])
	}
	return true
}

// sort decides whether an item can be taken, given all that is before it.
func (q *queue[T]) sort(it *item[T]) {
	if it.state != resting {
		it.state = waiting
		if slices.ContainsFunc(it.keys, func(k uint64) bool { return q.taken[k] || q.held[k] }) {
			it.state = blocked
		}
	}
	if it.state == waiting {
		q.ready++
		return
	}
	for _, k := range it.keys {
		set(&q.held, k)
	}
}

// sortAll sorts the waiting items again.
func (q *queue[T]) sortAll() {
	q.ready = 0
	clear(q.held)
	for _, it := range q.pending {
		q.sort(it)
	}
}

// take removes the oldest items that make a batch.
func (q *queue[T]) take(limits Limits) []*item[T] {
	n, bytes := q.ready, 0
	if limits.Items > 0 {
		n = min(n, limits.Items)
	}
	batch, rest := make([]*item[T], 0, n), q.pending[:0]
	for i, it := range q.pending {
		if len(batch) == n {
			rest = append(rest, q.pending[i:]...)
			break
		}
		if it.state != waiting {
			rest = append(rest, it)
			continue
		}
		if bytes += it.size; limits.Bytes > 0 && bytes > limits.Bytes && len(batch) > 0 {
			rest = append(rest, q.pending[i:]...)
			break
		}
		it.state = underWay
		q.bytes -= it.size
		batch = append(batch, it)
		for _, k := range it.keys {
			set(&q.taken, k)
		}
	}
	clear(q.pending[len(rest):])
	q.pending = rest
	if q.keyed {
		q.sortAll()
	} else {
		q.ready -= len(batch)
	}
	return batch
}

// release ends a batch. Items that must be flushed again come first, and rest.
func (q *queue[T]) release(batch []*item[T]) (again []*item[T]) {
	for _, it := range batch {
		for _, k := range it.keys {
			delete(q.taken, k)
		}
		if it.state == requeued {
			it.state = resting
			q.bytes += it.size
			again = append(again, it)
		}
	}
	if len(again) > 0 {
		q.pending = slices.Concat(again, q.pending)
	}
	if len(q.pending) > q.ready {
		q.sortAll()
	}
	return again
}

// wake ends the rest of items.
func (q *queue[T]) wake(items []*item[T]) {
	for _, it := range items {
		it.state = waiting
	}
	q.sortAll()
}

// remove withdraws the waiting items of a call, and returns their number.
func (q *queue[T]) remove(c *call[T]) int {
	before := len(q.pending)
	q.pending = slices.DeleteFunc(q.pending, func(it *item[T]) bool {
		if it.call != c {
			return false
		}
		q.bytes -= it.size
		return true
	})
	q.sortAll()
	return before - len(q.pending)
}

func set(keys *map[uint64]bool, k uint64) {
	if *keys == nil {
		*keys = map[uint64]bool{}
	}
	(*keys)[k] = true
}
