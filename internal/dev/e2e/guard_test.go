package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// TestAProviderThatFailsIsSpared: after some failures new payments get at once the response that nothing was sent, and the next
// call finds out when the provider is back.
func TestAProviderThatFailsIsSpared(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.serve("PAYLATCH_PROVIDER_TIMEOUT=2s", "PAYLATCH_ACCOUNTS=[{name: sandbox, kind: sandbox, base_url: '"+r.gate.URL+
		"', webhook_secrets: ["+sandboxSecret+"], breaker: {failures: 3, open_for: 10s}}]").customer()
	state := func(is string) func() bool {
		return func() bool {
			a := c.send(t.Context(), http.MethodGet, "/metrics", "")
			return strings.Contains(string(a.text), `paylatch_provider_breaker_state{account="sandbox"} `+is+"\n")
		}
	}
	require.True(t, state("0")())
	r.gate.Break(faults.Hang)
	first := c.pay(t.Context(), c.order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated)
	require.Equal(t, "outcome_unknown", first.Stage)
	eventually(t, "an open breaker", state("2"))
	orders := make([]string, 5)
	for i := range orders {
		orders[i] = c.order(t)
	}
	eventually(t, "a pay that is not sent", func() bool { // the first one may be let through to see, and on a busy machine the next one, too
		held := 0
		for _, a := range atOnce(len(orders), func(i int) answer { return c.pay(t.Context(), orders[i], unique("pay"), "tok_success") }) {
			if a.peekProblem().Code == "payment-in-progress" { // it was let through the last time
				continue
			}
			if got := a.attempt(t, http.StatusCreated); got.Status == "failed" {
				require.Equal(t, "not_started", got.Failure.Code)
				require.True(t, got.CanStartNew)
				held++
			}
		}
		return held > 0
	})
	require.Equal(t, http.StatusOK, c.send(t.Context(), http.MethodGet, "/readyz", "").status, "the service itself is well")
	r.gate.Mend()
	require.Equal(t, "succeeded", c.settled(t, first.ID).Status)
	eventually(t, "a closed breaker", func() bool {
		// A webhook may have settled the first payment; then no lookup is needed.
		c.pay(t.Context(), c.order(t), unique("pay"), "tok_success")
		return state("0")()
	})
	r.charged(t, first.ID, 1999)
}
