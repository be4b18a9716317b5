package console

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/intake"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/support"
)

func TestHitPath(t *testing.T) {
	t.Parallel()
	one, two := payment.AttemptID(uuid.Must(uuid.NewV7())), payment.AttemptID(uuid.Must(uuid.NewV7()))
	order, other := support.Hit{Type: "order", ID: "A/1", OrderID: "A/1"}, support.Hit{Type: "order", ID: "B", OrderID: "B"}
	first := support.Hit{Type: "attempt", ID: one.String(), OrderID: "A/1", AttemptID: &one}
	second := support.Hit{Type: "attempt", ID: two.String(), OrderID: "A/1", AttemptID: &two}
	parked := support.Hit{Type: "event", ID: "e"}
	for want, hits := range map[string][]support.Hit{
		attemptPath(one):           {order, first},
		"/support/orders?id=A%2F1": {order, first, second},
		"":                         {order, other},
	} {
		require.Equal(t, want, only(hits))
	}
	require.Equal(t, "/support/orders?id=A%2F1", only([]support.Hit{order}))
	require.Empty(t, only(nil))
	require.Empty(t, only([]support.Hit{parked}), "a webhook of no payment that is known")
	require.Empty(t, only([]support.Hit{order, first, parked}))
	require.Equal(t, "/support/events/e", hitPath(parked))
	require.Equal(t, "/support/events/e", hitPath(support.Hit{Type: "event", ID: "e", OrderID: "A/1", AttemptID: &one}))
	require.Equal(t, attemptPath(one), hitPath(support.Hit{Type: "refund", ID: "r", OrderID: "A/1", AttemptID: &one}))
}

func TestStale(t *testing.T) {
	t.Parallel()
	now := time.Now()
	last := now.Add(-3 * time.Hour)
	require.Contains(t, stale(intake.StaleAccount{Account: "a", Pending: 1}, now), "No webhook was ever received from a, and a payment waits for one.")
	require.Contains(t, stale(intake.StaleAccount{Account: "a", Pending: 2, LastWebhookAt: &last}, now), "No webhook was received from a for 3 hours, and 2 payments wait for one.")
}

func TestForeign(t *testing.T) {
	t.Parallel()
	require.Empty(t, foreign(nil))
	require.Equal(t, []string{
		"In the last day a sent 1 webhook event of payments that are not ours.",
		"In the last day b sent 20 webhook events of payments that are not ours.",
	}, foreign(map[string]int64{"b": 20, "a": 1}))
}

func TestNewestFirst(t *testing.T) {
	t.Parallel()
	attempts := []payment.Attempt{{Version: 1}, {Version: 2}}
	require.Equal(t, []payment.Attempt{{Version: 2}, {Version: 1}}, newestFirst(attempts))
	require.Equal(t, 1, attempts[0].Version, "the order itself stays as it is")
}
