package finder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
)

// A day without a midnight begins an hour later, and each day ends when the next one begins.
func TestStartOfDay(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]struct{ day, start, end string }{
		"Atlantic/Azores":  {"2026-03-29", "2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"},
		"America/Santiago": {"2026-09-06", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"},
		"America/Havana":   {"2026-03-08", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"},
		"Africa/Cairo":     {"2026-04-24", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"},
		"Europe/Berlin":    {"2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
	} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		noon, err := time.ParseInLocation("2006-01-02 15", at.day+" 12", zone)
		require.NoError(t, err)
		require.Equal(t, at.start, finder.StartOfDay(noon, 0).UTC().Format(time.RFC3339), name)
		require.Equal(t, at.end, finder.StartOfDay(noon, 1).UTC().Format(time.RFC3339), name)
		plan := finder.Parse(at.day, noon.AddDate(0, 0, 3))
		require.NotNil(t, plan.Days, name)
		require.Equal(t, at.start, plan.Days.From().UTC().Format(time.RFC3339), name)
	}
}
