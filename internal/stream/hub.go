package stream

import (
	"context"
	"sync"
	"sync/atomic"
)

// DefaultLimit is how many may wait in a process unless the options say
// otherwise.
const DefaultLimit = 20_000

// Options configure a Hub. Bus, Read and Version are required.
type Options[T any] struct {
	Bus Bus
	// Read reads things as they are now; what is not there is left out. Each value
	// is shared by all who wait for it and must not be changed.
	Read func(ctx context.Context, ids []ID) (map[ID]T, error)
	// Version is what rises with each change of a value. It begins with 1.
	Version func(T) int
	// Limit is how many may wait at once; 0 means DefaultLimit.
	Limit int
	// Log is told of a lost connection and of reads that failed; nil for nobody.
	Log func(error)
}

// Hub knows who waits for what. It is safe for concurrent use.
type Hub[T any] struct {
	opts  Options[T]
	name  string
	ended chan struct{}
	// stir and look wake the loops that read and that compare.
	stir, look chan struct{}
	// within counts those who have joined and not left.
	within sync.WaitGroup

	mu      sync.Mutex
	topics  map[ID]*topic[T]
	waiting int
	// parties are how many of each limited party wait.
	parties map[string]int
	// changed are waited for and are to be read.
	changed map[ID]struct{}

	announcer announcer
	counts    counts
}

// topic is one thing and those who wait for it.
type topic[T any] struct {
	waiters []*Waiter[T]
	// version is one that everybody here has been told of; 0 before the first has
	// said what it knows.
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
		stir: make(chan struct{}, 1), look: make(chan struct{}, 1),
		topics: make(map[ID]*topic[T]), parties: make(map[string]int), changed: make(map[ID]struct{}),
		announcer: newAnnouncer(),
	}
}

// Run wakes waiters until ctx ends. It then tells all of them that it is over
// and returns when the last has left.
func (h *Hub[T]) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	loops.Go(func() { h.listen(ctx) })
	loops.Go(func() { h.read(ctx) })
	loops.Go(func() { h.compare(ctx) })
	loops.Wait()
	h.end()
	h.within.Wait()
	return nil
}

// Changed tells that a commit has changed things. It never waits.
func (h *Hub[T]) Changed(ids []ID) {
	h.mark(ids)
	h.announcer.add(ids)
}

// mark has those of the things read that somebody waits for.
func (h *Hub[T]) mark(ids []ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		if h.topics[id] != nil {
			h.changed[id] = struct{}{}
		}
	}
	if len(h.changed) > 0 {
		poke(h.stir)
	}
}

func (h *Hub[T]) end() {
	h.mu.Lock()
	close(h.ended)
	var wakes []func()
	for _, t := range h.topics {
		for _, w := range t.waiters {
			wakes = w.alarm(wakes)
		}
	}
	h.mu.Unlock()
	for _, wake := range wakes {
		wake()
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

// poke wakes a loop, now or at its next turn.
func poke(loop chan struct{}) {
	select {
	case loop <- struct{}{}:
	default:
	}
}

// counts are what Stats tells.
type counts struct {
	woken, refused, heard, announced, looks, reads atomic.Uint64
	listening                                      atomic.Bool
}

// Stats is what a hub has done so far.
type Stats struct {
	// Waiting and Things are how many wait, and for how many different things.
	Waiting, Things int
	// Woken and Refused count waiters that were told of a change, and those that
	// were not let in.
	Woken, Refused uint64
	// Heard and Announced count notices of other processes and of this one.
	Heard, Announced uint64
	// Looks count statements that looked for changes nobody had told of, Reads
	// those that read what has changed.
	Looks, Reads uint64
	// Listening is false while the connection is lost that notices come by.
	Listening bool
}

// Stats returns what the hub has done so far.
func (h *Hub[T]) Stats() Stats {
	h.mu.Lock()
	waiting, things := h.waiting, len(h.topics)
	h.mu.Unlock()
	return Stats{
		Waiting: waiting, Things: things, Woken: h.counts.woken.Load(), Refused: h.counts.refused.Load(),
		Heard: h.counts.heard.Load(), Announced: h.counts.announced.Load(),
		Looks: h.counts.looks.Load(), Reads: h.counts.reads.Load(), Listening: h.counts.listening.Load(),
	}
}
