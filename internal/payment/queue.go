package payment

import (
	"slices"
	"sync"
	"time"
)

const (
	// queueLength bounds how many webhooks may wait for the disk.
	queueLength = 4096
	// batchLength and batchBytes bound one transaction: its events, and their bodies.
	batchLength = 128
	batchBytes  = 4 << 20
	// patience is how long less than half of a crowd waits for a batch that is on its
	// way to the disk.
	patience = 3 * time.Millisecond
	// fades is what is left of the crowd that was seen when the next batch is taken.
	fades = 0.98
)

// subject is something that an event is about: itself, by its id, or what it names.
type subject struct {
	Reference

	itself bool
}

// queue is where arrivals wait for the disk. A batch is taken when the last one is on
// its way there: at once if none is, or if half of the crowd waits, since each of a
// large batch costs less than each of a small one; otherwise when the patience with a
// slow disk is over. No two that are under way have a subject in common.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	waiting []*arrival
	// blocked are arrivals one of whose subjects is under way.
	blocked  []*arrival
	underWay map[subject]bool
	// batches are under way, with busy arrivals; crowd is how many there were lately,
	// the waiting ones included.
	batches, busy int
	crowd         float64
	// reading says that the last batch is not on its way yet.
	reading bool
	// called says that somebody was woken for what is due, alarmed that somebody will
	// be, overdue that the patience with what is on its way is over.
	called, alarmed, overdue bool
	alarm                    *time.Timer
	closed                   bool
}

func newQueue() *queue {
	q := &queue{underWay: map[subject]bool{}}
	q.changed = sync.NewCond(&q.mu)
	q.alarm = time.AfterFunc(time.Hour, q.ring)
	q.alarm.Stop()
	return q
}

// put lets arrivals wait, all or none of them. It reports false if there are too many.
func (q *queue) put(arrivals []*arrival) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting)+len(q.blocked)+len(arrivals) > queueLength {
		return false
	}
	q.line(arrivals)
	q.call()
	return true
}

// take waits until a batch is due. It calls idle before it waits, unless one is being
// read. It reports false when the queue is closed and nothing is left.
func (q *queue) take(idle func()) ([]*arrival, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.due() {
		if q.closed && len(q.waiting)+len(q.blocked) == 0 {
			return nil, false
		}
		if !q.reading {
			idle()
		}
		q.call()
		q.changed.Wait()
	}
	q.crowd = max(q.crowd*fades, float64(q.busy+len(q.waiting)+len(q.blocked)))
	n := q.length()
	batch, rest := slices.Clone(q.waiting[:n]), slices.Clone(q.waiting[n:])
	clear(q.waiting)
	q.waiting = q.waiting[:0]
	q.begin(batch)
	q.line(rest)
	return batch, true
}

// length is how many of those that wait make a batch.
func (q *queue) length() int {
	n, bytes := min(len(q.waiting), batchLength), 0
	for i, a := range q.waiting[:n] {
		if bytes += len(a.Body); bytes > batchBytes && i > 0 {
			return i
		}
	}
	return n
}

func (q *queue) begin(batch []*arrival) {
	for _, a := range batch {
		for _, s := range a.subjects {
			q.underWay[s] = true
		}
	}
	q.batches++
	q.busy += len(batch)
	q.reading = true
	q.alarm.Stop()
	q.called, q.alarmed, q.overdue = false, false, false
}

// sent says that the batch that was taken last is on its way to the disk.
func (q *queue) sent() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reading = false
	q.call()
}

// done says that a batch that was sent is through, some of which may wait again. Who
// says so takes the next one, or waits for it.
func (q *queue) done(batch, again []*arrival) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, a := range batch {
		for _, s := range a.subjects {
			delete(q.underWay, s)
		}
	}
	q.batches--
	q.busy -= len(batch)
	if len(again)+len(q.blocked) > 0 {
		longest := slices.Concat(again, q.blocked, q.waiting)
		q.blocked, q.waiting = nil, nil
		q.line(longest)
	}
	if q.closed {
		q.changed.Broadcast()
	}
}

// close lets take report the end.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}

// line puts arrivals where they have to wait.
func (q *queue) line(arrivals []*arrival) {
	for _, a := range arrivals {
		if slices.ContainsFunc(a.subjects, func(s subject) bool { return q.underWay[s] }) {
			q.blocked = append(q.blocked, a)
		} else {
			q.waiting = append(q.waiting, a)
		}
	}
}

// call wakes somebody if a batch is due, and sees to it that one will be.
func (q *queue) call() {
	switch {
	case q.due():
		if !q.called {
			q.called = true
			q.changed.Signal()
		}
	case len(q.waiting) > 0 && !q.reading && !q.alarmed:
		q.alarmed = true
		q.alarm.Reset(patience)
	}
}

func (q *queue) due() bool {
	if len(q.waiting) == 0 || q.reading {
		return false
	}
	return q.batches == 0 || q.overdue || float64(len(q.waiting)) >= min(q.crowd/2, batchLength)
}

// ring ends the patience.
func (q *queue) ring() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.overdue = q.alarmed
	q.call()
}
