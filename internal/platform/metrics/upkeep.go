package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// upkeep has the metrics of the service's own checks.
type upkeep struct {
	verified    prometheus.Counter
	differences prometheus.Gauge
	stale       *prometheus.GaugeVec
	foreign     *prometheus.CounterVec
	calls       *prometheus.HistogramVec
	finals      *prometheus.CounterVec

	endpointLost, streamLost *prometheus.CounterVec
	entries, unreconciled    *prometheus.CounterVec

	rejectedDropped, rejectedRecovered *prometheus.CounterVec

	refusedAccess *prometheus.CounterVec

	reloadTaken, reloadAt prometheus.Gauge
}

func newUpkeep() upkeep {
	return upkeep{
		reloadTaken: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "paylatch_config_last_reload_successful", Help: "1 if the last reload of the configuration succeeded, 0 if the configuration had errors.",
		}),
		reloadAt: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "paylatch_config_last_reload_success_timestamp_seconds", Help: "Unix time of the last successful load of the configuration, at the start or at a SIGHUP.",
		}),
		verified: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "paylatch_verify_attempts_total", Help: "Attempts derived from their logs again.",
		}),
		differences: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "paylatch_verify_differences", Help: "Differences between attempts and their logs, found by the last or the running verification.",
		}),
		stale: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "paylatch_account_silent_attempts", Help: "Attempts that wait for a webhook of a silent account.",
		}, []string{"account"}),
		foreign: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_foreign_events_total", Help: "Webhook events of payments that were not made through paylatch.",
		}, []string{"account"}),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "paylatch_provider_call_duration_seconds", Buckets: seconds(),
			Help: "How long calls to providers took, by result: answered, failed, held_back.",
		}, []string{"account", "call", "result"}),
		finals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_final_lookups_total",
			Help: "Scheduled lookups of final attempts, by their results: changed, unchanged, not_found, held_back, failed.",
		}, []string{"account", "result"}),
		endpointLost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_endpoint_lost_events_total", Help: "Events, of any type, that were deleted before they were delivered to an endpoint.",
		}, []string{"endpoint"}),
		streamLost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_stream_lost_events_total", Help: "Events that were deleted before they were published to a stream.",
		}, []string{"stream"}),
		rejectedDropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_rejected_deliveries_dropped_total", Help: "Rejected webhook deliveries that were not stored, because there were too many.",
		}, []string{"account"}),
		rejectedRecovered: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_rejected_deliveries_recovered_total", Help: "Rejected webhook deliveries that were accepted after a change of the configuration.",
		}, []string{"account"}),
		refusedAccess: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_access_refused_total", Help: "Refused sign-ins, tokens and calls for staff, by the action in the audit log.",
		}, []string{"action"}),
		entries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_reconcile_entries_total",
			Help: "Entries of providers' books by result: agreed, looked_up, applied, review, foreign; and payments without an entry: missing, unknown_at_provider.",
		}, []string{"account", "result"}),
		unreconciled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_reconcile_failures_total", Help: "Daily reconciliations that failed; each is tried again within an hour.",
		}, []string{"account"}),
	}
}

func (u *upkeep) all() []prometheus.Collector {
	return []prometheus.Collector{
		u.verified, u.differences, u.stale, u.foreign, u.calls, u.finals, u.endpointLost, u.streamLost, u.entries, u.unreconciled,
		u.rejectedDropped, u.rejectedRecovered, u.refusedAccess, u.reloadTaken, u.reloadAt,
	}
}

// Reloaded keeps whether the configuration was taken when it was read, and when the last one was.
func (m *Metrics) Reloaded(taken bool, at time.Time) {
	m.reloadTaken.Set(0)
	if taken {
		m.reloadTaken.Set(1)
		m.reloadAt.Set(float64(at.UnixMilli()) / 1000)
	}
}

// AccessRefused counts a refusal by its action in the audit log.
func (m *Metrics) AccessRefused(action string) { m.refusedAccess.WithLabelValues(action).Inc() }

// Verified counts a portion of attempts and keeps how many differences there are.
func (m *Metrics) Verified(attempts, differences int) {
	m.verified.Add(float64(attempts))
	m.differences.Set(float64(differences))
}

// Stale sets how many attempts wait, by stale account. All other accounts are not stale.
func (m *Metrics) Stale(pending map[string]int) {
	m.stale.Reset()
	for account, n := range pending {
		m.stale.WithLabelValues(account).Set(float64(n))
	}
}

// Foreign counts an account's event that has become foreign.
func (m *Metrics) Foreign(account string) { m.foreign.WithLabelValues(account).Inc() }

// Reconciled counts the results of an account's entries in a daily reconciliation, and its failure.
func (m *Metrics) Reconciled(account string, entries map[string]int, failed bool) {
	for result, n := range entries {
		m.entries.WithLabelValues(account, result).Add(float64(n))
	}
	if failed {
		m.unreconciled.WithLabelValues(account).Inc()
	}
}

// EndpointLost counts events that an endpoint lost; 0 has the series begin.
func (m *Metrics) EndpointLost(endpoint string, events int64) {
	m.endpointLost.WithLabelValues(endpoint).Add(float64(events))
}

// StreamLost counts events that a stream lost; 0 has the series begin.
func (m *Metrics) StreamLost(stream string, events int64) {
	m.streamLost.WithLabelValues(stream).Add(float64(events))
}

// FinalLookup counts a scheduled lookup of an account's final attempt.
func (m *Metrics) FinalLookup(account, result string) {
	m.finals.WithLabelValues(account, result).Inc()
}

// Called counts a call to an account's provider.
func (m *Metrics) Called(account, call, result string, took time.Duration) {
	m.calls.WithLabelValues(account, call, result).Observe(took.Seconds())
}
