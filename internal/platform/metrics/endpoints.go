package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Endpoint is how far the deliveries to an endpoint are.
type Endpoint struct {
	// Behind counts the events after its cursor, Retries the events that wait for another try, Dead the events that were given
	// up.
	Behind, Retries, Dead int64
	// Oldest is the age of the oldest undelivered event; 0 if there is no such event.
	Oldest time.Duration
	// Gone is set after it answered 410.
	Gone bool
}

// endpoints collects how far the endpoints are.
type endpoints struct {
	cache                               *cached[map[string]Endpoint]
	behind, retries, dead, oldest, gone *prometheus.Desc
}

func newEndpoints(found *cached[map[string]Endpoint]) endpoints {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("paylatch_endpoint_"+name, help, []string{"endpoint"}, nil)
	}
	return endpoints{
		cache:   found,
		behind:  desc("behind_events", "Events, of any type, after the cursor of an endpoint."),
		retries: desc("retries", "Events that wait for a retry, or for an earlier event of their subject."),
		dead:    desc("dead_letters", "Events that were given up after the schedule's last try."),
		oldest:  desc("oldest_undelivered_seconds", "The age of the oldest event that is neither delivered nor given up."),
		gone:    desc("gone", "1 after an endpoint answered 410; paylatch sends it no events."),
	}
}

// Describe implements prometheus.Collector.
func (e endpoints) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{e.behind, e.retries, e.dead, e.oldest, e.gone} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (e endpoints) Collect(ch chan<- prometheus.Metric) {
	found, age, _ := e.cache.get()
	for name, one := range found {
		gauge := func(d *prometheus.Desc, v float64) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, name)
		}
		gauge(e.behind, float64(one.Behind))
		gauge(e.retries, float64(one.Retries))
		gauge(e.dead, float64(one.Dead))
		oldest, gone := time.Duration(0), 0.0
		if one.Oldest > 0 {
			oldest = one.Oldest + age
		}
		if one.Gone {
			gone = 1
		}
		gauge(e.oldest, oldest.Seconds())
		gauge(e.gone, gone)
	}
}
