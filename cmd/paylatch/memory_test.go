package main

import (
	"math"
	"os"
	"runtime/debug"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// TestTuneMemory: the garbage collector is set by the memory of the container or machine, and the environment takes precedence.
func TestTuneMemory(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
	t.Setenv("GOGC", "100")
	t.Setenv("GOMEMLIMIT", "off")
	tuneMemory(zerolog.Nop())
	require.Equal(t, 100, debug.SetGCPercent(100))
	require.Equal(t, int64(math.MaxInt64), debug.SetMemoryLimit(-1))

	require.NoError(t, os.Unsetenv("GOGC"))
	require.NoError(t, os.Unsetenv("GOMEMLIMIT"))
	tuneMemory(zerolog.Nop())
	require.Equal(t, heapGrowth, debug.SetGCPercent(100))
	require.Less(t, debug.SetMemoryLimit(-1), int64(math.MaxInt64))
	require.Positive(t, debug.SetMemoryLimit(-1))
}
