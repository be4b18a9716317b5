package metrics

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Disputed is the number of an account's open disputes, and the seconds until the first due date of the disputes that wait for
// an answer: negative if it has passed, +Inf if there is no date.
type Disputed struct {
	Open int64
	Due  float64
}

// disputes collects the open disputes by account.
type disputes struct {
	cache *cached[map[string]Disputed]
	open  *prometheus.Desc
	due   *prometheus.Desc
}

func newDisputes(found *cached[map[string]Disputed]) disputes {
	return disputes{
		cache: found,
		open:  prometheus.NewDesc("paylatch_disputes_open", "Disputes that the provider has not decided.", []string{"account"}, nil),
		due: prometheus.NewDesc("paylatch_dispute_due_seconds",
			"Seconds until the earliest deadline of the disputes that wait for a response; below 0 for a week after a missed deadline.", []string{"account"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (d disputes) Describe(ch chan<- *prometheus.Desc) {
	ch <- d.open
	ch <- d.due
}

// Collect implements prometheus.Collector. A date comes nearer while the value is cached.
func (d disputes) Collect(ch chan<- prometheus.Metric) {
	found, age, _ := d.cache.get()
	for account, disputed := range found {
		ch <- prometheus.MustNewConstMetric(d.open, prometheus.GaugeValue, float64(disputed.Open), account)
		if !math.IsInf(disputed.Due, 0) {
			ch <- prometheus.MustNewConstMetric(d.due, prometheus.GaugeValue, disputed.Due-age.Round(time.Millisecond).Seconds(), account)
		}
	}
}
