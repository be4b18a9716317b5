package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Reader is how far a reader of the feed is.
type Reader struct {
	// Behind counts the events after its cursor.
	Behind int64
	// Since is how long ago it read.
	Since time.Duration
}

// readers collects how far the readers of the feed are.
type readers struct {
	list          func() map[string]Reader
	behind, since *prometheus.Desc
}

func newReaders(list func() map[string]Reader) readers {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("paylatch_feed_reader_"+name, help, []string{"reader"}, nil)
	}
	return readers{
		list:   list,
		behind: desc("behind_events", "Events, of any type, after the last cursor that a reader of the feed sent to this process."),
		since:  desc("seconds_since_read", "Seconds since a reader of the feed last read from this process."),
	}
}

// Describe implements prometheus.Collector.
func (r readers) Describe(ch chan<- *prometheus.Desc) {
	ch <- r.behind
	ch <- r.since
}

// Collect implements prometheus.Collector.
func (r readers) Collect(ch chan<- prometheus.Metric) {
	for name, one := range r.list() {
		ch <- prometheus.MustNewConstMetric(r.behind, prometheus.GaugeValue, float64(one.Behind), name)
		ch <- prometheus.MustNewConstMetric(r.since, prometheus.GaugeValue, one.Since.Seconds(), name)
	}
}
