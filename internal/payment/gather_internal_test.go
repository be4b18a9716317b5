package payment

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// gathering is a gatherer of numbers whose applies the test holds up.
type gathering struct {
	gatherer[int]

	batches [][]int
	leaders []context.Context
	// let says how an apply that is under way ends: true with a panic.
	let chan bool
	all sync.WaitGroup
	// returned and panicked count the calls that came back, given those that gave up.
	returned, panicked, given atomic.Int32
}

func newGathering() *gathering {
	g := &gathering{let: make(chan bool)}
	g.apply = func(ctx context.Context, calls []int) {
		g.mu.Lock()
		g.batches, g.leaders = append(g.batches, calls), append(g.leaders, ctx)
		g.mu.Unlock()
		if <-g.let {
			panic("apply")
		}
	}
	return g
}

// call makes a call and returns when it waits, for others or in its own apply.
func (g *gathering) call(ctx context.Context, number int) {
	g.all.Go(func() {
		defer func() {
			g.returned.Add(1)
			if recover() != nil {
				g.panicked.Add(1)
			}
		}()
		if !g.do(ctx, number) {
			g.given.Add(1)
		}
	})
	synctest.Wait()
}

// begun are the batches so far, where time alone may begin the next one.
func (g *gathering) begun() [][]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.batches)
}

// end lets the apply that is under way end, and returns when what follows waits.
func (g *gathering) end(panics bool) {
	g.let <- panics
	synctest.Wait()
}

func numbers(from, to int) (all []int) {
	for n := from; n <= to; n++ {
		all = append(all, n)
	}
	return all
}

func TestALoneCallIsAppliedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGathering()
		for n := 1; n <= 3; n++ {
			g.call(t.Context(), n)
			require.Len(t, g.batches, n, "nothing is waited for")
			require.Equal(t, []int{n}, g.batches[n-1])
			g.end(false)
			require.EqualValues(t, n, g.returned.Load())
		}
	})
}

func TestCallsThatComeMeanwhileShareTheNextApply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGathering()
		for _, n := range numbers(0, 4) {
			g.call(t.Context(), n)
		}
		require.Equal(t, [][]int{{0}}, g.batches)
		g.end(false)
		require.EqualValues(t, 1, g.returned.Load(), "a call returns when it has been applied")
		g.call(t.Context(), 5)
		require.Equal(t, [][]int{{0}, {1, 2, 3, 4}}, g.batches)
		g.end(false)
		g.end(false)
		require.Equal(t, [][]int{{0}, {1, 2, 3, 4}, {5}}, g.batches, "first come first")
		require.EqualValues(t, 6, g.returned.Load())
	})
}

func TestABatchHasABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGathering()
		const rest = 5
		for _, n := range numbers(0, 2*gathered+rest) {
			g.call(t.Context(), n)
		}
		for _, returned := range []int{1, 1 + gathered, 1 + 2*gathered, 1 + 2*gathered + rest} {
			g.end(false)
			require.EqualValues(t, returned, g.returned.Load())
		}
		require.Equal(t, [][]int{
			{0}, numbers(1, gathered), numbers(gathered+1, 2*gathered), numbers(2*gathered+1, 2*gathered+rest),
		}, g.batches)
	})
}

func TestEachOfManyCallsIsAppliedOnce(t *testing.T) {
	t.Parallel()
	const callers, calls = 500, 20
	var applied [callers * calls]atomic.Int32
	var under, largest atomic.Int32
	g := gatherer[int]{apply: func(_ context.Context, batch []int) {
		if under.Add(1) > 1 {
			t.Error("two applies at once")
		}
		for _, n := range batch {
			applied[n].Add(1)
		}
		largest.Store(max(largest.Load(), int32(len(batch))))
		under.Add(-1)
	}}
	barrier := make(chan struct{})
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			<-barrier
			for n := caller * calls; n < (caller+1)*calls; n++ {
				g.do(t.Context(), n)
				if applied[n].Load() != 1 {
					t.Errorf("call %d came back after it had been applied %d times", n, applied[n].Load())
				}
			}
		})
	}
	close(barrier)
	all.Wait()
	for n := range applied {
		require.EqualValues(t, 1, applied[n].Load(), n)
	}
	require.LessOrEqual(t, largest.Load(), int32(gathered))
	require.False(t, g.busy)
	require.Empty(t, g.waiting)
}

func TestACallerThatGoesAwayStopsNobodysWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type name struct{}
		g := newGathering()
		gone, cancel := context.WithCancel(context.WithValue(t.Context(), name{}, "leader"))
		g.call(t.Context(), 0)
		g.call(gone, 1)
		g.call(t.Context(), 2)
		cancel()
		g.end(false)
		require.Equal(t, [][]int{{0}, {1, 2}}, g.batches)
		require.NoError(t, g.leaders[1].Err())
		require.Equal(t, "leader", g.leaders[1].Value(name{}), "what the log needs to know of the leader is kept")
		g.end(false)
		g.call(gone, 3)
		require.NoError(t, g.leaders[2].Err(), "a lone call is applied all the same")
		g.end(false)
		require.EqualValues(t, 4, g.returned.Load())
	})
}

func TestACallThatIsNotAppliedInTimeGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const half = slow / 3
		g := newGathering()
		g.patience = 2 * half
		g.call(t.Context(), 0)
		g.call(t.Context(), 1)
		time.Sleep(half)
		g.call(t.Context(), 2)
		g.call(t.Context(), 3)
		time.Sleep(half)
		synctest.Wait()
		require.EqualValues(t, 1, g.returned.Load(), "what is under way is not given up, nor what came later")
		g.end(false)
		require.Equal(t, [][]int{{0}, {2, 3}}, g.batches, "what was given up is never applied")
		time.Sleep(half)
		synctest.Wait()
		require.EqualValues(t, 3, g.returned.Load(), "what was taken along is given up, too; not by who leads")
		g.end(false)
		require.EqualValues(t, 4, g.returned.Load())
		require.EqualValues(t, 2, g.given.Load())
		require.False(t, g.busy)
	})
}

// What hangs holds up those that came meanwhile for a moment, and nobody else; when it
// ends at last, those who are waited for by then are not overtaken.
func TestWhatIsSlowIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGathering()
		g.call(t.Context(), 0)
		g.call(t.Context(), 1)
		g.call(t.Context(), 2)
		time.Sleep(slow - time.Nanosecond)
		synctest.Wait()
		require.Equal(t, [][]int{{0}}, g.begun())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, [][]int{{0}, {1, 2}}, g.begun(), "it is not waited for any longer")
		time.Sleep(slow)
		g.call(t.Context(), 3)
		require.Equal(t, [][]int{{0}, {1, 2}, {3}}, g.begun())
		g.call(t.Context(), 4)
		g.end(false)
		g.end(false)
		require.EqualValues(t, 3, g.returned.Load())
		require.Len(t, g.begun(), 3, "4 waits for 3")
		g.end(false)
		g.end(false)
		require.Equal(t, [][]int{{0}, {1, 2}, {3}, {4}}, g.begun())
		require.EqualValues(t, 5, g.returned.Load())
		require.False(t, g.busy)
	})
}

// TestEachCallIsAppliedOnceOrGivesUp: the last moment is when many of them give up,
// are taken along and are left to lead at once.
func TestEachCallIsAppliedOnceOrGivesUp(t *testing.T) {
	t.Parallel()
	const calls = 5_000
	var applied [calls]atomic.Int32
	g := gatherer[int]{patience: time.Millisecond, apply: func(_ context.Context, batch []int) {
		time.Sleep(time.Millisecond)
		for _, n := range batch {
			applied[n].Add(1)
		}
	}}
	var all sync.WaitGroup
	for n := range calls {
		all.Go(func() { g.do(t.Context(), n) })
		if n%8 == 0 {
			time.Sleep(50 * time.Microsecond)
		}
	}
	all.Wait()
	var sum int32
	for n := range applied {
		require.LessOrEqual(t, applied[n].Load(), int32(1), n)
		sum += applied[n].Load()
	}
	require.Positive(t, sum)
	require.Less(t, sum, int32(calls), "none gave up")
	require.False(t, g.busy)
	require.Empty(t, g.waiting)
}

// The others are released as if they had been applied: a call must say of itself
// that it was.
func TestAPanicLeavesNobodyWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGathering()
		for _, n := range numbers(0, gathered+2) {
			g.call(t.Context(), n)
		}
		g.end(false)
		g.end(true)
		require.EqualValues(t, 1+gathered, g.returned.Load(), "the whole batch is released")
		require.EqualValues(t, 1, g.panicked.Load(), "the panic is its leader's")
		require.Equal(t, numbers(gathered+1, gathered+2), g.batches[2], "who came later goes on")
		g.end(true)
		require.EqualValues(t, 2, g.panicked.Load())
		g.call(t.Context(), 100)
		g.end(false)
		require.Equal(t, []int{100}, g.batches[3], "the next call finds nobody at work")
		require.EqualValues(t, 1+gathered+2+1, g.returned.Load())
		require.EqualValues(t, 2, g.panicked.Load())
	})
}
