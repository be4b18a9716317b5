package worker_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/platform/worker"
)

// lastWebhooks counts how often it was saved.
type lastWebhooks struct {
	saved  int
	broken error
}

func (l *lastWebhooks) SaveLastWebhooks(context.Context) error {
	l.saved++
	return l.broken
}

func (l *lastWebhooks) Stale(context.Context) ([]intake.StaleAccount, error) {
	return []intake.StaleAccount{{Account: "sandbox", Pending: l.saved}}, nil
}

func TestStale(t *testing.T) {
	t.Parallel()
	var stale []map[string]int
	l := &lastWebhooks{}
	loop := worker.Stale(l, func(pending map[string]int) { stale = append(stale, pending) })
	for range 2 {
		more, err := loop.Do(t.Context())
		require.NoError(t, err)
		require.False(t, more)
	}
	require.Equal(t, []map[string]int{{"sandbox": 1}, {"sandbox": 2}}, stale)

	l.broken = errGone
	_, err := loop.Do(t.Context())
	require.ErrorIs(t, err, errGone)
	require.Len(t, stale, 2, "what could not be saved is not called stale")
}
