package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestRelease(t *testing.T) {
	t.Parallel()
	t.Run("hold_after_the_failure", releaseHoldAfterTheFailure)
	t.Run("failure_overtaken_by_the_hold", releaseFailureOvertakenByTheHold)
	t.Run("refused_opens_a_discrepancy", releaseRefusedOpensADiscrepancy)
	t.Run("without_a_lookup_opens_a_discrepancy", releaseWithoutALookupOpensADiscrepancy)
	t.Run("hold_that_is_over", releaseHoldThatIsOver)
	t.Run("hold_that_was_captured", releaseHoldThatWasCaptured)
	t.Run("hold_during_a_lookup", releaseHoldDuringALookup)
	t.Run("key_of_each_hold", releaseKeyOfEachHold)
	t.Run("soft_failure_after_the_failure", releaseSoftFailureAfterTheFailure)
	t.Run("held_back_counts_no_check", releaseHeldBackCountsNoCheck)
	t.Run("refused_afterwards_opens_a_discrepancy", releaseRefusedAfterwardsOpensADiscrepancy)
	t.Run("overtaken_lookup_ends_nothing", releaseOvertakenLookupEndsNothing)
}

// heldLate is an attempt that failed long ago, with a hold that is reported now.
func heldLate(t *testing.T, p *answering) (*env, payment.AttemptID) {
	t.Helper()
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_decline").ID
	r.longAgo(t, id, 3*24*time.Hour)
	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	return r, id
}

// A hold that is reported after the failure is looked up and released: it would never be
// captured.
func releaseHoldAfterTheFailure(t *testing.T) {
	t.Parallel()
	p := &answering{cancel: says(fsm.EventFailed)}
	r, id := heldLate(t, p)
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []payment.AttemptID{id}, due)

	require.Equal(t, declined, standingOf(r.recheck(t, id).Attempt))
	require.EqualValues(t, 1, p.lookups.Load())
	require.Zero(t, p.cancels.Load(), "older news: there is nothing to give up")
	require.Nil(t, r.attempt(t, id).NextCheckAt)

	p.lookup = says(fsm.EventAuthorized)
	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	require.Equal(t, declined, standingOf(r.recheck(t, id).Attempt))
	require.EqualValues(t, 1, p.cancels.Load())
	a := r.attempt(t, id)
	require.Nil(t, a.NextCheckAt)
	require.Nil(t, a.LeaseUntil)
	require.Equal(t, payment.OperationKind(""), a.Intent.Kind)
	require.Zero(t, a.OnHold())
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.ledger(t))
}

// The older of a failure and a hold may arrive last, by any report. The failed payment is looked up in either order.
func releaseFailureOvertakenByTheHold(t *testing.T) {
	t.Parallel()
	for name, overtaken := range map[string]func(t *testing.T, r *env, p *answering) payment.AttemptID{
		"a webhook": func(t *testing.T, r *env, _ *answering) payment.AttemptID {
			t.Helper()
			id := r.tried(t, "tok_never", payment.CaptureManual)
			require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
			require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindFailed))
			return id
		},
		"the answer to the pay": func(t *testing.T, r *env, _ *answering) payment.AttemptID {
			t.Helper()
			r.order(t, "A-1")
			slow := r.freeze(t, false)
			id := slow.pay(t, "A-1", "tok_decline")
			require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
			slow.wake(0, 0)
			return id
		},
		"the answer to a cancellation": func(t *testing.T, r *env, p *answering) payment.AttemptID {
			t.Helper()
			id := r.tried(t, "tok_never", payment.CaptureManual)
			p.cancel = func() (gateway.Outcome, error) {
				p.cancel = says(fsm.EventFailed)
				require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
				return gateway.Outcome{Event: fsm.EventFailed}, nil
			}
			_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
			require.NoError(t, err)
			p.cancels.Store(0)
			return id
		},
		"the answer to a question": func(t *testing.T, r *env, p *answering) payment.AttemptID {
			t.Helper()
			id := r.tried(t, "tok_never", payment.CaptureManual)
			p.lookup = func() (gateway.Outcome, error) {
				p.lookup = says(fsm.EventAuthorized)
				require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
				return gateway.Outcome{Event: fsm.EventFailed}, nil
			}
			r.recheck(t, id)
			return id
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &answering{lookup: says(fsm.EventAuthorized), cancel: says(fsm.EventFailed)}
			r := newEnv(t, setup{silent: true, provider: p.on})
			id := overtaken(t, r, p)
			require.True(t, r.attempt(t, id).Failed())
			due, err := r.Due(t.Context(), 10)
			require.NoError(t, err)
			require.Equal(t, []payment.AttemptID{id}, due)
			r.recheck(t, id)
			require.EqualValues(t, 1, p.cancels.Load())
			require.Nil(t, r.attempt(t, id).NextCheckAt)
			require.Empty(t, r.discrepancies(t, id))
		})
	}
}

func releaseRefusedOpensADiscrepancy(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*answering{
		"the provider refuses": {cancel: func() (gateway.Outcome, error) {
			return gateway.Outcome{Event: fsm.EventAuthorized, Refused: true}, nil
		}},
		"it can't":         {can: func(c *payment.Capabilities) { c.Cancels = payment.CancelsNone }},
		"it never answers": {cancel: func() (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.lookup = says(fsm.EventAuthorized)
			r, id := heldLate(t, p)
			for range 12 {
				r.recheck(t, id)
			}
			require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
			require.Nil(t, r.attempt(t, id).NextCheckAt)
			require.Equal(t, declined, standingOf(r.attempt(t, id).Attempt))
		})
	}
}

// An outage does not use the schedule of a release up either, and one without an end opens a
// discrepancy.
func releaseWithoutALookupOpensADiscrepancy(t *testing.T) {
	t.Parallel()
	p := &answering{lookup: func() (gateway.Outcome, error) { return gateway.Outcome{}, errHeldBack }}
	r, id := heldLate(t, p)
	for range 12 {
		r.recheck(t, id)
	}
	require.Empty(t, r.discrepancies(t, id))
	require.NotNil(t, r.attempt(t, id).NextCheckAt)
	r.exec(t, "UPDATE operations SET created_at = created_at - interval '3 days', first_sent_at = first_sent_at - interval '3 days' WHERE kind IN ('capture', 'cancel')")
	r.recheck(t, id)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Nil(t, r.attempt(t, id).NextCheckAt)
}

// A hold that is reported as over is not looked up, after any outage; the next hold is.
func releaseHoldThatIsOver(t *testing.T) {
	t.Parallel()
	p := &answering{lookup: func() (gateway.Outcome, error) { return gateway.Outcome{}, errHeldBack }}
	r, id := heldLate(t, p)
	r.over(t, id, time.Now().Add(time.Minute))
	r.recheck(t, id)
	require.Empty(t, r.discrepancies(t, id))
	require.NotNil(t, r.attempt(t, id).NextCheckAt)

	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	r.exec(t, "UPDATE operations SET created_at = created_at - interval '3 days', first_sent_at = first_sent_at - interval '3 days' WHERE kind IN ('capture', 'cancel')")
	r.recheck(t, id)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
}

// The hold of a failed attempt that turns out to be captured is late money, which is not
// refunded unless that is requested.
func releaseHoldThatWasCaptured(t *testing.T) {
	t.Parallel()
	p := &answering{}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_late_success").ID
	r.say(t, id, webhooks.KindAuthorized)
	require.Eventually(t, func() bool { return len(r.ledger(t)) == 1 }, waitFor, tick)
	r.recheck(t, id)
	require.Equal(t, []string{"late_success"}, r.discrepancies(t, id))
	require.Zero(t, p.cancels.Load())
	require.EqualValues(t, price, r.attempt(t, id).Held())
	require.Nil(t, r.attempt(t, id).NextCheckAt)
}
