package payment

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

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
			var g gatherer[*lookup[int]]
			g.apply = lookAll(func(_ context.Context, by []int) (map[int]Attempt, error) {
				reads = append(reads, by)
				<-held
				return map[int]Attempt{1: {Version: 10}, 2: {Version: 20}}, tc.fails
			})
			var all sync.WaitGroup
			read := func(by int, want error) {
				all.Go(func() {
					a, err := look(t.Context(), &g, by)
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
