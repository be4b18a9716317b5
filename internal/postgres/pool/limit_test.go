package pool_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// TestABusyServerIsReached: a server needs longer to take a connection than the first limit allows. It is reached in the end, by the
// pool and by a connection of its own.
func TestABusyServerIsReached(t *testing.T) {
	t.Parallel()
	server, through := faults.NewDatabase(t, testdb.New(t))
	server.Late(1200 * time.Millisecond)
	p := usual(t, through)
	require.Error(t, p.Ping(t.Context()), "the first limit is too long for this test")
	for name, connects := range map[string]func() error{
		"the pool": func() error { return p.Ping(t.Context()) },
		"a connection of its own": func() error {
			c, err := p.Connect(t.Context(), "alone")
			if err == nil {
				err = c.Close(t.Context())
			}
			return err
		},
	} {
		require.Eventually(t, func() bool {
			var some sync.WaitGroup
			var reached atomic.Bool
			for range 10 {
				some.Go(func() {
					if connects() == nil {
						reached.Store(true)
					}
				})
			}
			some.Wait()
			return reached.Load()
		}, 5*time.Minute, time.Millisecond, name)
	}
}
