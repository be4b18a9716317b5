package gen_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api/gen"
)

func TestMicrosAlwaysHasSixDigits(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("", 3600)
	for want, at := range map[string]time.Time{
		`"2026-03-01T09:30:00.000000Z"`: time.Date(2026, 3, 1, 10, 30, 0, 0, east),
		`"2026-03-01T09:30:00.120000Z"`: time.Date(2026, 3, 1, 9, 30, 0, 120_000_999, time.UTC),
	} {
		got, err := json.Marshal(gen.Micros(at))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		var back gen.Micros
		require.NoError(t, json.Unmarshal(got, &back))
		require.WithinDuration(t, at, time.Time(back), time.Microsecond)
	}
	var back gen.Micros
	require.Error(t, json.Unmarshal([]byte(`"yesterday"`), &back))
}
