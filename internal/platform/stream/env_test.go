package stream_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/stream"
)

// thing is the value of a topic.
type thing struct{ version int }

var errGone = errors.New("the storage is gone")

// storage is shared by several hubs: it has versions, and sends notices to all listeners.
type storage struct {
	mu       sync.Mutex
	versions map[stream.ID]int
	// lossy storage delivers no notices, gone fails at everything.
	lossy, gone bool
	listeners   map[int]chan string
	cut         []context.CancelCauseFunc
	next        int
	sent        [][]string
	compares    int
	reads       [][]stream.ID
	slow        chan struct{}
}

func newStorage() *storage {
	return &storage{versions: map[stream.ID]int{}, listeners: map[int]chan string{}}
}

func (s *storage) Listen(ctx context.Context, ready func(), receive func(string)) error {
	s.mu.Lock()
	if s.gone {
		s.mu.Unlock()
		return errGone
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.cut = append(s.cut, cancel)
	notices, me := make(chan string, 100), s.next
	s.next++
	s.listeners[me] = notices
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, me)
	}()
	ready()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case text := <-notices:
			receive(text)
		}
	}
}

func (s *storage) Announce(ctx context.Context, notices []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return errGone
	}
	s.sent = append(s.sent, notices)
	for _, listener := range s.listeners {
		for _, text := range notices {
			if !s.lossy {
				listener <- text
			}
		}
	}
	return nil
}

func (s *storage) Moved(_ context.Context, ids []stream.ID, versions []int32) ([]stream.ID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return nil, errGone
	}
	s.compares++
	var moved []stream.ID
	for i, id := range ids {
		if s.versions[id] > int(versions[i]) {
			moved = append(moved, id)
		}
	}
	return moved, nil
}

func (s *storage) read(_ context.Context, ids []stream.ID) (map[stream.ID]*thing, error) {
	s.mu.Lock()
	slow := s.slow
	s.mu.Unlock()
	if slow != nil {
		<-slow
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return nil, errGone
	}
	s.reads = append(s.reads, slices.Clone(ids))
	found := map[stream.ID]*thing{}
	for _, id := range ids {
		if v := s.versions[id]; v > 0 {
			found[id] = &thing{v}
		}
	}
	return found, nil
}

func (s *storage) set(id stream.ID, version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions[id] = version
}

func (s *storage) version(id stream.ID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.versions[id]
}

// breaks ends all connections; with gone there are no others to be had.
func (s *storage) breaks(gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = gone
	for _, cancel := range s.cut {
		cancel(errGone)
	}
	s.cut = nil
}

func (s *storage) with(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// announced are the statements that announced, each with its notices.
func (s *storage) announced() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

func (s *storage) statements() (compares, reads int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.compares, len(s.reads)
}

// process is a hub that runs.
type process struct {
	*stream.Hub[*thing]
	storage *storage
	stop    func()
}

func (s *storage) run(t *testing.T, change ...func(*stream.Options[*thing])) *process {
	t.Helper()
	o := stream.Options[*thing]{Bus: s, Read: s.read, Version: func(v *thing) int { return v.version }}
	for _, f := range change {
		f(&o)
	}
	p := &process{Hub: stream.New(o), storage: s}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { _ = p.Run(ctx) })
	all.Go(func() { _ = p.Announce(ctx) })
	p.stop = func() {
		cancel()
		all.Wait()
	}
	synctest.Wait()
	return p
}

// commit changes a thing and reports it to its own process.
func (p *process) commit(id stream.ID, version int) {
	p.storage.set(id, version)
	p.Changed([]stream.ID{id})
}

// waiter is a subscription and the last version it has seen.
type waiter struct {
	*stream.Subscription[*thing]
	version int
	woken   chan struct{}
}

// subscribe waits from the version that is there now.
func (p *process) subscribe(t *testing.T, id stream.ID) *waiter {
	t.Helper()
	w := p.unstarted(t, id, p.storage.version(id))
	w.start()
	return w
}

// unstarted is a waiter that has read a version.
func (p *process) unstarted(t *testing.T, id stream.ID, version int) *waiter {
	t.Helper()
	s, err := p.Subscribe(id, stream.Group{})
	require.NoError(t, err)
	return &waiter{s, version, make(chan struct{}, 1)}
}

func (w *waiter) start() {
	w.Start(w.version, func() {
		select {
		case w.woken <- struct{}{}:
		default:
		}
	})
}

// got returns the version that woke the waiter, or 0 if nothing has woken it yet.
func (w *waiter) got() int {
	synctest.Wait()
	select {
	case <-w.woken:
	default:
		return 0
	}
	v, ok := w.Next(w.version)
	if !ok {
		return 0
	}
	w.version = v.version
	return v.version
}

func id(n byte) stream.ID { return stream.ID{15: n} }
