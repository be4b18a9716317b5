package metrics

import "github.com/prometheus/client_golang/prometheus"

// held collects the accounts whose pays and refunds wait.
type held struct {
	accounts func() []string
	desc     *prometheus.Desc
}

func newHeld(accounts func() []string) held {
	return held{accounts, prometheus.NewDesc("paylatch_pays_held",
		"1 while the account's pays and refunds wait for a reconciliation, because the restored database may have lost some.", []string{"account"}, nil)}
}

// Describe implements prometheus.Collector.
func (h held) Describe(ch chan<- *prometheus.Desc) { ch <- h.desc }

// Collect implements prometheus.Collector.
func (h held) Collect(ch chan<- prometheus.Metric) {
	for _, account := range h.accounts() {
		ch <- prometheus.MustNewConstMetric(h.desc, prometheus.GaugeValue, 1, account)
	}
}
