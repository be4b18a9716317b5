package groupcommit_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/groupcommit"
)

const rest = 5 * time.Millisecond

func TestRequeue(t *testing.T) {
	t.Parallel()
	const most = 2
	for name, quarantine := range map[string]func(context.Context, int, error) error{
		"without a quarantine": nil,
		"with one":             func(context.Context, int, error) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDisk(func(o *groupcommit.Options[int]) {
					o.Keys, o.Requeues, o.RequeueAfter, o.Quarantine = digits, most, rest, quarantine
				})
				d.do(t.Context(), 1)
				d.do(t.Context(), 21, 3)
				d.do(t.Context(), 2)
				d.end(0, nil)
				requeue := func(i int) {
					d.endBy(i, func() error {
						d.flushes[i].Requeue(0)
						return nil
					})
				}
				requeue(1)
				require.Equal(t, 2, d.returned(), "1 and 2")
				d.do(t.Context(), 2)
				d.do(t.Context(), 4)
				require.Equal(t, []int{4}, d.batches()[2], "what comes later waits behind it, others do not")
				d.end(2, nil)
				time.Sleep(rest - time.Nanosecond)
				require.Len(t, d.batches(), 3)
				time.Sleep(time.Nanosecond)
				require.Equal(t, []int{21, 2}, d.batches()[3])
				requeue(3)
				time.Sleep(rest)
				require.Equal(t, []int{21}, d.batches()[4])
				requeue(4)
				require.Len(t, d.results, 4)
				if quarantine == nil {
					require.ErrorIs(t, d.results[21], groupcommit.ErrLocked)
				} else {
					require.NoError(t, d.results[21])
				}
				d.Close()
			})
		})
	}
}

// poisoned rejects a batch that contains a negative number. Numbers below -10 break the quarantine as well.
func poisoned(flushed *[][]int) groupcommit.Options[int] {
	return groupcommit.Options[int]{
		Flush: func(_ context.Context, b *groupcommit.Batch[int]) error {
			*flushed = append(*flushed, b.Items)
			switch least := slices.Min(b.Items); {
			case least == -1:
				panic("poison")
			case least < 0:
				return errRejected
			case len(b.Items) == 1 && b.Items[0] == 7:
				b.Requeue(0)
			}
			return nil
		},
		Rejected: func(err error) bool { return !errors.Is(err, errGone) },
		Quarantine: func(_ context.Context, n int, cause error) error {
			if n < -10 {
				panic(cause)
			}
			*flushed = append(*flushed, []int{n, n})
			return nil
		},
	}
}

var errGone = errors.New("the storage is gone")

func TestQuarantine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var flushed [][]int
		g := groupcommit.New(poisoned(&flushed))
		require.NoError(t, g.Do(t.Context(), 1, -1, 7, -2, 3))
		require.Equal(t, [][]int{{1, -1, 7, -2, 3}, {1}, {-1}, {-1, -1}, {7}, {7, 7}, {-2}, {-2, -2}, {3}}, flushed)
		thrown := (*groupcommit.PanicError)(nil)
		require.ErrorAs(t, g.Do(t.Context(), -11), &thrown)
		require.Equal(t, errRejected, thrown.Value)
		require.NoError(t, g.Do(t.Context(), 1), "the group goes on")

		o := poisoned(&flushed)
		o.Flush = func(_ context.Context, b *groupcommit.Batch[int]) error {
			flushed = append(flushed, b.Items)
			return errGone
		}
		flushed = nil
		require.ErrorIs(t, groupcommit.New(o).Do(t.Context(), 1, 2), errGone)
		require.Equal(t, [][]int{{1, 2}}, flushed, "nothing is retried that is not rejected")
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(func(o *groupcommit.Options[int]) { o.Requeues, o.RequeueAfter = 1, rest })
		d.do(t.Context(), 0)
		d.do(t.Context(), 1)
		closed := make(chan struct{})
		go func() {
			d.Close()
			close(closed)
		}()
		synctest.Wait()
		require.ErrorIs(t, d.Do(t.Context(), 2), groupcommit.ErrClosed)
		d.endBy(0, func() error {
			d.flushes[0].Requeue(0)
			return nil
		})
		d.end(1, nil)
		select {
		case <-closed:
			t.Error("closed while an item rests")
		default:
		}
		time.Sleep(rest)
		synctest.Wait()
		d.end(2, nil)
		<-closed
		require.Equal(t, map[int]error{0: nil, 1: nil}, d.results)
	})
}
