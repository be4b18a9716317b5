package read_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// TestDerivedID: different fields never make the same id, and a short one can be read.
func TestDerivedID(t *testing.T) {
	t.Parallel()
	require.Equal(t, "AUTHORISATION:7914073381342284:true", read.DerivedID("AUTHORISATION", "7914073381342284", "true"))
	require.LessOrEqual(t, len(read.DerivedID(strings.Repeat("x", 4096))), 160)
	fields := rapid.SliceOfN(rapid.OneOf(rapid.StringMatching(`[:%a]{0,3}`), rapid.StringN(0, 80, -1)), 1, 4)
	rapid.Check(t, func(rt *rapid.T) {
		a, b := fields.Draw(rt, "a"), fields.Draw(rt, "b")
		require.Equal(rt, slices.Equal(a, b), read.DerivedID(a...) == read.DerivedID(b...))
	})
}

// TestTime: in UTC a time may lie in a year that neither RFC 3339 nor JSON can write. It is the zero time.
func TestTime(t *testing.T) {
	t.Parallel()
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"9999-12-31T23:59:59-01:00": {}, "0000-01-01T00:00:00+01:00": {}, "0000-06-01T00:00:00Z": {}, "0001-01-01T00:00:00+01:00": {},
		"9999-12-31T22:59:59-01:00": last, "0000-12-31T23:00:01-01:00": time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC),
	} {
		require.Equal(t, want, read.Time([]byte(`"`+text+`"`)), text)
		require.Equal(t, want, read.TimeIn(time.RFC3339, text), text)
	}
	for _, seconds := range []string{"253402300800", "1000000000000000000", "1e18", "9223372036854775808", "-1"} {
		require.Zero(t, read.Time([]byte(seconds)), seconds)
	}
	require.Equal(t, last, read.Time([]byte("253402300799")))
}
