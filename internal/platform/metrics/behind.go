package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// behind collects how late the lookups of final attempts are.
type behind struct {
	cache *cached[map[string]time.Duration]
	desc  *prometheus.Desc
}

func newBehind(found *cached[map[string]time.Duration]) behind {
	return behind{found, prometheus.NewDesc("paylatch_final_lookups_behind_seconds",
		"How late the scheduled lookups of an account's final attempts are.", []string{"account"}, nil)}
}

// Describe implements prometheus.Collector.
func (b behind) Describe(ch chan<- *prometheus.Desc) { ch <- b.desc }

// Collect implements prometheus.Collector.
func (b behind) Collect(ch chan<- prometheus.Metric) {
	found, _, _ := b.cache.get()
	for account, late := range found {
		ch <- prometheus.MustNewConstMetric(b.desc, prometheus.GaugeValue, max(0, late).Seconds(), account)
	}
}
