package stream

import (
	"context"
	"sync"
	"sync/atomic"
)

// DefaultLimit is how many subscriptions a process has unless the options give another number.
const DefaultLimit = 20_000

// Options configure a Hub. Bus, Read and Version are required.
type Options[T any] struct {
	Bus Bus
	// Read reads topics as they are now; missing topics are left out. Each value is shared by all its waiters and must not be
	// changed.
	Read func(ctx context.Context, ids []ID) (map[ID]T, error)
	// Version returns the version of a value. It begins with 1 and rises with each change.
	Version func(T) int
	// Limit is how many subscriptions may be open; 0 means DefaultLimit.
	Limit int
	// Log gets lost connections and failed statements; may be nil.
	Log func(error)
}

// Hub wakes the waiters of topics that have changed. It is safe for concurrent use.
type Hub[T any] struct {
	opts  Options[T]
	name  string
	ended chan struct{}
	// readNow and compareNow wake the loops.
	readNow, compareNow chan struct{}
	// open counts subscriptions.
	open sync.WaitGroup

	mu      sync.Mutex
	topics  map[ID]*topic[T]
	waiters int
	// groups are the slots in use of each group.
	groups map[string]int
	// changed are topics to be read.
	changed map[ID]struct{}

	announcer announcer
	counts    counts
}

// topic holds the subscriptions to one id.
type topic[T any] struct {
	subscriptions []*Subscription[T]
	// version is the lowest version that any waiter has seen last; 0 before the first Start.
	version int
}

// New returns a hub. Run and Announce must be running for it to be of use.
func New[T any](o Options[T]) *Hub[T] {
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	if o.Log == nil {
		o.Log = func(error) {}
	}
	return &Hub[T]{
		opts: o, name: newName(), ended: make(chan struct{}),
		readNow: make(chan struct{}, 1), compareNow: make(chan struct{}, 1),
		topics: make(map[ID]*topic[T]), groups: make(map[string]int), changed: make(map[ID]struct{}),
		announcer: newAnnouncer(),
	}
}

// Run wakes waiters until ctx ends. It then ends all waiting and returns when the last subscription is closed.
func (h *Hub[T]) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	loops.Go(func() { h.listen(ctx) })
	loops.Go(func() { h.read(ctx) })
	loops.Go(func() { h.compare(ctx) })
	loops.Wait()
	h.end()
	h.open.Wait()
	return nil
}

// Changed marks the ids that a commit has changed. It never blocks.
func (h *Hub[T]) Changed(ids []ID) {
	h.mark(ids)
	h.announcer.add(ids)
}

// mark queues a read of the topics that have waiters.
func (h *Hub[T]) mark(ids []ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		if h.topics[id] != nil {
			h.changed[id] = struct{}{}
		}
	}
	if len(h.changed) > 0 {
		signal(h.readNow)
	}
}

func (h *Hub[T]) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.ended)
	for _, t := range h.topics {
		for _, s := range t.subscriptions {
			s.call()
		}
	}
}

func (h *Hub[T]) over() bool {
	select {
	case <-h.ended:
		return true
	default:
		return false
	}
}

// signal wakes the receiver, now or when it next looks.
func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

type counts struct {
	woken, refused, received, announced, compares, reads atomic.Uint64
	listening                                            atomic.Bool
}

// Stats counts a hub's work since its start.
type Stats struct {
	// Waiters are open subscriptions, Topics their topics.
	Waiters, Topics int
	// Wakes counts waiters that got a change, Refused subscriptions that had no slot.
	Wakes, Refused uint64
	// Received and Announced count notices of other processes and of this one.
	Received, Announced uint64
	// Compares counts statements that compared versions, Reads statements that read changed topics.
	Compares, Reads uint64
	// Listening is false while the connection for notices is lost.
	Listening bool
}

// Stats returns the counts of the hub.
func (h *Hub[T]) Stats() Stats {
	h.mu.Lock()
	waiters, topics := h.waiters, len(h.topics)
	h.mu.Unlock()
	return Stats{
		Waiters: waiters, Topics: topics, Wakes: h.counts.woken.Load(), Refused: h.counts.refused.Load(),
		Received: h.counts.received.Load(), Announced: h.counts.announced.Load(),
		Compares: h.counts.compares.Load(), Reads: h.counts.reads.Load(), Listening: h.counts.listening.Load(),
	}
}
