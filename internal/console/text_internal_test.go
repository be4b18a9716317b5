package console

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestStale(t *testing.T) {
	t.Parallel()
	now := time.Now()
	last := now.Add(-3 * time.Hour)
	require.Contains(t, stale(intake.StaleAccount{Account: "a", Pending: 1}, now), "No webhook was ever received from a, and a payment waits for a webhook.")
	require.Contains(t, stale(intake.StaleAccount{Account: "a", Pending: 2, LastWebhookAt: &last}, now), "No webhook was received from a for 3 hours, and 2 payments wait for a webhook.")
}

func TestForeign(t *testing.T) {
	t.Parallel()
	require.Empty(t, foreign(nil))
	require.Equal(t, []string{
		"In the last day a sent 1 webhook event about payments that were not made through paylatch.",
		"In the last day b sent 20 webhook events about payments that were not made through paylatch.",
	}, foreign(map[string]int64{"b": 20, "a": 1}))
}

func TestNewestFirst(t *testing.T) {
	t.Parallel()
	attempts := []payment.Attempt{{Version: 1}, {Version: 2}}
	require.Equal(t, []payment.Attempt{{Version: 2}, {Version: 1}}, newestFirst(attempts))
	require.Equal(t, 1, attempts[0].Version, "the order itself stays as it is")
}
