package payment

import (
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// crowd makes arrivals of different events about different payments.
func crowd(n int) []*arrival {
	list := make([]*arrival, n)
	for i := range list {
		list[i] = arrives("evt_"+strconv.Itoa(i), "pay_"+strconv.Itoa(i))
	}
	return list
}

func arrives(id string, names ...string) *arrival {
	return newArrival(Received{Account: "acme", Event: webhooks.Event{ID: id, References: names}})
}

// taken is a batch that take returned in the background.
type taken chan []*arrival

func (q *queue) taking() taken {
	batches := make(taken, 1)
	go func() {
		if batch, ok := q.take(func() {}); ok {
			batches <- batch
		}
		close(batches)
	}()
	return batches
}

// yet returns what was taken so far, nil for nothing.
func (t taken) yet() []*arrival {
	synctest.Wait()
	select {
	case batch := <-t:
		return batch
	default:
		return nil
	}
}

// sendOne returns a queue of which a first batch of n is on its way.
func sendOne(t *testing.T, n int) (*queue, []*arrival) {
	t.Helper()
	q := newQueue()
	first := crowd(n)
	require.True(t, q.put(first))
	require.Equal(t, first, q.taking().yet())
	q.sent()
	t.Cleanup(q.close)
	return q, first
}

func TestABatchIsTakenBesideAnother(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lately  float64
		waiting int
		after   time.Duration
	}{
		"half of the crowd waits for nobody":   {20, 10, 0},
		"less of it waits for a slow disk":     {20, 9, patience},
		"a full batch waits for no half crowd": {1000, batchLength, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q, _ := sendOne(t, 20)
				q.crowd = c.lately
				next := q.taking()
				second := crowd(20 + c.waiting)[20:]
				require.True(t, q.put(second[:c.waiting-1]))
				require.Nil(t, next.yet())
				require.True(t, q.put(second[c.waiting-1:]))
				if c.after > 0 {
					time.Sleep(c.after - time.Nanosecond)
					require.Nil(t, next.yet())
					time.Sleep(time.Nanosecond)
				}
				require.Equal(t, second, next.yet())
			})
		})
	}
}

func TestOneBatchIsReadAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, first := sendOne(t, 2)
		require.True(t, q.put(crowd(4)[2:]))
		second := q.taking().yet()
		require.Len(t, second, 2)
		require.True(t, q.put(crowd(8)[4:]))
		third := q.taking()
		time.Sleep(2 * patience)
		require.Nil(t, third.yet(), "the second is being read")
		q.done(first, nil)
		require.Nil(t, third.yet(), "it still is")
		q.sent()
		require.Len(t, third.yet(), 4)
	})
}

func TestWhatIsUnderWayIsInNoOtherBatch(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]*arrival{
		"the event":              arrives("evt_0", "pay_new"),
		"another of its payment": arrives("evt_new", "pay_other", "pay_0"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q, first := sendOne(t, 1)
				other := crowd(2)[1:]
				require.True(t, q.put(append([]*arrival{again}, other...)))
				require.Equal(t, other, q.taking().yet())
				q.sent()
				held := q.taking()
				time.Sleep(2 * patience)
				require.Nil(t, held.yet(), "it waits for the first batch")
				q.done(first, nil)
				q.taking()
				time.Sleep(patience)
				require.Equal(t, []*arrival{again}, held.yet())
			})
		})
	}
}

// TestWhatWasLockedComesFirst: it has waited the longest.
func TestWhatWasLockedComesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, first := sendOne(t, 3)
		next := crowd(4)[3:]
		require.True(t, q.put(next))
		of := arrives("evt_new", "pay_1")
		require.True(t, q.put([]*arrival{of}))
		q.done(first, first[1:2])
		require.Equal(t, append(append(first[1:2:2], of), next...), q.taking().yet())
	})
}

// Large events of one sender do not make a batch so long that the storage gives up
// on it, and with it on the small ones of others.
func TestABatchHasSoManyBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, first := sendOne(t, 1)
		rest := crowd(41)[1:]
		large := make([]byte, batchBytes/4)
		for _, a := range rest[:9] {
			a.Body = large
		}
		require.True(t, q.put(rest))
		for _, n := range []int{4, 4, 32} {
			q.done(first, nil)
			first = q.taking().yet()
			require.True(t, slices.Equal(rest[:n], first), "%d events, not %d", len(first), n)
			rest = rest[n:]
			q.sent()
		}
		q.done(first, nil)

		alone := arrives("evt_large")
		alone.Body = make([]byte, batchBytes+1)
		require.True(t, q.put([]*arrival{alone}))
		require.True(t, slices.Equal([]*arrival{alone}, q.taking().yet()), "whatever its size")
	})
}

func TestAFullQueueTakesAllOrNothing(t *testing.T) {
	t.Parallel()
	q := newQueue()
	require.True(t, q.put(crowd(queueLength-1)))
	require.False(t, q.put(crowd(2)))
	require.True(t, q.put(crowd(1)))
	require.False(t, q.put(crowd(1)))

	q = newQueue()
	require.True(t, q.put(crowd(1)))
	q.begin(q.waiting)
	q.waiting = nil
	require.True(t, q.put(crowd(1)), "behind the one that is under way")
	require.Len(t, q.blocked, 1)
	require.False(t, q.put(crowd(queueLength)))
	require.True(t, q.put(crowd(queueLength-1)))
}

func TestTheQueueEndsWhenNothingIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, first := sendOne(t, 1)
		held := []*arrival{arrives("evt_0")}
		require.True(t, q.put(held))
		q.close()
		last := q.taking()
		require.Nil(t, last.yet(), "one is held")
		q.done(first, nil)
		require.Equal(t, held, last.yet())
		q.sent()
		q.done(held, nil)
		_, ok := q.take(func() {})
		require.False(t, ok)
	})
}
