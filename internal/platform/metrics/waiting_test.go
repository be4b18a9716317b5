package metrics_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/metrics"
)

// The age of waiting work grows between two reads, and while reads fail.
func TestWhatWaitsForAPerson(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var broken error
	asked := 0
	m := metrics.New(metrics.Options{
		Keys: keys, Now: func() time.Time { return now }, NotesLost: func() int64 { return 3 },
		Waiting: func(context.Context) (map[string]metrics.Waiting, error) {
			asked++
			return map[string]metrics.Waiting{"disputed": {Count: 2, Oldest: time.Hour}}, broken
		},
	})
	for _, step := range []struct {
		later time.Duration
		fails error
		want  string
		asked int
	}{
		{0, nil, "3600", 1},
		{10 * time.Second, nil, "3610", 1},
		{30 * time.Second, errors.New("storage gone"), "3640", 2},
		{31 * time.Second, nil, "3600", 3},
	} {
		now, broken = now.Add(step.later), step.fails
		require.NoError(t, testutil.GatherAndCompare(m.Gatherer(), strings.NewReader(`
# HELP paylatch_discrepancies_oldest_seconds How long the oldest open discrepancy of a kind has been waiting for a person.
# TYPE paylatch_discrepancies_oldest_seconds gauge
paylatch_discrepancies_oldest_seconds{kind="disputed"} `+step.want+`
# HELP paylatch_discrepancies_open Discrepancies that are not resolved.
# TYPE paylatch_discrepancies_open gauge
paylatch_discrepancies_open{kind="disputed"} 2
# HELP paylatch_notes_lost_total Requests and provider calls that are missing from payments' timelines.
# TYPE paylatch_notes_lost_total counter
paylatch_notes_lost_total 3
`), "paylatch_discrepancies_oldest_seconds", "paylatch_discrepancies_open", "paylatch_notes_lost_total"))
		require.Equal(t, step.asked, asked)
	}
	found, err := testutil.GatherAndLint(m.Gatherer())
	require.NoError(t, err)
	require.Empty(t, found)
}
