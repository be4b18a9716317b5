package worker_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/worker"
)

// keys are so many expired ones.
type keys struct {
	left, asked atomic.Int64
	broken      error
}

func (k *keys) PurgeKeys(_ context.Context, limit int) (int, error) {
	k.asked.Add(1)
	n := min(k.left.Load(), int64(limit))
	k.left.Add(-n)
	return int(n), k.broken
}

func TestExpiredKeysArePurgedEveryMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k keys
		var purged atomic.Int64
		k.left.Store(2500)
		s := worker.New(zerolog.Nop(), worker.PurgeKeys(&k, func(n int) { purged.Add(int64(n)) }))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()

		synctest.Wait()
		require.Zero(t, k.asked.Load())
		time.Sleep(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 2500, purged.Load(), "all that is waiting goes in one round")
		require.EqualValues(t, 3, k.asked.Load())

		k.left.Store(7)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 2507, purged.Load())
		require.EqualValues(t, 4, k.asked.Load())
		cancel()
		require.NoError(t, <-done)
	})
}

func TestASweepThatFailsWaitsForItsNextTurn(t *testing.T) {
	t.Parallel()
	k := &keys{broken: errors.New("storage gone")}
	more, err := worker.PurgeKeys(k, func(n int) { require.Zero(t, n) }).Do(t.Context())
	require.ErrorIs(t, err, k.broken)
	require.False(t, more)
}

// dataKeys have so many old months, and keys that can't be used.
type dataKeys struct {
	old, closed int
	kept        time.Duration
}

func (k *dataKeys) Refresh(context.Context) (int, error) { return k.closed, nil }

func (k *dataKeys) Age(_ context.Context, keep time.Duration) (bool, error) {
	k.kept = keep
	k.old--
	return k.old > 0, nil
}

func TestOldMonthsAreDroppedOneByOne(t *testing.T) {
	t.Parallel()
	k := &dataKeys{old: 2}
	loop := worker.AgeEventBytes(k, time.Hour)
	for _, want := range []bool{true, false} {
		more, err := loop.Do(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, more)
	}
	require.Equal(t, time.Hour, k.kept)
}

func TestDataKeysThatCantBeUsedAreLogged(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	loop := worker.RefreshDataKeys(&dataKeys{}, zerolog.New(&log))
	_, err := loop.Do(t.Context())
	require.NoError(t, err)
	require.Empty(t, log.String())
	_, err = worker.RefreshDataKeys(&dataKeys{closed: 2}, zerolog.New(&log)).Do(t.Context())
	require.NoError(t, err)
	require.Contains(t, log.String(), `"data_keys":2`)
}

// sessions are so many that have ended.
type sessions struct{ left int }

func (s *sessions) PurgeSessions(_ context.Context, limit int) (int, error) {
	n := min(s.left, limit)
	s.left -= n
	return n, nil
}

func TestEndedSessionsArePurgedInPortions(t *testing.T) {
	t.Parallel()
	s := &sessions{left: 1500}
	loop := worker.PurgeSessions(s)
	for _, want := range []bool{true, false} {
		more, err := loop.Do(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, more)
	}
	require.Zero(t, s.left)
}

// ages is a log with so many entries that are too old.
type ages struct {
	left  int
	asked []time.Duration
}

func (a *ages) PurgeAudit(_ context.Context, keep time.Duration, limit int) (int, error) {
	n := min(a.left, limit)
	a.left, a.asked = a.left-n, append(a.asked, keep)
	return n, nil
}

func (a *ages) PurgeLog(ctx context.Context, keep time.Duration, limit int) (int, error) {
	return a.PurgeAudit(ctx, keep, limit)
}

func TestLogsArePurgedByTheirAge(t *testing.T) {
	t.Parallel()
	const keep = 400 * 24 * time.Hour
	for _, of := range []func(worker.AgesPurger, time.Duration) worker.Loop{worker.PurgeAudit, worker.PurgeLog} {
		a := &ages{left: 5007}
		loop := of(a, keep)
		require.Equal(t, time.Hour, loop.Every)
		for _, want := range []bool{true, false} {
			more, err := loop.Do(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, more)
		}
		require.Zero(t, a.left)
		require.Equal(t, []time.Duration{keep, keep}, a.asked)
	}
}
