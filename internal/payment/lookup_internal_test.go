package payment

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAttemptsThatAreReadTogetherShareARead: what one of them is told is not what
// another one is.
func TestAttemptsThatAreReadTogetherShareARead(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, tc := range []struct {
		fails error
		known error
		other error
	}{{nil, nil, ErrAttemptNotFound}, {broken, broken, broken}} {
		synctest.Test(t, func(t *testing.T) {
			held := make(chan struct{})
			var reads [][]int
			g := share(lookAll(func(_ context.Context, by []int) (map[int]Attempt, error) {
				reads = append(reads, by)
				<-held
				return map[int]Attempt{1: {Version: 10}, 2: {Version: 20}}, tc.fails
			}))
			var all sync.WaitGroup
			read := func(by int, want error) {
				all.Go(func() {
					a, err := look(t.Context(), g, by)
					require.ErrorIs(t, err, want)
					if err == nil {
						require.Equal(t, 10*by, a.Version)
					}
				})
				synctest.Wait()
			}
			for _, by := range []int{1, 1, 2, 1} {
				read(by, tc.known)
			}
			read(3, tc.other)
			close(held)
			all.Wait()
			require.Equal(t, [][]int{{1}, {1, 2, 1, 3}}, reads)
		})
	}
}

// TestAReadThatHangsIsItsOwnLoss: its connection has died in silence, and those of
// others need not have. Who shares it is answered in time.
func TestAReadThatHangsIsItsOwnLoss(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const dead = 10
		var reads int
		g := share(lookAll(func(ctx context.Context, by []int) (map[int]Attempt, error) {
			if reads++; reads <= dead {
				<-ctx.Done()
				return nil, ErrUnavailable
			}
			there := map[int]Attempt{}
			for _, n := range by {
				there[n] = Attempt{Version: n}
			}
			return there, nil
		}))
		var all sync.WaitGroup
		begun := time.Now()
		for n := range 100 {
			all.Go(func() {
				called := time.Now()
				a, err := look(t.Context(), g, n)
				if err != nil {
					require.ErrorIs(t, err, ErrUnavailable)
					require.LessOrEqual(t, time.Since(called), lookPatience+stall, n)
					require.Less(t, called.Sub(begun), dead*stall, "no connection is dead any more")
					return
				}
				require.Equal(t, n, a.Version)
				require.LessOrEqual(t, time.Since(called), stall, n)
			})
			synctest.Wait()
			time.Sleep(stall / 5)
		}
		all.Wait()
	})
}
