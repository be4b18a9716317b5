package stream_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/stream"
)

func TestHub_change_wakes_its_waiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(1), 1)
		s.set(id(2), 1)
		here, there := s.run(t), s.run(t)
		mine, theirs, other := here.subscribe(t, id(1)), there.subscribe(t, id(1)), here.subscribe(t, id(2))
		began := time.Now()
		here.commit(id(1), 2)
		require.Equal(t, 2, mine.got())
		require.Equal(t, 2, theirs.got())
		require.Zero(t, other.got())
		require.Zero(t, time.Since(began), "at once, in every process")
		here.commit(id(1), 3)
		require.Equal(t, 3, mine.got(), "again and again")
		require.Zero(t, mine.got(), "each version once")
		time.Sleep(20 * time.Millisecond)
		require.Equal(t, 3, theirs.got(), "other processes get it a little later")
		mine.Close()
		theirs.Close()
		other.Close()
		here.commit(id(1), 4)
		synctest.Wait()
		_, reads := s.statements()
		require.Equal(t, 4, reads, "what has no waiters is not read")
		here.stop()
		there.stop()
		require.Zero(t, here.Stats().Waiters)
		require.Zero(t, here.Stats().Topics)
		require.Equal(t, uint64(2), here.Stats().Wakes)
		require.Zero(t, here.Stats().Received, "its own notices do not count")
		require.Equal(t, uint64(3), there.Stats().Received)
	})
}

func TestHub_one_read_serves_all(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(1), 1)
		p := s.run(t)
		all := make([]*waiter, 8000)
		for i := range all {
			all[i] = p.subscribe(t, id(1))
		}
		p.commit(id(1), 2)
		synctest.Wait()
		_, reads := s.statements()
		require.Equal(t, 1, reads)
		first, _ := all[0].Next(1)
		for _, w := range all {
			v, ok := w.Next(1)
			require.True(t, ok)
			require.Same(t, first, v)
			w.Close()
		}
		p.stop()
	})
}

func TestHub_changes_during_a_read_share_the_next(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		var all []*waiter
		for n := range byte(100) {
			s.set(id(n), 1)
		}
		p := s.run(t)
		for n := range byte(100) {
			all = append(all, p.subscribe(t, id(n)))
		}
		slow := make(chan struct{})
		s.with(func() { s.slow = slow })
		for n := range byte(100) {
			p.commit(id(n), 2)
			synctest.Wait()
		}
		close(slow)
		synctest.Wait()
		_, reads := s.statements()
		require.Equal(t, 2, reads, "the first, and all the others")
		for _, w := range all {
			require.Equal(t, 2, w.got())
			w.Close()
		}
		p.stop()
	})
}

// A waiter that subscribes before it reads gets the changes in between, of any process.
func TestHub_misses_nothing_before_start(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(1), 1)
		p := s.run(t)
		early := p.unstarted(t, id(1), 1)
		p.commit(id(1), 2)
		synctest.Wait()
		v, ok := early.Next(1)
		require.True(t, ok)
		require.Equal(t, 2, v.version)

		s.with(func() { s.lossy = true })
		unaware := p.unstarted(t, id(1), 2)
		s.set(id(1), 3) // and nothing reports it
		aware := p.subscribe(t, id(1))
		require.Equal(t, 3, aware.version)
		unaware.start()
		require.Equal(t, 3, unaware.got(), "what one has seen, all get")
		early.Close()
		unaware.Close()
		aware.Close()
		p.stop()
	})
}

func TestHub_lost_notice_costs_a_second(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(1), 1)
		here, there := s.run(t), s.run(t)
		s.with(func() { s.lossy = true })
		mine, theirs := here.subscribe(t, id(1)), there.subscribe(t, id(1))
		here.commit(id(1), 2)
		require.Equal(t, 2, mine.got())
		require.Zero(t, theirs.got())
		time.Sleep(time.Second)
		require.Equal(t, 2, theirs.got())
		compares, reads := s.statements()
		time.Sleep(time.Second)
		synctest.Wait()
		after, more := s.statements()
		require.Equal(t, compares+2, after, "each process compares once a second")
		require.Equal(t, reads, more, "and reads nothing that has not moved")
		mine.Close()
		theirs.Close()
		time.Sleep(10 * time.Second)
		last, _ := s.statements()
		require.Equal(t, after, last, "without waiters nothing is compared")
		here.stop()
		there.stop()
	})
}

func TestHub_reconnects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(1), 1)
		var failures atomic.Int32
		here := s.run(t)
		there := s.run(t, func(o *stream.Options[*thing]) { o.Log = func(error) { failures.Add(1) } })
		w := there.subscribe(t, id(1))
		s.breaks(false)
		synctest.Wait()
		require.False(t, there.Stats().Listening)
		here.commit(id(1), 2)
		require.Zero(t, w.got(), "the notice is lost")
		time.Sleep(150 * time.Millisecond)
		require.True(t, there.Stats().Listening)
		require.Equal(t, 2, w.got(), "a comparison follows as soon as the connection is back")
		require.EqualValues(t, 1, failures.Load())

		s.breaks(true)
		time.Sleep(time.Minute)
		require.Greater(t, failures.Load(), int32(10))
		require.Less(t, failures.Load(), int32(120), "connecting is tried seldom, and so are comparisons")
		s.set(id(1), 3)
		s.breaks(false)
		time.Sleep(8 * time.Second)
		require.Equal(t, 3, w.got())
		s.breaks(false)
		time.Sleep(150 * time.Millisecond)
		require.True(t, there.Stats().Listening, "the pause began anew")
		w.Close()
		here.stop()
		there.stop()
	})
}

func TestHub_failed_read_is_made_up_for(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(1), 1)
		p := s.run(t)
		w := p.subscribe(t, id(1))
		s.with(func() { s.gone = true })
		p.commit(id(1), 2)
		require.Zero(t, w.got())
		s.with(func() { s.gone = false })
		time.Sleep(time.Second)
		require.Equal(t, 2, w.got())
		w.Close()
		p.stop()
	})
}

// Of two waiters with different versions the one with the older is woken, whichever came first.
func TestStart_failed_read_is_made_up_for(t *testing.T) {
	t.Parallel()
	for name, olderFirst := range map[string]bool{"after the older": true, "before the older": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStorage()
				s.set(id(1), 1)
				p := s.run(t)
				older := p.unstarted(t, id(1), 1)
				if olderFirst {
					older.start()
				}
				s.set(id(1), 2) // and nothing reports it
				s.with(func() { s.gone = true })
				newer := p.subscribe(t, id(1))
				if !olderFirst {
					older.start()
				}
				require.Zero(t, older.got())
				s.with(func() { s.gone = false })
				time.Sleep(time.Second)
				require.Equal(t, 2, older.got())
				older.Close()
				newer.Close()
				p.stop()
			})
		})
	}
}

func TestSubscribe_limit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		p := s.run(t, func(o *stream.Options[*thing]) { o.Limit = 2 })
		a, b := p.subscribe(t, id(1)), p.subscribe(t, id(2))
		_, err := p.Subscribe(id(1), stream.Group{})
		require.ErrorIs(t, err, stream.ErrFull)
		require.Equal(t, uint64(1), p.Stats().Refused)
		b.Close()
		p.subscribe(t, id(3)).Close()
		a.Close()
		p.stop()
		require.Zero(t, p.Stats().Waiters)
	})
}

func TestSubscribe_slots_of_several_groups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newStorage().run(t)
		user, network := stream.Group{Name: "u1", Slots: 2}, stream.Group{Name: "net", Slots: 1}
		a, err := p.Subscribe(id(1), user, network)
		require.NoError(t, err)
		_, err = p.Subscribe(id(1), user, network)
		require.ErrorIs(t, err, stream.ErrGroupFull)
		b, err := p.Subscribe(id(1), user)
		require.NoError(t, err, "what was refused took no slot")
		require.ErrorIs(t, b.Join(network), stream.ErrGroupFull)
		a.Close()
		require.NoError(t, b.Join(network))
		b.Close()
		c, err := p.Subscribe(id(1), user, network)
		require.NoError(t, err, "a slot of a group that was joined later is given back")
		c.Close()
		p.stop()
	})
}

func TestSubscribe_slots_of_a_group(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newStorage().run(t)
		group := stream.Group{Name: "u1", Slots: 2}
		a, err := p.Subscribe(id(1), group)
		require.NoError(t, err)
		b, err := p.Subscribe(id(2), group)
		require.NoError(t, err)
		_, err = p.Subscribe(id(3), group)
		require.ErrorIs(t, err, stream.ErrGroupFull)
		p.subscribe(t, id(3)).Close()
		b.Close()
		b, err = p.Subscribe(id(3), group)
		require.NoError(t, err, "a closed one gives its slot back")
		a.Close()
		b.Close()
		p.stop()
	})
}

func TestRun_end_wakes_all_and_waits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		s.set(id(1), 1)
		p := s.run(t)
		w, other := p.subscribe(t, id(1)), p.subscribe(t, id(1))
		require.False(t, w.Ended())
		ended := make(chan struct{})
		go func() {
			p.stop()
			close(ended)
		}()
		for _, each := range []*waiter{w, other} {
			<-each.woken
			require.True(t, each.Ended())
		}
		_, err := p.Subscribe(id(1), stream.Group{})
		require.ErrorIs(t, err, stream.ErrEnded)
		other.Close()
		synctest.Wait()
		select {
		case <-ended:
			require.Fail(t, "a subscription is still open")
		default:
		}
		w.Close()
		<-ended
	})
}
