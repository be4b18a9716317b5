package outbox

import (
	"context"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/events/lease"
)

const (
	// numberAtOnce bounds one transaction that gives positions.
	numberAtOnce = 1000
	// numberEvery is the least time between two such transactions: under load many commits share
	// one, an event on its own has its position at once.
	numberEvery = 20 * time.Millisecond
	// lookEvery is how long an event of another process goes unnoticed here.
	lookEvery = 500 * time.Millisecond
)

// Head is the last position that this process has read or given. The zero value is one. It is safe for
// concurrent use.
type Head struct {
	// Unsettled reports whether the database may have forgotten commits. No position is given out meanwhile: an epoch of the feed may
	// have to begin first. May be nil.
	Unsettled func() bool

	mu    sync.Mutex
	last  Position
	moved chan struct{}
	ended bool
}

func (h *Head) unsettled() bool { return h.Unsettled != nil && h.Unsettled() }

// Moved returns a channel that is closed once the head moves after this call, or has ended.
func (h *Head) Moved() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.moved == nil {
		h.moved = make(chan struct{})
	}
	return h.moved
}

// Last is the position of the head; 0 before it was read for the first time.
func (h *Head) Last() Position {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// end wakes all waiters, for good.
func (h *Head) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.moved == nil {
		h.moved = make(chan struct{})
	}
	if !h.ended {
		h.ended = true
		close(h.moved)
	}
}

// over reports whether the head has ended.
func (h *Head) over() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended
}

func (h *Head) move(to Position) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended || to == h.last { // a restored database has an earlier head
		return
	}
	h.last = to
	if h.moved != nil {
		close(h.moved)
		h.moved = nil
	}
}

// Numberer gives positions to committed events. Any number of processes may run one: they take turns.
type Numberer struct {
	Store Store
	Head  *Head
	// Log is called with each error. The numberer then tries again.
	Log func(error)

	once sync.Once
	wake chan struct{}
}

// Wake has the numberer look at once, after a commit of this process. It does not wait.
func (n *Numberer) Wake() {
	select {
	case n.awake() <- struct{}{}:
	default:
	}
}

func (n *Numberer) awake() chan struct{} {
	n.once.Do(func() { n.wake = make(chan struct{}, 1) })
	return n.wake
}

// Run numbers until ctx ends, and then wakes all waiters of the head.
func (n *Numberer) Run(ctx context.Context) error {
	defer n.Head.end()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for ctx.Err() == nil {
		more, err := n.number(ctx)
		if err != nil && ctx.Err() == nil {
			n.Log(err)
		}
		if more {
			continue
		}
		lease.Pause(ctx, numberEvery)
		select {
		case <-ctx.Done():
		case <-n.awake():
		case <-look.C:
		}
	}
	return nil
}

// number gives positions once, and reports whether more events may wait for one.
func (n *Numberer) number(ctx context.Context) (more bool, err error) {
	if n.Head.unsettled() {
		return false, nil
	}
	from, to, err := n.Store.NumberEvents(ctx, numberAtOnce)
	if err == nil && to == 0 { // another process has the head, or there is no event yet
		to, err = n.Store.EventsHead(ctx)
		from = to
	}
	if err != nil {
		return false, err
	}
	n.Head.move(to)
	return to-from >= numberAtOnce, nil
}
