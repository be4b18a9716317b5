package metrics_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/metrics"
)

// A due date comes nearer between two reads and passes; a dispute may have no due date.
func TestDisputesDue(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var broken error
	m := metrics.New(metrics.Options{
		Keys: keys, Now: func() time.Time { return now },
		Disputes: func(context.Context) (map[string]metrics.Disputed, error) {
			return map[string]metrics.Disputed{"bank": {Open: 2, Due: 20}, "card": {Open: 1, Due: math.Inf(1)}}, broken
		},
	})
	for _, step := range []struct {
		later time.Duration
		fails error
		want  string
	}{
		{0, nil, "20"}, {10 * time.Second, nil, "10"}, {25 * time.Second, errors.New("storage gone"), "-15"}, {31 * time.Second, nil, "20"},
	} {
		now, broken = now.Add(step.later), step.fails
		require.NoError(t, testutil.GatherAndCompare(m.Gatherer(), strings.NewReader(`
# HELP paylatch_dispute_due_seconds Seconds until the earliest deadline of the disputes that wait for a response; below 0 for a week after a missed deadline.
# TYPE paylatch_dispute_due_seconds gauge
paylatch_dispute_due_seconds{account="bank"} `+step.want+`
# HELP paylatch_disputes_open Disputes that the provider has not decided.
# TYPE paylatch_disputes_open gauge
paylatch_disputes_open{account="bank"} 2
paylatch_disputes_open{account="card"} 1
`), "paylatch_dispute_due_seconds", "paylatch_disputes_open"))
	}
	found, err := testutil.GatherAndLint(m.Gatherer())
	require.NoError(t, err)
	require.Empty(t, found)
}
