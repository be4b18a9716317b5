package throttle_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/throttle"
)

func TestEachIsLimitedForThemselves(t *testing.T) {
	t.Parallel()
	e, now := throttle.New(2, 3), time.Now()
	for range 3 {
		require.Zero(t, e.Wait("ann", now))
	}
	for range 5 {
		require.Equal(t, 500*time.Millisecond, e.Wait("ann", now), "a refusal costs nothing")
	}
	require.Zero(t, e.Wait("bob", now))
	require.Zero(t, e.Wait("ann", now.Add(500*time.Millisecond)))
	require.Equal(t, 500*time.Millisecond, e.Wait("ann", now.Add(500*time.Millisecond)))
}

// Whoever is limited stays limited, however many others come.
func TestNobodyIsForgottenTooEarly(t *testing.T) {
	t.Parallel()
	e, now := throttle.New(1, 1), time.Now()
	require.Zero(t, e.Wait("ann", now))
	for i := range 3000 {
		require.Zero(t, e.Wait(strconv.Itoa(i), now.Add(time.Duration(i)*time.Microsecond)))
	}
	require.Positive(t, e.Wait("ann", now.Add(900*time.Millisecond)))
}
