package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reconciled collects for how long accounts have had no finished daily reconciliation.
type reconciled struct {
	cache *cached[map[string]time.Duration]
	desc  *prometheus.Desc
}

func newReconciled(found *cached[map[string]time.Duration]) reconciled {
	return reconciled{found, prometheus.NewDesc("paylatch_reconcile_age_seconds",
		"Seconds since an account's last finished daily reconciliation with its provider's books. Accounts without a first reconciliation are left out.",
		[]string{"account"}, nil)}
}

// Describe implements prometheus.Collector.
func (r reconciled) Describe(ch chan<- *prometheus.Desc) { ch <- r.desc }

// Collect implements prometheus.Collector.
func (r reconciled) Collect(ch chan<- prometheus.Metric) {
	found, age, ok := r.cache.get()
	if !ok {
		return
	}
	for account, old := range found {
		ch <- prometheus.MustNewConstMetric(r.desc, prometheus.GaugeValue, (old + age).Seconds(), account)
	}
}
