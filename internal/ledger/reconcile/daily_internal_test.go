package reconcile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
)

func TestSpanOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	day := 24 * time.Hour
	for name, tt := range map[string]struct {
		last Last
		from time.Duration
		due  bool
	}{
		"first":             {Last{}, 3*day + time.Hour, true},
		"first_failed_now":  {Last{Tried: ago(time.Minute)}, 0, false},
		"first_failed":      {Last{Tried: ago(time.Hour)}, 3*day + time.Hour, true},
		"done_today":        {Last{CoveredTo: ago(24 * time.Hour), Finished: ago(23 * time.Hour), Tried: ago(23 * time.Hour)}, 0, false},
		"done_yesterday":    {Last{CoveredTo: ago(25 * time.Hour), Finished: ago(day), Tried: ago(day)}, 4*day + time.Hour, true},
		"failed_since":      {Last{CoveredTo: ago(25 * time.Hour), Finished: ago(day), Tried: ago(30 * time.Minute)}, 0, false},
		"down_for_a_month":  {Last{CoveredTo: ago(30 * day), Finished: ago(30 * day), Tried: ago(30 * day)}, 33 * day, true},
		"another_is_at_it":  {Last{Running: true, Tried: ago(2 * time.Hour)}, 0, false},
		"killed_hours_ago":  {Last{CoveredTo: ago(50 * time.Hour), Finished: ago(49 * time.Hour), Tried: ago(3 * time.Hour)}, 122 * time.Hour, true},
		"finished_yet_here": {Last{CoveredTo: ago(2 * time.Hour), Finished: ago(time.Hour), Tried: ago(time.Hour)}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			span, due := spanOf(tt.last, now, trail, overlap)
			require.Equal(t, tt.due, due)
			if due {
				require.Equal(t, gateway.Span{From: ago(tt.from), To: ago(time.Hour)}, span)
			}
		})
	}
}

func TestParseSpan(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	span, err := ParseSpan("2026-11-01", "2026-11-02T10:00:00+02:00", now)
	require.NoError(t, err)
	require.Equal(t, gateway.Span{From: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)}, span)
	span, err = ParseSpan("2026-11-01", "2027-01-01", now)
	require.NoError(t, err)
	require.Equal(t, now, span.To, "what is to come is not covered")
	for _, wrong := range [][2]string{{"2026-11-02", "2026-11-01"}, {"2026-11-01", "2026-11-01"}, {"2026-12-01", "2026-12-02"}, {"1.11.2026", "2026-11-02"}, {"2026-11-01", ""}} {
		_, err := ParseSpan(wrong[0], wrong[1], now)
		require.ErrorContains(t, err, "--", wrong)
	}
}
