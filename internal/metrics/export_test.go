package metrics

import "github.com/prometheus/client_golang/prometheus"

// Gatherer is what is served.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }
