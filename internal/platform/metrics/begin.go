package metrics

import (
	"net/http"
	"strconv"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Prometheus computes the increase of a counter from the values that it has read. If a series begins with its first events, the increase
// lacks these events. So the series of rare events that have alerts begin at 0.

// begin starts the series that have fixed labels at 0.
func (m *Metrics) begin(o Options) {
	for _, k := range payment.DiscrepancyKinds() {
		m.opened.WithLabelValues(k)
	}
	m.requests.WithLabelValues(http.MethodGet, "/readyz", strconv.Itoa(http.StatusServiceUnavailable))
	for _, action := range o.Refusals {
		m.refusedAccess.WithLabelValues(action)
	}
}

// Commands starts the series of operations that take an idempotency key at 0.
func (m *Metrics) Commands(operations []string) {
	for _, operation := range operations {
		for _, result := range []KeyResult{KeyTakeover, KeyReused, KeyInProgress, KeyConflict} {
			m.commands.WithLabelValues(operation, string(result))
		}
	}
}

// Receives starts the series of an account's rare webhooks at 0.
func (m *Metrics) Receives(account string) {
	for _, v := range []fsm.Verdict{fsm.Conflict, payment.VerdictUnmatched, payment.VerdictDuplicate} {
		m.webhooks.WithLabelValues(account, string(v))
	}
	m.refused.WithLabelValues(account, "webhook-signature-invalid")
}
