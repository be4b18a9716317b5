package throttle_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/throttle"
)

func TestReserve(t *testing.T) {
	t.Parallel()
	l, now := throttle.New(2, 3), time.Now()
	for range 3 {
		require.Zero(t, l.Reserve("ann", now))
	}
	for range 5 {
		require.Equal(t, 500*time.Millisecond, l.Reserve("ann", now), "a refusal costs nothing")
	}
	require.Equal(t, 500*time.Millisecond, l.Wait("ann", now))
	require.Zero(t, l.Wait("bob", now))
	require.Zero(t, l.Wait("ann", now.Add(500*time.Millisecond)), "it counts nothing")
	require.Zero(t, l.Reserve("bob", now))
	require.Zero(t, l.Reserve("ann", now.Add(500*time.Millisecond)))
	require.Equal(t, 500*time.Millisecond, l.Reserve("ann", now.Add(500*time.Millisecond)))
}

// A key that is limited stays limited, however many others come.
func TestReserveKeepsLimitedKeys(t *testing.T) {
	t.Parallel()
	l, now := throttle.New(1, 1), time.Now()
	require.Zero(t, l.Reserve("ann", now))
	for i := range 3000 {
		require.Zero(t, l.Reserve(strconv.Itoa(i), now.Add(time.Duration(i)*time.Microsecond)))
	}
	require.Positive(t, l.Reserve("ann", now.Add(900*time.Millisecond)))
}
