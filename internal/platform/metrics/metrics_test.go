package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/internal/platform/stream"
)

func keys(context.Context) (int64, error) { return 42, nil }

func quiet() stream.Stats {
	return stream.Stats{Waiters: 7, Topics: 6, Wakes: 5, Refused: 4, Received: 3, Announced: 2, Compares: 8, Reads: 9, Listening: true}
}

func TestThoseWhoWaitAreCounted(t *testing.T) {
	t.Parallel()
	text := scrape(t, metrics.New(metrics.Options{Keys: keys, Now: time.Now, Stream: quiet}))
	for _, line := range []string{
		"paylatch_waiters 7", "paylatch_waited_attempts 6", "paylatch_listening 1", "paylatch_waiter_wakes_total 5", "paylatch_waiters_refused_total 4",
		"paylatch_notices_heard_total 3", "paylatch_notices_sent_total 2", "paylatch_waiter_looks_total 8", "paylatch_waiter_reads_total 9",
	} {
		require.Contains(t, text, "\n"+line+"\n")
	}
}

// counting returns metrics that all have counted something.
func counting() *metrics.Metrics {
	m := metrics.New(metrics.Options{
		Keys: keys, Now: time.Now, Stream: quiet, NotesLost: func() int64 { return 3 },
		Waiting: func(context.Context) (map[string]metrics.Waiting, error) {
			return map[string]metrics.Waiting{"disputed": {Count: 2, Oldest: time.Hour}}, nil
		},
		Disputes: func(context.Context) (map[string]metrics.Disputed, error) {
			return map[string]metrics.Disputed{"bank": {Open: 2, Due: 3600}}, nil
		},
		Overdue: func(context.Context) (map[string]time.Duration, error) { return nil, nil },
		Reconciled: func(context.Context) (map[string]time.Duration, error) {
			return map[string]time.Duration{"bank": time.Hour}, nil
		},
		Parked: func(context.Context) (int64, error) { return 5, nil },
		FinalBehind: func(context.Context) (map[string]time.Duration, error) {
			return map[string]time.Duration{"sandbox": time.Hour, "on time": -time.Second}, nil
		},
		Endpoints: func(context.Context) (map[string]metrics.Endpoint, error) {
			return map[string]metrics.Endpoint{"shop": {Behind: 4, Retries: 3, Dead: 2, Oldest: time.Minute, Gone: true}}, nil
		},
		Readers: func() map[string]metrics.Reader {
			return map[string]metrics.Reader{"shop": {Behind: 12, Since: 90 * time.Second}}
		},
		Streams: func(context.Context) (map[string]metrics.PublishedTo, error) {
			return map[string]metrics.PublishedTo{"jobs": {Behind: 7, Oldest: time.Hour, Failing: true}, "well": {}}, nil
		},
		Unknown: func(context.Context) (map[string]map[string]int64, error) {
			return map[string]map[string]int64{"bank": {"minute": 2, "older": 1}}, nil
		},
		Pool: func() metrics.Pool {
			return metrics.Pool{Acquired: 3, Idle: 4, Max: 10, Waits: 5, Waited: 6 * time.Second}
		},
		Held:     func() []string { return []string{"bank"} },
		Rejected: func(context.Context) (map[string]int64, error) { return map[string]int64{"bank": 40}, nil },
	})
	m.Ended("attempt", "bank", "failed", "card_declined", 7)
	m.Ended("discrepancy", "", "opened", "late_success", 2)
	m.Ended("refund", "", "succeeded", "", 9)
	_ = m.Commit(func() error { return nil })
	m.Batches("pays")(5)
	m.RejectedDropped("bank")
	m.AccessRefused("sign_in")
	m.RejectedRecovered("bank")
	m.Observe(metrics.Request{Method: "POST", Route: "/webhooks/:account", Status: 200, Account: "sandbox", Verdicts: []fsm.Verdict{fsm.Applied}})
	m.Observe(metrics.Request{Method: "POST", Route: "/webhooks/:account", Status: 401, Code: "webhook-signature-invalid"})
	m.Observe(metrics.Request{Method: "POST", Route: "/v1/orders", Status: 201, Operation: "createOrder", KeyResult: metrics.KeyCreated})
	m.Stale(map[string]int{"sandbox": 3})
	m.Foreign("sandbox")
	m.Reconciled("bank", map[string]int{"agreed": 5}, true)
	m.FinalLookup("sandbox", "changed")
	m.EndpointLost("shop", 5)
	m.StreamLost("jobs", 0)
	m.StreamLost("jobs", 6)
	m.Called("sandbox", "charge", "answered", time.Second)
	m.Breaker("sandbox", func() float64 { return 1 })
	m.Breaker("sandbox", func() float64 { return 2 }) // the breaker of the account's present configuration
	m.Breaker("other", func() float64 { return 0 })
	return m
}

func TestHeldAccountsAreShown(t *testing.T) {
	t.Parallel()
	require.Contains(t, scrape(t, counting()), "\npaylatch_pays_held{account=\"bank\"} 1\n")
}

func TestRejectedDeliveriesAreCounted(t *testing.T) {
	t.Parallel()
	text := scrape(t, counting())
	require.Contains(t, text, "\npaylatch_rejected_deliveries{account=\"bank\"} 40\n")
	require.Contains(t, text, "\npaylatch_rejected_deliveries_dropped_total{account=\"bank\"} 1\n")
	require.Contains(t, text, "\npaylatch_rejected_deliveries_recovered_total{account=\"bank\"} 1\n")
}

func TestReconciliationsAreCounted(t *testing.T) {
	t.Parallel()
	text := scrape(t, counting())
	for _, line := range []string{
		`paylatch_reconcile_age_seconds{account="bank"} 3600`, `paylatch_reconcile_entries_total{account="bank",result="agreed"} 5`,
		`paylatch_reconcile_failures_total{account="bank"} 1`,
	} {
		require.Contains(t, text, "\n"+line)
	}
}

func TestReadersAreCounted(t *testing.T) {
	t.Parallel()
	text := scrape(t, counting())
	require.Contains(t, text, "\npaylatch_feed_reader_behind_events{reader=\"shop\"} 12\n")
	require.Contains(t, text, "\npaylatch_feed_reader_seconds_since_read{reader=\"shop\"} 90\n")
}

func TestFinalLookups(t *testing.T) {
	t.Parallel()
	text := scrape(t, counting())
	require.Contains(t, text, "\npaylatch_final_lookups_total{account=\"sandbox\",result=\"changed\"} 1\n")
	require.Contains(t, text, "\npaylatch_final_lookups_behind_seconds{account=\"sandbox\"} 3600\n")
	require.Contains(t, text, "\npaylatch_final_lookups_behind_seconds{account=\"on time\"} 0\n")
}

func TestEveryNameIsAsPrometheusWantsIt(t *testing.T) {
	t.Parallel()
	m := counting()
	found, err := testutil.GatherAndLint(m.Gatherer())
	require.NoError(t, err)
	require.Empty(t, found)
	for _, name := range []string{
		"paylatch_http_requests_total", "paylatch_http_request_duration_seconds", "paylatch_idempotency_requests_total",
		"paylatch_idempotency_wait_seconds", "paylatch_idempotency_processing_seconds", "paylatch_idempotency_rows",
		"paylatch_idempotency_purged_total", "paylatch_account_silent_attempts", "paylatch_foreign_events_total", "paylatch_provider_call_duration_seconds",
		"paylatch_provider_breaker_state", "paylatch_verify_attempts_total", "paylatch_verify_differences", "paylatch_webhooks_total", "paylatch_webhooks_refused_total",
	} {
		n, err := testutil.GatherAndCount(m.Gatherer(), name)
		require.NoError(t, err)
		require.Positive(t, n, name)
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	text := scrape(t, counting())
	for _, line := range []string{
		`paylatch_stream_behind_events{stream="jobs"} 7`, `paylatch_stream_oldest_unpublished_seconds{stream="jobs"} 3600`,
		`paylatch_stream_failing{stream="jobs"} 1`, `paylatch_stream_failing{stream="well"} 0`, `paylatch_stream_oldest_unpublished_seconds{stream="well"} 0`,
		`paylatch_stream_lost_events_total{stream="jobs"} 6`, `paylatch_endpoint_lost_events_total{endpoint="shop"} 5`,
	} {
		require.Regexp(t, "\n"+strings.NewReplacer("{", `\{`, "}", `\}`, " 3600", ` 3600(\.\d+)?`).Replace(line)+"\n", text)
	}
}

func TestWhatIsCounted(t *testing.T) {
	t.Parallel()
	m := metrics.New(metrics.Options{Keys: keys, Now: time.Now, Stream: quiet})
	for result, worked := range map[metrics.KeyResult]time.Duration{
		metrics.KeyCreated: 200 * time.Millisecond, metrics.KeyTakeover: 300 * time.Millisecond, metrics.KeyReused: 2 * time.Second,
		metrics.KeyInProgress: 5 * time.Second, metrics.KeyConflict: time.Hour, metrics.KeyQuota: time.Hour,
	} {
		m.Observe(metrics.Request{Method: "POST", Route: "/v1/orders/:order_id/pay", Status: 201, Operation: "pay", Worked: worked, KeyResult: result})
	}
	m.Observe(metrics.Request{Method: "GET", Status: 404, Code: "not-found"})
	m.Observe(metrics.Request{Method: "POST", Route: "/webhooks/:account", Status: 200, Account: "sandbox", Verdicts: []fsm.Verdict{fsm.Applied, fsm.Stale, fsm.Stale}})
	m.Observe(metrics.Request{Method: "POST", Route: "/webhooks/:account", Status: 404, Code: "unknown-account"})
	m.Purged(3)
	m.Purged(0)
	require.NoError(t, testutil.GatherAndCompare(m.Gatherer(), strings.NewReader(`
# HELP paylatch_idempotency_requests_total Commands by the result of their idempotency key: created, reused, conflict, in_progress, takeover, quota.
# TYPE paylatch_idempotency_requests_total counter
paylatch_idempotency_requests_total{operation="pay",result="conflict"} 1
paylatch_idempotency_requests_total{operation="pay",result="created"} 1
paylatch_idempotency_requests_total{operation="pay",result="in_progress"} 1
paylatch_idempotency_requests_total{operation="pay",result="quota"} 1
paylatch_idempotency_requests_total{operation="pay",result="reused"} 1
paylatch_idempotency_requests_total{operation="pay",result="takeover"} 1
# HELP paylatch_http_requests_total Requests answered.
# TYPE paylatch_http_requests_total counter
paylatch_http_requests_total{method="GET",route="(none)",status="404"} 1
paylatch_http_requests_total{method="GET",route="/readyz",status="503"} 0
paylatch_http_requests_total{method="POST",route="/v1/orders/:order_id/pay",status="201"} 6
paylatch_http_requests_total{method="POST",route="/webhooks/:account",status="200"} 1
paylatch_http_requests_total{method="POST",route="/webhooks/:account",status="404"} 1
# HELP paylatch_webhooks_total Verified webhook events by their verdict.
# TYPE paylatch_webhooks_total counter
paylatch_webhooks_total{account="sandbox",verdict="applied"} 1
paylatch_webhooks_total{account="sandbox",verdict="stale"} 2
# HELP paylatch_webhooks_refused_total Webhook deliveries that were refused, by the problem's code.
# TYPE paylatch_webhooks_refused_total counter
paylatch_webhooks_refused_total{account="(unknown)",code="unknown-account"} 1
# HELP paylatch_idempotency_purged_total Expired idempotency keys deleted.
# TYPE paylatch_idempotency_purged_total counter
paylatch_idempotency_purged_total 3
`), "paylatch_idempotency_requests_total", "paylatch_http_requests_total", "paylatch_webhooks_total",
		"paylatch_webhooks_refused_total", "paylatch_idempotency_purged_total"))
	text := scrape(t, m)
	require.Contains(t, text, "paylatch_idempotency_wait_seconds_sum 7\n")
	require.Contains(t, text, "paylatch_idempotency_wait_seconds_count 2\n")
	require.Contains(t, text, `paylatch_idempotency_processing_seconds_sum{operation="pay"} 0.5`+"\n")
	require.Contains(t, text, `paylatch_idempotency_processing_seconds_count{operation="pay"} 2`+"\n")
	require.NotContains(t, text, `paylatch_idempotency_processing_seconds_count{operation=""}`, "a request without a key is none")
	require.Contains(t, text, "go_goroutines ")
}

func TestTheEstimateIsAskedForSeldomAndOutlivesFailures(t *testing.T) {
	t.Parallel()
	now, asked, broken := time.Unix(1, 0), 0, errors.New("storage gone")
	failing := true
	m := metrics.New(metrics.Options{
		Now: func() time.Time { return now }, Stream: quiet,
		Keys: func(ctx context.Context) (int64, error) {
			_, bounded := ctx.Deadline()
			require.True(t, bounded)
			asked++
			if failing {
				return 0, broken
			}
			return int64(asked), nil
		},
	})
	rows := func() string {
		_, rest, _ := strings.Cut(scrape(t, m), "\npaylatch_idempotency_rows ")
		value, _, _ := strings.Cut(rest, "\n")
		return value
	}
	require.Equal(t, "NaN", rows())
	require.Equal(t, "NaN", rows())
	require.Equal(t, 1, asked)
	failing = false
	now = now.Add(30 * time.Second)
	require.Equal(t, "2", rows())
	failing = true
	now = now.Add(30 * time.Second)
	require.Equal(t, "2", rows())
	require.Equal(t, 3, asked)
}

func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, w.Code)
	return w.Body.String()
}

func TestReloaded(t *testing.T) {
	t.Parallel()
	m := metrics.New(metrics.Options{Now: time.Now, Keys: func(context.Context) (int64, error) { return 0, nil }})
	m.Reloaded(true, time.UnixMilli(1_700_000_000_500))
	m.Reloaded(false, time.UnixMilli(1_800_000_000_000))
	require.NoError(t, testutil.GatherAndCompare(m.Gatherer(), strings.NewReader(`
# HELP paylatch_config_last_reload_success_timestamp_seconds Unix time of the last successful load of the configuration, at the start or at a SIGHUP.
# TYPE paylatch_config_last_reload_success_timestamp_seconds gauge
paylatch_config_last_reload_success_timestamp_seconds 1.7000000005e+09
# HELP paylatch_config_last_reload_successful 1 if the last reload of the configuration succeeded, 0 if the configuration had errors.
# TYPE paylatch_config_last_reload_successful gauge
paylatch_config_last_reload_successful 0
`), "paylatch_config_last_reload_success_timestamp_seconds", "paylatch_config_last_reload_successful"))
}
