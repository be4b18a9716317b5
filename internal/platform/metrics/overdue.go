package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// overdue collects how far the background loops are behind.
type overdue struct {
	cache *cached[map[string]time.Duration]
	desc  *prometheus.Desc
}

func newOverdue(found *cached[map[string]time.Duration]) overdue {
	return overdue{found, prometheus.NewDesc("paylatch_overdue_seconds",
		"Seconds that the longest overdue operation or parked event has been due.",
		[]string{"what"}, nil)}
}

// Describe implements prometheus.Collector.
func (o overdue) Describe(ch chan<- *prometheus.Desc) { ch <- o.desc }

// Collect implements prometheus.Collector. It adds the age of the cached value, so that an item that becomes due meanwhile
// counts as well.
func (o overdue) Collect(ch chan<- prometheus.Metric) {
	found, age, ok := o.cache.get()
	if !ok {
		return
	}
	for _, what := range []string{"operations", "events"} {
		late := time.Duration(0)
		if due, scheduled := found[what]; scheduled {
			late = max(0, due+age)
		}
		ch <- prometheus.MustNewConstMetric(o.desc, prometheus.GaugeValue, late.Seconds(), what)
	}
}
