package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Pool is how the connections to the database are used.
type Pool struct {
	Acquired, Idle, Max int64
	// Waits counts the callers that found no idle connection, Waited is the time that they waited.
	Waits  int64
	Waited time.Duration
}

// connections collects how the connections are used.
type connections struct {
	read          func() Pool
	conns         *prometheus.Desc
	waits, waited *prometheus.Desc
}

func newConnections(read func() Pool) connections {
	return connections{
		read:   read,
		conns:  prometheus.NewDesc("paylatch_pool_connections", "Connections to the database by state: acquired and idle; max is the limit.", []string{"state"}, nil),
		waits:  prometheus.NewDesc("paylatch_pool_waits_total", "How often no connection was idle, so that the caller waited for a connection.", nil, nil),
		waited: prometheus.NewDesc("paylatch_pool_wait_seconds_total", "How long callers waited for a connection.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c connections) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.conns, c.waits, c.waited} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c connections) Collect(ch chan<- prometheus.Metric) {
	p := c.read()
	for state, n := range map[string]int64{"acquired": p.Acquired, "idle": p.Idle, "max": p.Max} {
		ch <- prometheus.MustNewConstMetric(c.conns, prometheus.GaugeValue, float64(n), state)
	}
	ch <- prometheus.MustNewConstMetric(c.waits, prometheus.CounterValue, float64(p.Waits))
	ch <- prometheus.MustNewConstMetric(c.waited, prometheus.CounterValue, p.Waited.Seconds())
}
