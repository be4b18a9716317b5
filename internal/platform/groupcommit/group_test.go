package groupcommit_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/groupcommit"
)

const (
	linger = 3 * time.Millisecond
	stall  = 250 * time.Millisecond
)

var errRejected = errors.New("rejected")

// disk is the flush of a group of numbers: the test ends each one.
type disk struct {
	*groupcommit.Group[int]

	mu      sync.Mutex
	flushes []*flush
	calls   sync.WaitGroup
	// results are the results of the calls that returned, by their first item.
	results map[int]error
}

type flush struct {
	*groupcommit.Batch[int]

	ctx context.Context
	end chan func() error
}

func newDisk(change func(o *groupcommit.Options[int])) *disk {
	d := &disk{results: map[int]error{}}
	o := groupcommit.Options[int]{Flush: d.flush}
	if change != nil {
		change(&o)
	}
	d.Group = groupcommit.New(o)
	return d
}

func (d *disk) flush(ctx context.Context, b *groupcommit.Batch[int]) error {
	f := &flush{b, ctx, make(chan func() error)}
	d.mu.Lock()
	d.flushes = append(d.flushes, f)
	d.mu.Unlock()
	return (<-f.end)()
}

// do makes a call and returns when all wait.
func (d *disk) do(ctx context.Context, items ...int) {
	d.calls.Go(func() {
		err := d.Do(ctx, items...)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.results[items[0]] = err
	})
	synctest.Wait()
}

func (d *disk) sent(n int) {
	d.flushes[n].Sent()
	synctest.Wait()
}

func (d *disk) end(n int, err error) { d.endBy(n, func() error { return err }) }

func (d *disk) endBy(n int, how func() error) {
	d.flushes[n].end <- how
	synctest.Wait()
}

// batches are the batches flushed so far.
func (d *disk) batches() [][]int {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([][]int, len(d.flushes))
	for i, f := range d.flushes {
		all[i] = f.Items
	}
	return all
}

func (d *disk) returned() int {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.results)
}

func numbers(from, to int) (all []int) {
	for n := from; n < to; n++ {
		all = append(all, n)
	}
	return all
}

func TestDo(t *testing.T) {
	t.Parallel()

	t.Run("a lone item waits for nothing", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDisk(func(o *groupcommit.Options[int]) { o.Linger = time.Hour })
			for n := range 3 {
				d.do(t.Context(), n)
				require.Len(t, d.batches(), n+1)
				d.end(n, nil)
				require.Equal(t, n+1, d.returned())
			}
			require.NoError(t, d.Do(t.Context()), "nothing")
		})
	})

	t.Run("items coalesce while a flush is under way", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDisk(func(o *groupcommit.Options[int]) { o.Batch.Items = 4 })
			for n := range 7 {
				d.do(t.Context(), n)
			}
			for i, returned := range []int{1, 5, 7} {
				d.end(i, nil)
				require.Equal(t, returned, d.returned())
			}
			require.Equal(t, [][]int{{0}, {1, 2, 3, 4}, {5, 6}}, d.batches())
		})
	})

	t.Run("a batch has a bound of bytes", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDisk(func(o *groupcommit.Options[int]) {
				o.Batch.Bytes, o.Size = 10, func(n int) int { return n }
			})
			d.do(t.Context(), 1)
			d.do(t.Context(), 5, 5, 1, 11, 2)
			for i := range 4 {
				d.end(i, nil)
			}
			d.end(4, nil)
			require.Equal(t, [][]int{{1}, {5, 5}, {1}, {11}, {2}}, d.batches())
		})
	})

	t.Run("a call returns with its last item and its first error", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDisk(func(o *groupcommit.Options[int]) { o.Batch.Items = 2 })
			d.do(t.Context(), 0, 1, 2, 3, 4)
			d.end(0, nil)
			d.end(1, errRejected)
			require.Zero(t, d.returned())
			d.end(2, errors.New("later"))
			require.ErrorIs(t, d.results[0], errRejected)
		})
	})

	t.Run("a caller that leaves withdraws what waits", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			type name struct{}
			cause := errors.New("gone")
			d := newDisk(nil)
			gone, leave := context.WithCancelCause(context.WithValue(t.Context(), name{}, "first"))
			d.do(gone, 0, 1)
			d.do(gone, 2)
			d.do(t.Context(), 3)
			leave(cause)
			require.Equal(t, 2, d.returned())
			require.ErrorIs(t, d.results[0], cause)
			require.NoError(t, d.flushes[0].ctx.Err(), "the flush goes on")
			require.Equal(t, "first", d.flushes[0].ctx.Value(name{}))
			d.end(0, nil)
			d.end(1, nil)
			require.Equal(t, [][]int{{0, 1}, {3}}, d.batches())
			d.Close()
		})
	})
}

func TestDo_queue_is_bounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(func(o *groupcommit.Options[int]) {
			o.Queue, o.Size = groupcommit.Limits{Items: 3, Bytes: 100}, func(n int) int { return n }
		})
		d.do(t.Context(), 1000) // an item of any size, alone
		d.do(t.Context(), 1, 2)
		require.ErrorIs(t, d.Do(t.Context(), 3, 4), groupcommit.ErrFull, "all or none")
		require.ErrorIs(t, d.Do(t.Context(), 98), groupcommit.ErrFull, "too many bytes")
		d.do(t.Context(), 97)
		require.ErrorIs(t, d.Do(t.Context(), 0), groupcommit.ErrFull)
		d.end(0, nil)
		d.do(t.Context(), 4)
		d.end(1, nil)
		d.end(2, nil)
		require.Equal(t, [][]int{{1000}, {1, 2, 97}, {4}}, d.batches())
	})
}

func TestFlush(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		waiting, most int
		after         time.Duration
	}{
		"half of the peak concurrency does not linger": {10, 0, 0},
		"less of it lingers":                           {9, 0, linger},
		"a full batch does not linger":                 {4, 4, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDisk(func(o *groupcommit.Options[int]) { o.Linger, o.Batch.Items = linger, c.most })
				d.do(t.Context(), numbers(0, 20)...)
				for len(d.batches())*c.most%20 != 0 {
					d.end(len(d.batches())-1, nil)
				}
				first := d.batches()
				d.sent(len(first) - 1)
				d.do(t.Context(), numbers(20, 20+c.waiting-1)...)
				require.Len(t, d.batches(), len(first))
				d.do(t.Context(), 19+c.waiting)
				if c.after > 0 {
					time.Sleep(c.after - time.Nanosecond)
					require.Len(t, d.batches(), len(first))
					time.Sleep(time.Nanosecond)
				}
				require.Equal(t, append(first, numbers(20, 20+c.waiting)), d.batches())
				d.end(len(first)-1, nil)
				d.end(len(first), nil)
				d.Close()
			})
		})
	}

	t.Run("one is read at a time, and so many are under way", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDisk(func(o *groupcommit.Options[int]) { o.Flushes = 2 })
			for n := range 3 {
				d.do(t.Context(), n)
			}
			require.Len(t, d.batches(), 1, "it is being read")
			d.sent(0)
			require.Equal(t, [][]int{{0}, {1, 2}}, d.batches())
			d.do(t.Context(), 3)
			d.sent(1)
			require.Len(t, d.batches(), 2)
			d.end(1, nil)
			require.Equal(t, []int{3}, d.batches()[2], "a slow one stops no other")
			d.end(0, nil)
			d.end(2, nil)
		})
	})

	t.Run("one that stalls is not waited for", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDisk(func(o *groupcommit.Options[int]) { o.Stall = stall })
			for n := range 3 {
				d.do(t.Context(), n)
			}
			time.Sleep(stall - time.Nanosecond)
			require.Len(t, d.batches(), 1)
			time.Sleep(time.Nanosecond)
			require.Equal(t, [][]int{{0}, {1, 2}}, d.batches())
			d.do(t.Context(), 3)
			d.end(0, nil)
			require.Len(t, d.batches(), 2, "3 waits for the second, whenever the first ends")
			d.end(1, nil)
			d.end(2, nil)
			require.Equal(t, 4, d.returned())
		})
	})

	t.Run("one that panics is an error", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDisk(nil)
			for n := range 3 {
				d.do(t.Context(), n)
			}
			d.end(0, nil)
			d.endBy(1, func() error { panic("thrown") })
			for _, n := range []int{1, 2} {
				thrown := (*groupcommit.PanicError)(nil)
				require.ErrorAs(t, d.results[n], &thrown)
				require.Equal(t, "thrown", thrown.Value)
				require.Contains(t, thrown.Error(), "group_test.go")
			}
			d.do(t.Context(), 3)
			d.end(2, nil)
			require.NoError(t, d.results[3])
		})
	})
}

// digits are an item's conflict keys.
func digits(n int) (keys []uint64) {
	for ; n > 0; n /= 10 {
		keys = append(keys, uint64(n%10))
	}
	return keys
}

func TestKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(func(o *groupcommit.Options[int]) { o.Keys = digits })
		d.do(t.Context(), 1)
		d.sent(0)
		d.do(t.Context(), 12, 21, 2, 3)
		require.Equal(t, [][]int{{1}, {3}}, d.batches(), "2 comes after 12")
		d.end(1, nil)
		require.Len(t, d.batches(), 2)
		d.end(0, nil)
		require.Equal(t, []int{12, 21, 2}, d.batches()[2], "one batch may have them all")
		d.end(2, nil)
	})
}
