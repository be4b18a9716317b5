package groupcommit_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/groupcommit"
)

// TestFlushed: the sizes of all flushes are the items.
func TestFlushed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var sizes []int
		hold := make(chan struct{})
		g := groupcommit.Shared(func(context.Context, []int) error {
			<-hold
			return nil
		}, func(items int) {
			mu.Lock()
			defer mu.Unlock()
			sizes = append(sizes, items)
		})
		var all sync.WaitGroup
		all.Go(func() { require.NoError(t, g.Do(t.Context(), 1)) })
		synctest.Wait()
		for range 5 {
			all.Go(func() { require.NoError(t, g.Do(t.Context(), 2)) })
		}
		synctest.Wait()
		close(hold)
		all.Wait()
		require.Equal(t, []int{1, 5}, sizes)
	})
}
