package pool

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Probes share a write, and the next is tried when its second is over.
func TestTriesAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64
		var now tried
		for n := range int64(3) {
			failed, answered := errors.New("no"), make(chan struct{})
			outcomes := make(map[*outcome]bool)
			for range 100 {
				outcomes[now.share(func() error {
					tries.Add(1)
					<-answered
					return failed
				})] = true
			}
			require.Len(t, outcomes, 1)
			close(answered)
			synctest.Wait()
			o := now.share(func() error { return nil })
			require.True(t, outcomes[o])
			<-o.done
			require.ErrorIs(t, o.err, failed)
			require.Equal(t, n+1, tries.Load())
			<-time.After(tryEvery)
			synctest.Wait()
		}
	})
}
