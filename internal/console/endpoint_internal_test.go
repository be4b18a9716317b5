package console

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/events/endpoint"
)

func TestUndelivered(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, s := range map[string]endpoint.Status{
		"All events are delivered.":                    {State: endpoint.Active, Behind: 3},
		"The oldest undelivered event is 20 min old.":  {State: endpoint.Active, Oldest: now.Add(-20 * time.Minute)},
		"The oldest undelivered event is 3 hours old.": {State: endpoint.Active, Oldest: now.Add(-3 * time.Hour)},
		"The endpoint answered 410 (Gone). paylatch sends it no events until its address changes or events are redelivered.": {
			State: endpoint.Gone, Oldest: now.Add(-time.Hour),
		},
		"1 event was given up after the last try. The shop does not have this event; redeliver it.":         {State: endpoint.Active, Dead: 1},
		"312 events were given up after the last try. The shop does not have these events; redeliver them.": {State: endpoint.Active, Dead: 312, Oldest: now},
	} {
		require.Equal(t, want, undelivered(endpointStatus{s, now}))
	}
}

func TestTested(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]endpoint.Attempt{
		"The endpoint accepted the test event (status 204, 12 ms).":                            {Status: 204, Took: 12 * time.Millisecond},
		"The endpoint did not accept the test event (15000 ms): no response within 15s":        {Took: 15 * time.Second, Error: "no response within 15s"},
		"The endpoint did not accept the test event (3 ms): 503 Service Unavailable: not now.": {Status: 503, Took: 3 * time.Millisecond, Error: "503 Service Unavailable: not now."},
	} {
		require.Equal(t, want, tested(a))
	}
	require.Equal(t, "no response", answered(endpoint.Attempt{}))
}
