package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// paysBeside has a customer pay by a webhook, and returns how many of the requests were refused for now.
func (s *service) paysBeside(t *testing.T) (refusals int) {
	t.Helper()
	c := s.customer()
	noted := func(a answer) answer {
		if a.repeated {
			refusals++
		}
		return a
	}
	order := unique("o")
	noted(c.createOrder(t.Context(), order, unique("key"))).is(t, http.StatusCreated)
	a := noted(c.pay(t.Context(), order, unique("pay"), "tok_async_success")).attempt(t, http.StatusCreated)
	eventually(t, "the webhook decides it", func() bool {
		return noted(c.read(t.Context(), a.ID)).attempt(t, http.StatusOK).Status == "succeeded"
	})
	noted(c.send(t.Context(), http.MethodGet, "/readyz", "")).is(t, http.StatusOK)
	return refusals
}

// TestListsDontStopPays: searches of twelve clerks that hang leave pays, webhooks and /readyz their connections. On the connections
// of the pays they would take all of them.
func TestListsDontStopPays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	conn, err := pgx.Connect(t.Context(), r.dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	hang, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = hang.Exec(t.Context(), "LOCK TABLE search_orders, search_payments IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	var answered atomic.Int64
	for i := range 12 {
		by := s.bluntly(token(fmt.Sprintf("clerk-%d", i), "support"))
		all.Go(func() {
			for ctx.Err() == nil {
				if by.send(ctx, http.MethodGet, "/v1/support/search?q=alpha", "").status == http.StatusOK {
					answered.Add(1)
				}
			}
		})
	}
	eventually(t, "searches hang", func() bool {
		return one[int](t, r, `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) >= 2
	})
	// If searches took all connections, every try would have a refused pay. A busy machine alone refuses a pay in some tries.
	eventually(t, "twelve pays without a refusal for now", func() bool {
		refusals := 0
		for range 12 {
			refusals += s.paysBeside(t)
		}
		return refusals == 0
	})
	require.Zero(t, answered.Load(), "the searches hang all the while")
}
