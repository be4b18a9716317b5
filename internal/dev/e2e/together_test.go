package e2e_test

import (
	"context"
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// TestEverybodyAtOnceAfterACrash runs two services' reconcilers, the webhook and many retries at once on an attempt whose runner
// died after the charge.
func TestEverybodyAtOnceAfterACrash(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.hooks.shut()
	s := r.serve("PAYLATCH_IDEMPOTENCY_LEASE=21m", "PAYLATCH_PROVIDER_TIMEOUT=20m")
	var dead []underway
	for range 8 {
		u, free := afterTheCharge(t, r, s)
		t.Cleanup(free)
		dead = append(dead, u)
	}
	s.kill()
	r.leasesEnd(t)
	fast := []string{"PAYLATCH_RECONCILE_EVERY=10ms", "PAYLATCH_IDEMPOTENCY_LEASE=1s", "PAYLATCH_PROVIDER_TIMEOUT=900ms"}
	machines := []client{r.serve(fast...).customer(), r.serve(fast...).customer()}
	r.hooks.Mend()
	for _, u := range dead {
		<-u.answer
		var id string
		for _, a := range atOnce(20, func(i int) answer { return machines[i%2].pay(t.Context(), u.order, u.key, "tok_success") }) {
			got := a.attempt(t, http.StatusCreated).ID
			require.Contains(t, []string{"", got}, id)
			id = got
		}
		end := machines[0].settled(t, id)
		require.Equal(t, "succeeded", end.Status)
		r.charged(t, id, 1999)
		r.told(t, end)
	}
	require.Empty(t, column[string](t, r, `SELECT kind FROM discrepancies`))
}

// TestTheClientHangsUp: from the first commit on, the client's connection does not matter.
func TestTheClientHangsUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.hooks.shut()
	c := r.serve("PAYLATCH_PROVIDER_TIMEOUT=20m", "PAYLATCH_IDEMPOTENCY_LEASE=21m").customer()
	held := r.hold(t, (*faults.Hold).After)
	order, key := c.order(t), unique("pay")
	impatient, hangUp := context.WithCancel(t.Context())
	first := make(chan answer, 1)
	go func() { first <- c.pay(impatient, order, key, "tok_success") }()
	await(t, held)
	hangUp()
	require.ErrorIs(t, (<-first).err, context.Canceled)
	copied := make(chan answer, 1)
	go func() { copied <- c.pay(t.Context(), order, key, "tok_success") }()
	held.Free()
	a := (<-copied).attempt(t, http.StatusCreated)
	require.Equal(t, "succeeded", a.Status)
	r.charged(t, a.ID, 1999)
	require.Equal(t, int64(1), r.gate.Count(charges))
}

// TestProviderDown: a charge that was never sent has failed, and may be tried again.
func TestProviderDown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.serveAt("http://" + testdb.Address(t)).customer()
	order := c.order(t)
	for range 2 {
		a := c.pay(t.Context(), order, unique("pay"), "tok_success").attempt(t, http.StatusCreated)
		require.Equal(t, "failed", a.Status)
		require.Equal(t, "not_started", a.Failure.Code)
		require.True(t, a.CanStartNew)
		r.told(t, a)
	}
	require.Empty(t, r.movements(t))
}

// TestStopWhileTheProviderHangs: a backlog of checks does not delay the stop, and a missing response does not count as a
// failure.
func TestStopWhileTheProviderHangs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.gate.Break(faults.Hang)
	s := r.serve("PAYLATCH_PROVIDER_TIMEOUT=5s", "PAYLATCH_RECONCILE_AFTER=10ms")
	c := s.customer()
	orders := make([]string, 60)
	for i := range orders {
		orders[i] = c.order(t)
	}
	for _, a := range atOnce(len(orders), func(i int) answer { return c.pay(t.Context(), orders[i], unique("pay"), "tok_success") }) {
		require.Equal(t, "outcome_unknown", a.attempt(t, http.StatusCreated).Stage)
	}
	eventually(t, "checks", func() bool { return r.gate.Count(charges) > int64(len(orders))+16 })
	code, took := s.stop(t, syscall.SIGTERM)
	require.Zero(t, code)
	require.Less(t, took, stopLimit, "only the checks under way are waited for")

	r.gate.Mend()
	r.leasesEnd(t)
	r.serve()
	r.consistent(t)
	require.Len(t, r.movements(t), len(orders))
}
