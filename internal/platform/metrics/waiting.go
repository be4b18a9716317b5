package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Waiting is how many discrepancies of a kind are open, and the age of the oldest.
type Waiting struct {
	Count  int64
	Oldest time.Duration
}

// waiting collects the open discrepancies.
type waiting struct {
	cache  *cached[map[string]Waiting]
	open   *prometheus.Desc
	oldest *prometheus.Desc
}

func newWaiting(found *cached[map[string]Waiting]) waiting {
	return waiting{
		cache: found,
		open:  prometheus.NewDesc("paylatch_discrepancies_open", "Discrepancies that are not resolved.", []string{"kind"}, nil),
		oldest: prometheus.NewDesc("paylatch_discrepancies_oldest_seconds",
			"How long the oldest open discrepancy of a kind has been waiting for a person.", []string{"kind"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (w waiting) Describe(ch chan<- *prometheus.Desc) {
	ch <- w.open
	ch <- w.oldest
}

// Collect implements prometheus.Collector.
func (w waiting) Collect(ch chan<- prometheus.Metric) {
	found, age, _ := w.cache.get()
	for kind, waiting := range found {
		ch <- prometheus.MustNewConstMetric(w.open, prometheus.GaugeValue, float64(waiting.Count), kind)
		ch <- prometheus.MustNewConstMetric(w.oldest, prometheus.GaugeValue, (waiting.Oldest + age).Seconds(), kind)
	}
}
