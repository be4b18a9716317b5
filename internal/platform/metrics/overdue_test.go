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

// The delay of due work grows between two reads, other work becomes due meanwhile, and the value without scheduled work stays 0.
func TestWhatIsOverdue(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	broken := errors.New("storage gone")
	m := metrics.New(metrics.Options{
		Keys: keys, Now: func() time.Time { return now },
		Overdue: func(context.Context) (map[string]time.Duration, error) {
			return map[string]time.Duration{"operations": time.Minute, "events": -15 * time.Second}, broken
		},
		Parked: func(context.Context) (int64, error) { return 2, nil },
	})
	for _, step := range []struct {
		later              time.Duration
		fails              error
		operations, events string
	}{
		{0, broken, "", ""},
		{30 * time.Second, nil, "60", "0"},
		{10 * time.Second, nil, "70", "0"},
		{10 * time.Second, nil, "80", "5"},
		{30 * time.Second, broken, "110", "35"},
		{30 * time.Second, nil, "60", "0"},
	} {
		now, broken = now.Add(step.later), step.fails
		want := `
# HELP paylatch_events_parked Webhook events that wait for their payment or refund.
# TYPE paylatch_events_parked gauge
paylatch_events_parked 2
`
		if step.operations != "" {
			want += `
# HELP paylatch_overdue_seconds Seconds that the longest overdue operation or parked event has been due.
# TYPE paylatch_overdue_seconds gauge
paylatch_overdue_seconds{what="events"} ` + step.events + `
paylatch_overdue_seconds{what="operations"} ` + step.operations + `
`
		}
		require.NoError(t, testutil.GatherAndCompare(m.Gatherer(), strings.NewReader(want), "paylatch_overdue_seconds", "paylatch_events_parked"))
	}
}
