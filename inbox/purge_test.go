package inbox_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/inbox"
)

func TestPurge(t *testing.T) {
	t.Parallel()
	pool := open(t)
	_, err := pool.Exec(t.Context(), `INSERT INTO processed_messages
		SELECT 'stock', 'm-' || n, now() - interval '2 hours' FROM generate_series(1, 2500) n`)
	require.NoError(t, err)
	_, err = once(t.Context(), pool, "stock", "young")
	require.NoError(t, err)

	_, err = inbox.Purge(t.Context(), pool, 0)
	require.ErrorIs(t, err, inbox.ErrAge)
	removed, err := inbox.Purge(t.Context(), pool, 3*time.Hour)
	require.NoError(t, err)
	require.Zero(t, removed)
	removed, err = inbox.Purge(t.Context(), pool, time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, 2500, removed, "in three batches")
	require.Equal(t, 1, markers(t, pool))
	done, err := once(t.Context(), pool, "stock", "young")
	require.NoError(t, err)
	require.False(t, done)
}

func TestPurgesAtTheSameTime(t *testing.T) {
	t.Parallel()
	pool := open(t)
	_, err := pool.Exec(t.Context(), `INSERT INTO processed_messages
		SELECT 'stock', 'm-' || n, now() - interval '2 hours' FROM generate_series(1, 5000) n`)
	require.NoError(t, err)
	var removed atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			n, err := inbox.Purge(t.Context(), pool, time.Hour)
			if err != nil {
				t.Error(err)
			}
			removed.Add(n)
		})
	}
	all.Wait()
	left, err := inbox.Purge(t.Context(), pool, time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, 5000, removed.Load()+left, "each marker is counted once")
	require.Zero(t, markers(t, pool))
}
