package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChecksDontStarveCharges: a customer with 60 pending pays checks each again and again. This does not slow the charges of
// other customers, at an account whose provider takes ten calls a second.
func TestChecksDontStarveCharges(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve(fmt.Sprintf("PAYLATCH_ACCOUNTS=[{name: sandbox, kind: sandbox, base_url: %q, webhook_secrets: [%s], "+
		"breaker: {failures: 0}, rate_limit: {per_second: 10}}]", r.gate.URL, sandboxSecret))
	checker := s.as(token("u1", "customer"))
	checked := make([]string, 60)
	for i := range checked {
		checked[i] = checker.pay(t.Context(), checker.order(t), unique("pay"), "tok_never").attempt(t, http.StatusCreated).ID
	}

	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	var answered atomic.Int64
	for _, id := range checked {
		all.Go(func() {
			for ctx.Err() == nil {
				if checker.send(ctx, http.MethodPost, "/v1/payment-attempts/"+id+"/check", "").status == http.StatusOK {
					answered.Add(1)
				}
			}
		})
	}
	eventually(t, "each pending pay is checked", func() bool { return answered.Load() > int64(len(checked)) })
	for i := range 15 {
		other := s.as(token(fmt.Sprintf("other-%d", i), "customer")) // a database that is busy refuses a pay for now, a rate limit does not
		a := other.pay(t.Context(), other.order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated)
		require.Equal(t, "succeeded", a.Status, "the charge is made at once: %+v", a)
	}
}
