package e2e_test

import (
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplicas runs several processes on one database under load. It kills a process that serves and a process that works, and
// freezes another for longer than its leases.
func TestReplicas(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	short := []string{"PAYLATCH_IDEMPOTENCY_LEASE=2s", "PAYLATCH_PROVIDER_TIMEOUT=1500ms"}
	dies, frozen, stays := r.serve(short...), r.serve(short...), r.serve(short...)
	worker, spare := r.serveRole("worker", short...), r.serveRole("worker", short...)
	loads := []*load{newLoad(t, dies), newLoad(t, frozen), newLoad(t, stays)}
	for _, l := range loads {
		l.run(t, 2)
	}
	some := func(l *load, n int) {
		t.Helper()
		before := l.counts()
		eventually(t, "some load", func() bool { return l.counts() > before+n })
	}
	some(loads[0], 50)
	some(loads[1], 50)
	frozen.signal(syscall.SIGSTOP)
	dies.kill()
	worker.kill()
	// The remaining processes take over the others' work meanwhile: a lease is two seconds.
	begun := column[string](t, r, `SELECT attempt_id::text FROM payment_attempts WHERE status = 'pending'`)
	t.Logf("%d attempts were under way", len(begun))
	some(loads[2], 50)
	eventually(t, "an end of what the others began", func() bool {
		return one[int](t, r, `SELECT count(*) FROM payment_attempts WHERE status = 'pending' AND attempt_id = ANY ($1::uuid[])`, begun) == 0
	})
	frozen.signal(syscall.SIGCONT)
	some(loads[1], 20)
	for _, l := range loads {
		l.stop()
	}
	for _, l := range loads {
		l.service = stays
	}
	loads[2].kept(t, r)
	r.consistent(t)
	r.verifies(t)
	code, _ := spare.stop(t, syscall.SIGTERM)
	require.Zero(t, code)
}

// TestRoles: one process serves the API and does no due work; the other does the due work and serves no API.
func TestRoles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.hooks.shut()
	s := r.serveRole("api")
	c := s.customer()
	a := c.pay(t.Context(), c.order(t), unique("pay"), "tok_async_success").attempt(t, http.StatusCreated)
	require.Equal(t, "pending", a.Status)
	due := func() int {
		return one[int](t, r, `SELECT count(*) FROM payment_attempts WHERE status = 'pending' AND created_at < now() - interval '3 seconds'`)
	}
	eventually(t, "what is due stays", func() bool { return due() == 1 })

	w := r.serveRole("worker")
	w.ready(t)
	require.Equal(t, http.StatusNotFound, w.bluntly(token("u1", "customer")).send(t.Context(), http.MethodGet, "/v1/payment-attempts/"+a.ID, "").status)
	require.Equal(t, "succeeded", c.settled(t, a.ID).Status)
}
