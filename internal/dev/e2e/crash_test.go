package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// underway is a pay without a response so far.
type underway struct {
	order, key string
	answer     chan answer
}

// begin sends a pay that will succeed and returns at once.
func (c client) begin(t *testing.T) underway {
	t.Helper()
	patient := client{base: c.base, token: c.token}
	u := underway{patient.order(t), unique("pay"), make(chan answer, 1)}
	go func() { u.answer <- c.pay(t.Context(), u.order, u.key, "tok_success") }()
	return u
}

// point is a place where a service dies during a pay. It returns once the service is there, with a function that lets the other
// programs go on.
type point func(t *testing.T, r *rig, s *service) (underway, func())

// beforeTheProvider: the call is on its way. It arrives after all, late.
func beforeTheProvider(t *testing.T, r *rig, s *service) (underway, func()) {
	t.Helper()
	held := r.hold(t, (*faults.Hold).Before)
	u := s.customer().begin(t)
	await(t, held)
	return u, held.Free
}

// neverAtTheProvider is beforeTheProvider, and the call is lost.
func neverAtTheProvider(t *testing.T, r *rig, s *service) (underway, func()) {
	t.Helper()
	u, _ := beforeTheProvider(t, r, s)
	return u, func() {}
}

// afterTheCharge: the response is on its way.
func afterTheCharge(t *testing.T, r *rig, s *service) (underway, func()) {
	t.Helper()
	return held(t, r, s.customer())
}

// held is a pay whose provider's response is on its way.
func held(t *testing.T, r *rig, c client) (underway, func()) {
	t.Helper()
	at := r.hold(t, (*faults.Hold).After)
	u := c.begin(t)
	await(t, at)
	return u, at.Free
}

// beforeTheSecondCommit: the service has the provider's response, and waits for a lock.
func beforeTheSecondCommit(t *testing.T, r *rig, s *service) (underway, func()) {
	t.Helper()
	u, free := afterTheCharge(t, r, s)
	tx, err := r.db.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT FROM payment_attempts WHERE order_id = $1 FOR UPDATE`, u.order)
	require.NoError(t, err)
	free()
	eventually(t, "the second commit", func() bool {
		return one[int](t, r, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	})
	return u, func() { rollback(t, tx) }
}

func rollback(t *testing.T, tx pgx.Tx) {
	t.Helper()
	require.NoError(t, tx.Rollback(t.Context()))
}

// TestKilledDuringAPay kills the service at each point between its two commits. The reconciler of the next service ends the
// attempt, and so does a client that sends the same request again, each without the other.
func TestKilledDuringAPay(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]point{
		"before the provider got it": beforeTheProvider,
		"the provider never got it":  neverAtTheProvider,
		"after it charged":           afterTheCharge,
		"after its answer":           beforeTheSecondCommit,
	} {
		for _, by := range []string{"reconciler", "retry"} {
			t.Run(name+", ended by the "+by, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.hooks.shut() // the webhook would tell the outcome
				s := r.serve()
				u, goOn := at(t, r, s)
				s.kill()
				said := <-u.answer
				require.True(t, said.err != nil || said.peek().Stage != "final", "the service ended it before it was killed: %s", said.text)
				goOn()

				every := "PAYLATCH_RECONCILE_EVERY=100ms"
				if by == "retry" {
					every = "PAYLATCH_RECONCILE_EVERY=1h"
				}
				r.leasesEnd(t)
				c := r.serve(every).customer()
				id := one[string](t, r, `SELECT attempt_id::text FROM payment_attempts WHERE order_id = $1`, u.order)
				if by == "retry" {
					again := c.pay(t.Context(), u.order, u.key, "tok_success")
					require.Equal(t, "succeeded", again.attempt(t, http.StatusCreated).Status)
					require.Equal(t, "reused", again.header.Get("Idempotency-Result"))
				}
				end := c.settled(t, id)
				require.Equal(t, "succeeded", end.Status)
				r.charged(t, id, 1999)
				r.told(t, end)

				again := c.pay(t.Context(), u.order, u.key, "tok_success")
				require.Equal(t, id, again.attempt(t, http.StatusCreated).ID)
				c.pay(t.Context(), u.order, unique("pay"), "tok_success").problem(t, http.StatusConflict, "order-already-paid")
				require.Empty(t, column[string](t, r, `SELECT kind FROM discrepancies`))
				r.hooks.Mend()
				eventually(t, "the webhook, at last", func() bool { return len(r.hooks.acknowledged()) > 0 })
				require.Equal(t, end.Version, c.read(t.Context(), id).attempt(t, http.StatusOK).Version)
			})
		}
	}
}

// TestKilledBeforeTheFirstCommit: nothing happened, and the retry is the first.
func TestKilledBeforeTheFirstCommit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	c := s.customer()
	order, key := c.order(t), unique("pay")
	tx, err := r.db.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT FROM orders WHERE order_id = $1 FOR UPDATE`, order)
	require.NoError(t, err)
	done := make(chan answer, 1)
	go func() { done <- c.pay(t.Context(), order, key, "tok_success") }()
	eventually(t, "the first commit", func() bool {
		return one[int](t, r, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	})
	s.kill()
	require.Error(t, (<-done).err)
	rollback(t, tx)

	c = r.serve().customer()
	again := c.pay(t.Context(), order, key, "tok_success")
	again.result(t, "created")
	r.charged(t, again.attempt(t, http.StatusCreated).ID, 1999)
	require.Equal(t, int64(1), r.gate.Count(charges))
}

// TestSealedTokenIsErased: the token of a charge that may not be sent again is erased, whatever the result of the charge.
func TestSealedTokenIsErased(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.hooks.shut()
	s := r.serve()
	neverAtTheProvider(t, r, s)
	s.kill()
	sealed := func() int { return one[int](t, r, `SELECT count(*) FROM sealed_requests`) }
	require.Equal(t, 1, sealed())
	r.exec(t, `UPDATE sealed_requests SET created_at = created_at - interval '11 minutes'`)
	r.serve("PAYLATCH_RECONCILE_EVERY=1h")
	require.Eventually(t, func() bool { return sealed() == 0 }, soon, time.Second)
}
