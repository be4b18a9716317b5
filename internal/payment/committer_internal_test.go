package payment

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
)

// disk commits batches in their order when it is told to: first one is sent, then it
// is on disk.
type disk struct {
	batches    chan int
	send, sync chan struct{}
	err        error
}

func (d *disk) takeIn(_ context.Context, batch []*arrival, _ bool, meanwhile func()) error {
	d.batches <- len(batch)
	<-d.send
	if meanwhile != nil {
		meanwhile()
	}
	<-d.sync
	for _, a := range batch {
		a.verdict = fsm.Applied
	}
	return d.err
}

// committing runs a committer on a disk, and ends it with the test.
func committing(t *testing.T, d *disk) *committer {
	t.Helper()
	d.batches, d.send, d.sync = make(chan int, 1), make(chan struct{}), make(chan struct{})
	c := newCommitter(d.takeIn)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _ = c.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-c.stopped
	})
	return c
}

func (c *committer) arrive(t *testing.T, n int) []*arrival {
	t.Helper()
	list := make([]*arrival, n)
	for i := range list {
		list[i] = &arrival{done: make(chan struct{})}
	}
	require.NoError(t, c.submit(list))
	synctest.Wait()
	return list
}

func answered(list []*arrival) (n int) {
	synctest.Wait()
	for _, a := range list {
		select {
		case <-a.done:
			n++
		default:
		}
	}
	return n
}

// commitOne commits a first arrival; n others are the next batch by then.
func (d *disk) commitOne(t *testing.T, c *committer, n int) (first, next []*arrival) {
	t.Helper()
	first = c.arrive(t, 1)
	require.Equal(t, 1, <-d.batches)
	next = c.arrive(t, n)
	d.send <- struct{}{}
	require.Zero(t, answered(first), "it is not on disk")
	d.sync <- struct{}{}
	require.Equal(t, n, <-d.batches)
	return first, next
}

func TestAnAnswerIsGivenWhileTheNextBatchIsOnItsWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		first, next := d.commitOne(t, committing(t, d), 3)
		require.Zero(t, answered(first), "the next one is read and decided before")
		d.send <- struct{}{}
		require.Equal(t, 1, answered(first))
		require.Zero(t, answered(next))
		d.sync <- struct{}{}
		require.Equal(t, 3, answered(next), "nobody comes after it")
		require.Equal(t, fsm.Applied, next[2].verdict)
	})
}

func TestAStorageThatStandsStillHoldsNoAnswerBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		first, next := d.commitOne(t, committing(t, d), 1)
		time.Sleep(answerWithin - time.Nanosecond)
		require.Zero(t, answered(first))
		time.Sleep(time.Nanosecond)
		require.Equal(t, 1, answered(first))
		d.send <- struct{}{}
		d.sync <- struct{}{}
		require.Equal(t, 1, answered(next))
	})
}

func TestABatchIsSentWhileAnotherIsOnItsWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		c := committing(t, d)
		first := c.arrive(t, 1)
		require.Equal(t, 1, <-d.batches)
		d.send <- struct{}{}
		second := c.arrive(t, 1)
		require.Equal(t, 1, <-d.batches, "it is half of the crowd")
		d.sync <- struct{}{}
		require.Zero(t, answered(first), "the second is being read")
		d.send <- struct{}{}
		require.Equal(t, 1, answered(first))
		d.sync <- struct{}{}
		require.Equal(t, 1, answered(second))
	})
}

func TestAStopAnswersWhatIsOnDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{batches: make(chan int, 1), send: make(chan struct{}), sync: make(chan struct{})}
		c := newCommitter(d.takeIn)
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = c.run(ctx) }()
		list := c.arrive(t, 1)
		stop()
		d.send <- struct{}{}
		d.sync <- struct{}{}
		<-c.stopped
		require.Equal(t, 1, answered(list))
		require.ErrorIs(t, c.submit(list), ErrUnavailable)
	})
}

func TestABatchThatFailsIsAnsweredToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{err: ErrUnavailable}
		c := committing(t, d)
		list := c.arrive(t, 1)
		require.Equal(t, 1, <-d.batches)
		d.send <- struct{}{}
		d.sync <- struct{}{}
		require.Equal(t, 1, answered(list))
		require.ErrorIs(t, list[0].err, ErrUnavailable)
	})
}
