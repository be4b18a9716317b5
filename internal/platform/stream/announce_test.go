package stream_test

import (
	"context"
	"encoding/binary"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/stream"
)

func numbered(n int) []stream.ID {
	ids := make([]stream.ID, n)
	for i := range ids {
		binary.BigEndian.PutUint32(ids[i][:], uint32(i)+1)
	}
	return ids
}

func TestAnnounce_many_changes_share_a_notice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		here, there := s.run(t), s.run(t)
		ids := numbered(1000)
		last := ids[999]
		w := there.subscribe(t, last)
		here.Changed(ids[:1])
		synctest.Wait()
		require.Len(t, s.announced(), 1, "a lone one goes at once")
		for _, id := range ids {
			here.Changed([]stream.ID{id, id})
		}
		synctest.Wait()
		require.Len(t, s.announced(), 1, "under load they share one")
		s.set(last, 1)
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		require.Len(t, s.announced(), 2)
		require.Len(t, s.announced()[1], 3, "as few as hold them")
		for _, notice := range s.announced()[1] {
			require.Less(t, len(notice), 8000, "what PostgreSQL takes")
		}
		require.Equal(t, 1, w.got())
		w.Close()
		here.stop()
		there.stop()
	})
}

func TestAnnounce_the_rest_at_the_end(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		h := stream.New(stream.Options[*thing]{Bus: s, Read: s.read, Version: func(v *thing) int { return v.version }})
		h.Changed(numbered(1))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, h.Announce(ctx))
		require.Len(t, s.announced(), 1)
	})
}

// A retry at once would fill the log under load, and try fifty times a second to get a session from a server that has
// none to spare.
func TestAnnounce_failure_waits_a_second(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.gone = true
		var failed atomic.Int32
		p := s.run(t, func(o *stream.Options[*thing]) {
			o.Log = func(err error) {
				if strings.HasPrefix(err.Error(), "announce") {
					failed.Add(1)
				}
			}
		})
		for range 175 {
			p.Changed(numbered(1))
			time.Sleep(20 * time.Millisecond)
		}
		require.EqualValues(t, 4, failed.Load(), "once a second, as others compare")
		s.with(func() { s.gone = false })
		p.Changed(numbered(1))
		time.Sleep(time.Second)
		require.Len(t, s.announced(), 1)
		p.stop()
	})
}

func TestAnnounce_bounds_its_queue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		h := stream.New(stream.Options[*thing]{Bus: s, Read: s.read, Version: func(v *thing) int { return v.version }})
		h.Changed(numbered(100_000))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, h.Announce(ctx))
		require.Equal(t, 184, len(s.announced()[0])) //nolint:testifylint // Len would print them all
	})
}

func TestHub_ignores_foreign_notices(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(0), 1)
		p := s.run(t)
		w := p.subscribe(t, id(0))
		require.NoError(t, s.Announce(t.Context(), []string{
			"", "short", "twelve-chars", "twelve-chars!!!!!!!!!!!!!!!!!!!!!!", "twelve-charsAAAAAAAAAAAAAAAAAAAAAAA", "twelve-charsAAAAAAAAAAAAAAAAAAAAA\x00",
		}))
		require.Zero(t, w.got())
		_, reads := s.statements()
		require.Zero(t, reads)
		w.Close()
		p.stop()
	})
}

// Each waiter gets the last version while many goroutines subscribe, change and close.
func TestHub_from_many_goroutines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		const things, versions = 20, 30
		for n := range byte(things) {
			s.set(id(n), 1)
		}
		here, there := s.run(t), s.run(t)
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				p := []*process{here, there}[i%2]
				w := p.subscribe(t, id(byte(i%things)))
				defer w.Close()
				for w.version < versions {
					if v, ok := w.Next(w.version); ok {
						w.version = v.version
						continue
					}
					<-w.woken
				}
			})
		}
		for n := range byte(things) {
			all.Go(func() {
				for v := 2; v <= versions; v++ {
					here.commit(id(n), v)
				}
			})
		}
		all.Wait()
		here.stop()
		there.stop()
		require.Zero(t, here.Stats().Waiters+there.Stats().Waiters)
	})
}
