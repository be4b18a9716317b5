package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// PublishedTo is how far the events are published to a stream of a broker.
type PublishedTo struct {
	// Behind counts the events after its cursor.
	Behind int64
	// Oldest is the age of the oldest unpublished event; 0 if there is no such event.
	Oldest time.Duration
	// Failing is set from a failure of the broker to its next success.
	Failing bool
}

// streams collects how far the streams are.
type streams struct {
	cache                   *cached[map[string]PublishedTo]
	behind, oldest, failing *prometheus.Desc
}

func newStreams(found *cached[map[string]PublishedTo]) streams {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("paylatch_stream_"+name, help, []string{"stream"}, nil)
	}
	return streams{
		cache:   found,
		behind:  desc("behind_events", "Events after the cursor of a stream."),
		oldest:  desc("oldest_unpublished_seconds", "The age of the oldest event that a stream's broker has not acknowledged."),
		failing: desc("failing", "1 from a failure of a stream's broker to its next success."),
	}
}

// Describe implements prometheus.Collector.
func (s streams) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.behind, s.oldest, s.failing} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s streams) Collect(ch chan<- prometheus.Metric) {
	found, age, _ := s.cache.get()
	for name, one := range found {
		gauge := func(d *prometheus.Desc, v float64) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, name)
		}
		oldest, failing := time.Duration(0), 0.0
		if one.Oldest > 0 {
			oldest = one.Oldest + age
		}
		if one.Failing {
			failing = 1
		}
		gauge(s.behind, float64(one.Behind))
		gauge(s.oldest, oldest.Seconds())
		gauge(s.failing, failing)
	}
}
