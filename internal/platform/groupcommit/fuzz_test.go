package groupcommit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/paylatch/paylatch/internal/platform/groupcommit"
)

// order is an item of the fuzz test.
type order struct {
	id   int
	keys []uint64
}

// schedule is a flush that a string of bytes decides, and that checks the promises.
type schedule struct {
	t    *testing.T
	mu   sync.Mutex
	plan []byte
	// underWay are the keys of batches under way; last is the youngest item flushed by key.
	underWay map[uint64]int
	last     map[uint64]int
	flushed  map[int]int
}

func (s *schedule) next() byte {
	if len(s.plan) == 0 {
		return 0
	}
	b := s.plan[0]
	s.plan = s.plan[1:]
	return b
}

func (s *schedule) flush(_ context.Context, b *groupcommit.Batch[order]) error {
	s.mu.Lock()
	step := s.next()
	s.check(b, 1)
	s.mu.Unlock()
	time.Sleep(time.Duration(step%7) * time.Millisecond)
	if step&8 > 0 {
		b.Sent()
		time.Sleep(time.Duration(step%5) * time.Millisecond)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check(b, -1)
	switch {
	case step&0x30 == 0x30:
		return errRejected
	case step&0x40 > 0:
		panic("thrown")
	case step&0x80 > 0:
		return errGone
	}
	locked := map[uint64]bool{}
	for i, o := range b.Items {
		if step&0x10 > 0 && i%2 == 0 || slices.ContainsFunc(o.keys, func(k uint64) bool { return locked[k] }) {
			for _, k := range o.keys {
				locked[k] = true
			}
			b.Requeue(i)
			continue
		}
		s.write(o)
	}
	return nil
}

// check counts the keys of a batch that begins or ends.
func (s *schedule) check(b *groupcommit.Batch[order], by int) {
	own := map[uint64]bool{}
	for _, o := range b.Items {
		for _, k := range o.keys {
			own[k] = true
		}
	}
	for k := range own {
		if s.underWay[k] += by; s.underWay[k] > 1 {
			s.t.Errorf("two batches under way share the key %d", k)
		}
	}
}

func (s *schedule) write(o order) {
	s.flushed[o.id]++
	for _, k := range o.keys {
		if s.last[k] > o.id {
			s.t.Errorf("item %d is flushed after %d, which came later and has the key %d", o.id, s.last[k], k)
		}
		s.last[k] = o.id
	}
}

// FuzzGroup enqueues, flushes, rejects, requeues, panics and withdraws by a random schedule:
// each item is flushed exactly once or returned with an error, in the order of its keys.
func FuzzGroup(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{0, 8, 0x10, 0x30, 0x40, 0x80})
	f.Add([]byte{0xff, 0x11, 0x22, 0x33, 0x91, 0x17, 0, 0, 5}, []byte{0x1f, 0x1d, 0x18, 0x38, 0x0b, 0x48, 0x15, 0x9c})
	f.Fuzz(func(t *testing.T, arrivals, plan []byte) {
		synctest.Test(t, func(t *testing.T) { run(t, arrivals[:min(len(arrivals), 64)], plan) })
	})
}

func run(t *testing.T, arrivals, plan []byte) {
	t.Helper()
	s := &schedule{t: t, plan: plan, underWay: map[uint64]int{}, last: map[uint64]int{}, flushed: map[int]int{}}
	quarantined := errors.New("quarantined")
	g := groupcommit.New(groupcommit.Options[order]{
		Flush: s.flush, Keys: func(o order) []uint64 { return o.keys },
		Queue: groupcommit.Limits{Items: 20}, Batch: groupcommit.Limits{Items: 5},
		Flushes: 3, Linger: 2 * time.Millisecond, Stall: 5 * time.Millisecond, Requeues: 2, RequeueAfter: 3 * time.Millisecond,
		Rejected:   func(err error) bool { return !errors.Is(err, errGone) },
		Quarantine: func(context.Context, order, error) error { return quarantined },
	})
	results := make([]error, len(arrivals))
	var calls sync.WaitGroup
	for id, a := range arrivals {
		keys := []uint64{uint64(a & 3), uint64(a >> 2 & 3)}
		ctx, cancel := t.Context(), context.CancelFunc(func() {})
		if a&0x10 > 0 {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(a>>5)*time.Millisecond)
		}
		calls.Go(func() {
			defer cancel()
			results[id] = g.Do(ctx, order{id, keys})
		})
		synctest.Wait()
		time.Sleep(time.Duration(a>>6) * time.Millisecond)
	}
	calls.Wait()
	g.Close()
	for id, err := range results {
		left := errors.Is(err, context.DeadlineExceeded) && s.flushed[id] == 1 // it was under way
		if n := s.flushed[id]; !left && (err == nil) != (n == 1) || n > 1 {
			t.Errorf("item %d was flushed %d times and returned %v", id, n, err)
		}
	}
}
