package metrics_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/metrics"
)

func TestBusiness(t *testing.T) {
	t.Parallel()
	text := scrape(t, counting())
	for _, line := range []string{
		`paylatch_attempts_total{account="bank",failure_code="card_declined",status="failed"} 7`, `paylatch_discrepancies_opened_total{kind="late_success"} 2`,
		`paylatch_unknown_outcomes{account="bank",age="minute"} 2`, `paylatch_unknown_outcomes{account="bank",age="older"} 1`,
		`paylatch_pool_connections{state="acquired"} 3`, `paylatch_pool_connections{state="idle"} 4`, `paylatch_pool_connections{state="max"} 10`,
		`paylatch_pool_waits_total 5`, `paylatch_pool_wait_seconds_total 6`,
		`paylatch_batch_items_bucket{what="pays",le="4"} 0`, `paylatch_batch_items_bucket{what="pays",le="8"} 1`,
	} {
		require.Contains(t, text, "\n"+line+"\n")
	}
	require.NotContains(t, text, `status="succeeded"`, "a refund is no attempt")
}

// TestSeriesBegin: the series of rare events that have alerts are 0 before the first event.
func TestSeriesBegin(t *testing.T) {
	t.Parallel()
	m := metrics.New(metrics.Options{Keys: keys, Now: time.Now, Refusals: []string{"sign_in"}})
	m.Commands([]string{"pay"})
	m.Receives("bank")
	text := scrape(t, m)
	for _, k := range payment.DiscrepancyKinds() {
		require.Contains(t, text, fmt.Sprintf("\npaylatch_discrepancies_opened_total{kind=%q} 0\n", k))
	}
	for _, series := range []string{
		`paylatch_http_requests_total{method="GET",route="/readyz",status="503"}`, `paylatch_access_refused_total{action="sign_in"}`,
		`paylatch_idempotency_requests_total{operation="pay",result="conflict"}`, `paylatch_idempotency_requests_total{operation="pay",result="takeover"}`,
		`paylatch_webhooks_total{account="bank",verdict="conflict"}`, `paylatch_webhooks_total{account="bank",verdict="unmatched"}`,
		`paylatch_webhooks_total{account="bank",verdict="duplicate"}`, `paylatch_webhooks_refused_total{account="bank",code="webhook-signature-invalid"}`,
	} {
		require.Contains(t, text, "\n"+series+" 0\n")
	}
}

func TestBreakers(t *testing.T) {
	t.Parallel()
	require.Equal(t, map[string]float64{"sandbox": 2, "other": 0}, counting().Breakers())
}

// TestCommit: the histogram has the durations of successful commits.
func TestCommit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m := metrics.New(metrics.Options{Keys: keys, Now: func() time.Time { return now }})
	broken := errors.New("gone")
	require.ErrorIs(t, m.Commit(func() error { return broken }), broken)
	require.NoError(t, m.Commit(func() error {
		now = now.Add(20 * time.Millisecond)
		return nil
	}))
	text := scrape(t, m)
	for _, line := range []string{`paylatch_commit_duration_seconds_bucket{le="0.01"} 0`, `paylatch_commit_duration_seconds_bucket{le="0.025"} 1`, `paylatch_commit_duration_seconds_count 1`} {
		require.Contains(t, text, "\n"+line+"\n")
	}
}
