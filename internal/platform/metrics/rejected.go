package metrics

import "github.com/prometheus/client_golang/prometheus"

// rejected collects the rejected deliveries that are kept.
type rejected struct {
	cache *cached[map[string]int64]
	kept  *prometheus.Desc
}

func newRejected(found *cached[map[string]int64]) rejected {
	return rejected{found, prometheus.NewDesc("paylatch_rejected_deliveries",
		"Webhook deliveries with a wrong signature that are kept, to be verified again once the account's configuration has changed.", []string{"account"}, nil)}
}

// Describe implements prometheus.Collector.
func (r rejected) Describe(ch chan<- *prometheus.Desc) { ch <- r.kept }

// Collect implements prometheus.Collector.
func (r rejected) Collect(ch chan<- prometheus.Metric) {
	found, _, _ := r.cache.get()
	for account, n := range found {
		ch <- prometheus.MustNewConstMetric(r.kept, prometheus.GaugeValue, float64(n), account)
	}
}

// RejectedDropped counts a rejected delivery of an account that was not kept.
func (m *Metrics) RejectedDropped(account string) { m.rejectedDropped.WithLabelValues(account).Inc() }

// RejectedRecovered counts a rejected delivery of an account that was taken in.
func (m *Metrics) RejectedRecovered(account string) {
	m.rejectedRecovered.WithLabelValues(account).Inc()
}
