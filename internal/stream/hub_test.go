package stream_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/stream"
)

func TestAChangeWakesThoseWhoWaitForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(1), 1)
		s.set(id(2), 1)
		here, there := s.run(t), s.run(t)
		mine, theirs, other := here.join(t, id(1)), there.join(t, id(1)), here.join(t, id(2))
		began := time.Now()
		here.commit(id(1), 2)
		require.Equal(t, 2, mine.told())
		require.Equal(t, 2, theirs.told())
		require.Zero(t, other.told())
		require.Zero(t, time.Since(began), "at once, in every process")
		here.commit(id(1), 3)
		require.Equal(t, 3, mine.told(), "again and again")
		_, more := mine.Next(3)
		require.False(t, more, "each version once")
		time.Sleep(20 * time.Millisecond)
		require.Equal(t, 3, theirs.told(), "others hear of it a little later")
		mine.Leave()
		theirs.Leave()
		other.Leave()
		here.commit(id(1), 4)
		synctest.Wait()
		_, reads := s.asked()
		require.Equal(t, 4, reads, "what nobody waits for is not read")
		here.stop()
		there.stop()
		require.Zero(t, here.Stats().Waiting)
		require.Zero(t, here.Stats().Things)
		require.Equal(t, uint64(2), here.Stats().Woken)
		require.Zero(t, here.Stats().Heard, "its own notices are no news")
		require.Equal(t, uint64(3), there.Stats().Heard)
	})
}

func TestOneReadServesAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(1), 1)
		p := s.run(t)
		all := make([]*waiter, 8000)
		for i := range all {
			all[i] = p.join(t, id(1))
		}
		p.commit(id(1), 2)
		synctest.Wait()
		_, reads := s.asked()
		require.Equal(t, 1, reads)
		first, _ := all[0].Next(1)
		for _, w := range all {
			v, ok := w.Next(1)
			require.True(t, ok)
			require.Same(t, first, v)
			w.Leave()
		}
		p.stop()
	})
}

func TestChangesGatherWhileAReadIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		var all []*waiter
		for n := range byte(100) {
			s.set(id(n), 1)
		}
		p := s.run(t)
		for n := range byte(100) {
			all = append(all, p.join(t, id(n)))
		}
		slow := make(chan struct{})
		s.with(func() { s.slow = slow })
		for n := range byte(100) {
			p.commit(id(n), 2)
			synctest.Wait()
		}
		close(slow)
		synctest.Wait()
		_, reads := s.asked()
		require.Equal(t, 2, reads, "the first, and all the others")
		for _, w := range all {
			require.Equal(t, 2, w.told())
			w.Leave()
		}
		p.stop()
	})
}

// TestNothingIsMissedBeforeTheFirstLook: whoever joins before it reads hears of
// what changes in between, from whichever side.
func TestNothingIsMissedBeforeTheFirstLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(1), 1)
		p := s.run(t)
		raw, err := p.Join(id(1), stream.Party{})
		require.NoError(t, err)
		early := &waiter{raw, 1, make(chan struct{}, 1)} // it reads version 1 here
		p.commit(id(1), 2)
		synctest.Wait()
		_, ok := early.Next(1)
		require.True(t, ok, "told before it sleeps")

		s.with(func() { s.deaf = true })
		raw, err = p.Join(id(1), stream.Party{})
		require.NoError(t, err)
		unaware := &waiter{raw, 2, make(chan struct{}, 1)}
		s.set(id(1), 3) // by nobody who tells of it
		aware := p.join(t, id(1))
		require.Equal(t, 3, aware.version)
		unaware.arm()
		require.Equal(t, 3, unaware.told(), "what one of them has seen, all are told")
		early.Leave()
		unaware.Leave()
		aware.Leave()
		p.stop()
	})
}

func TestALostNoticeCostsASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(1), 1)
		here, there := s.run(t), s.run(t)
		s.with(func() { s.deaf = true })
		mine, theirs := here.join(t, id(1)), there.join(t, id(1))
		here.commit(id(1), 2)
		require.Equal(t, 2, mine.told())
		require.Zero(t, theirs.told())
		time.Sleep(time.Second)
		require.Equal(t, 2, theirs.told())
		looks, reads := s.asked()
		time.Sleep(time.Second)
		synctest.Wait()
		after, more := s.asked()
		require.Equal(t, looks+2, after, "each process looks once a second")
		require.Equal(t, reads, more, "and reads nothing that has not moved")
		mine.Leave()
		theirs.Leave()
		time.Sleep(10 * time.Second)
		last, _ := s.asked()
		require.Equal(t, after, last, "nobody looks for nobody")
		here.stop()
		there.stop()
	})
}

func TestWaitersOutliveTheConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(1), 1)
		var complaints atomic.Int32
		here := s.run(t)
		there := s.run(t, func(o *stream.Options[*thing]) { o.Log = func(error) { complaints.Add(1) } })
		w := there.join(t, id(1))
		s.breaks(false)
		synctest.Wait()
		require.False(t, there.Stats().Listening)
		here.commit(id(1), 2)
		require.Zero(t, w.told(), "nobody listens")
		time.Sleep(150 * time.Millisecond)
		require.True(t, there.Stats().Listening)
		require.Equal(t, 2, w.told(), "what was missed is looked for as soon as the connection is back")
		require.EqualValues(t, 1, complaints.Load())

		s.breaks(true)
		time.Sleep(time.Minute)
		require.Greater(t, complaints.Load(), int32(10))
		require.Less(t, complaints.Load(), int32(120), "attempts to connect are seldom, and so are looks")
		s.set(id(1), 3)
		s.breaks(false)
		time.Sleep(8 * time.Second)
		require.Equal(t, 3, w.told())
		s.breaks(false)
		time.Sleep(150 * time.Millisecond)
		require.True(t, there.Stats().Listening, "what was back is tried again soon")
		w.Leave()
		here.stop()
		there.stop()
	})
}

func TestAReadThatFailsIsMadeUpFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(1), 1)
		p := s.run(t)
		w := p.join(t, id(1))
		s.with(func() { s.gone = true })
		p.commit(id(1), 2)
		require.Zero(t, w.told())
		s.with(func() { s.gone = false })
		time.Sleep(time.Second)
		require.Equal(t, 2, w.told())
		w.Leave()
		p.stop()
	})
}

// TestAReadThatFailsAsOneJoinsIsMadeUpFor: of two who know different versions the one
// who knows the older is told, whichever came first.
func TestAReadThatFailsAsOneJoinsIsMadeUpFor(t *testing.T) {
	t.Parallel()
	for name, olderFirst := range map[string]bool{"after the older": true, "before the older": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStorage()
				s.set(id(1), 1)
				p := s.run(t)
				raw, err := p.Join(id(1), stream.Party{})
				require.NoError(t, err)
				older := &waiter{raw, 1, make(chan struct{}, 1)}
				if olderFirst {
					older.arm()
				}
				s.set(id(1), 2) // by nobody who tells of it
				s.with(func() { s.gone = true })
				newer := p.join(t, id(1))
				if !olderFirst {
					older.arm()
				}
				require.Zero(t, older.told())
				s.with(func() { s.gone = false })
				time.Sleep(time.Second)
				require.Equal(t, 2, older.told())
				older.Leave()
				newer.Leave()
				p.stop()
			})
		})
	}
}

func TestTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		p := s.run(t, func(o *stream.Options[*thing]) { o.Limit = 2 })
		a, b := p.join(t, id(1)), p.join(t, id(2))
		_, err := p.Join(id(1), stream.Party{})
		require.ErrorIs(t, err, stream.ErrFull)
		require.Equal(t, uint64(1), p.Stats().Refused)
		b.Leave()
		p.join(t, id(3)).Leave()
		a.Leave()
		p.stop()
		require.Zero(t, p.Stats().Waiting)
	})
}

func TestTheEndIsToldAndWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(1), 1)
		p := s.run(t)
		w, other := p.join(t, id(1)), p.join(t, id(1))
		require.False(t, w.Ended())
		ended := make(chan struct{})
		go func() {
			p.stop()
			close(ended)
		}()
		synctest.Wait()
		<-w.woken
		<-other.woken
		require.True(t, w.Ended())
		_, err := p.Join(id(1), stream.Party{})
		require.ErrorIs(t, err, stream.ErrEnded)
		other.Leave()
		synctest.Wait()
		select {
		case <-ended:
			require.Fail(t, "somebody is still there")
		default:
		}
		w.Leave()
		<-ended
	})
}
