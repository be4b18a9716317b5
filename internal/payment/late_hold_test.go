package payment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// heldLate is an attempt that failed long ago, and of which a hold is told now.
func heldLate(t *testing.T, p *answering) (*rig, payment.AttemptID) {
	t.Helper()
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_decline").ID
	r.longAgo(t, id, 3*24*time.Hour)
	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	return r, id
}

// A hold that is told of after the failure is looked up and given up: nobody will
// ever capture it.
func TestALateHoldIsGivenUp(t *testing.T) {
	t.Parallel()
	p := &answering{cancel: says(fsm.NewsFailed)}
	r, id := heldLate(t, p)
	version := r.attempt(t, id).Version
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []payment.AttemptID{id}, due)

	require.Equal(t, declined, standingOf(r.recheck(t, id).Attempt))
	require.EqualValues(t, 1, p.lookups.Load())
	require.Zero(t, p.cancels.Load(), "older news: there is nothing to give up")
	require.Nil(t, r.attempt(t, id).NextCheckAt)

	p.lookup = says(fsm.NewsAuthorized)
	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	require.Equal(t, declined, standingOf(r.recheck(t, id).Attempt))
	require.EqualValues(t, 1, p.cancels.Load())
	a := r.attempt(t, id)
	require.Nil(t, a.NextCheckAt)
	require.Nil(t, a.LeaseUntil)
	require.Equal(t, payment.IntentNone, a.Intent.Kind)
	require.Equal(t, version, a.Version)
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.ledger(t))
}

// Of a failure and a hold the older may arrive last, whoever brings it: what has
// failed is looked up in either order.
func TestAFailureThatWasOvertakenByTheHoldLeavesNoHold(t *testing.T) {
	t.Parallel()
	for name, overtaken := range map[string]func(t *testing.T, r *rig, p *answering) payment.AttemptID{
		"a webhook": func(t *testing.T, r *rig, _ *answering) payment.AttemptID {
			t.Helper()
			id := r.tried(t, "tok_never", payment.CaptureManual)
			require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
			require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindFailed))
			return id
		},
		"the answer to the pay": func(t *testing.T, r *rig, _ *answering) payment.AttemptID {
			t.Helper()
			r.order(t, "A-1")
			slow := r.freeze(t, false)
			id := slow.pay(t, "A-1", "tok_decline")
			require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
			slow.wake(0, 0)
			return id
		},
		"the answer to a cancellation": func(t *testing.T, r *rig, p *answering) payment.AttemptID {
			t.Helper()
			id := r.tried(t, "tok_never", payment.CaptureManual)
			p.cancel = func() (payment.Outcome, error) {
				p.cancel = says(fsm.NewsFailed)
				require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
				return payment.Outcome{News: fsm.NewsFailed}, nil
			}
			_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
			require.NoError(t, err)
			p.cancels.Store(0)
			return id
		},
		"the answer to a question": func(t *testing.T, r *rig, p *answering) payment.AttemptID {
			t.Helper()
			id := r.tried(t, "tok_never", payment.CaptureManual)
			p.lookup = func() (payment.Outcome, error) {
				p.lookup = says(fsm.NewsAuthorized)
				require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
				return payment.Outcome{News: fsm.NewsFailed}, nil
			}
			r.recheck(t, id)
			return id
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &answering{lookup: says(fsm.NewsAuthorized), cancel: says(fsm.NewsFailed)}
			r := newRig(t, setup{silent: true, provider: p.on})
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

func TestALateHoldThatStaysIsADiscrepancy(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*answering{
		"the provider refuses": {cancel: func() (payment.Outcome, error) { return payment.Outcome{News: fsm.NewsAuthorized, Refused: true}, nil }},
		"it can't":             {can: func(c *payment.Capabilities) { c.Cancel = false }},
		"it never answers":     {cancel: func() (payment.Outcome, error) { return payment.Outcome{}, errNoAnswer }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.lookup = says(fsm.NewsAuthorized)
			r, id := heldLate(t, p)
			for range 12 {
				r.recheck(t, id)
			}
			require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
			require.Nil(t, r.attempt(t, id).NextCheckAt)
			require.Equal(t, declined, standingOf(r.attempt(t, id)))
		})
	}
}

// An outage does not use its schedule up either, and one without an end is seen.
func TestALateHoldThatCantBeAskedAboutIsADiscrepancy(t *testing.T) {
	t.Parallel()
	p := &answering{lookup: func() (payment.Outcome, error) { return payment.Outcome{}, errHeldBack }}
	r, id := heldLate(t, p)
	for range 12 {
		r.recheck(t, id)
	}
	require.Empty(t, r.discrepancies(t, id))
	require.NotNil(t, r.attempt(t, id).NextCheckAt)
	r.exec(t, "UPDATE payment_attempts SET intent_at = intent_at - interval '3 days'")
	r.recheck(t, id)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Nil(t, r.attempt(t, id).NextCheckAt)
}

// Of one that is told to be over nobody is asked, whatever the outage; of the next one
// somebody is.
func TestALateHoldThatIsOverIsNoDiscrepancy(t *testing.T) {
	t.Parallel()
	p := &answering{lookup: func() (payment.Outcome, error) { return payment.Outcome{}, errHeldBack }}
	r, id := heldLate(t, p)
	r.over(t, id, time.Now().Add(time.Minute))
	r.recheck(t, id)
	require.Empty(t, r.discrepancies(t, id))
	require.NotNil(t, r.attempt(t, id).NextCheckAt)

	number := r.attempt(t, id).Intent.Number
	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	require.NotEqual(t, number, r.attempt(t, id).Intent.Number, "under the key of the first one nothing is given up anew")
	r.exec(t, "UPDATE payment_attempts SET intent_at = intent_at - interval '3 days'")
	r.recheck(t, id)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
}

// The hold of a failed attempt that turns out to be a charge is late money, which
// nobody gives back unasked.
func TestALateHoldThatWasTakenIsALateSuccess(t *testing.T) {
	t.Parallel()
	p := &answering{}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_late_success").ID
	r.say(t, id, webhooks.KindAuthorized)
	require.Eventually(t, func() bool { return len(r.ledger(t)) == 1 }, patience, tick)
	r.recheck(t, id)
	require.Equal(t, []string{"late_success"}, r.discrepancies(t, id))
	require.Zero(t, p.cancels.Load())
	require.EqualValues(t, price, r.attempt(t, id).Held())
	require.Nil(t, r.attempt(t, id).NextCheckAt)
}

// Some providers call it a failure when money that was taken is lost
// (GoCardless's late failures).
func TestAFailureThatUndoesASuccessIsAReversal(t *testing.T) {
	t.Parallel()
	p := &answering{}
	r := newRig(t, setup{silent: true, provider: p.on})
	undone := func() (payment.Outcome, error) { return payment.Outcome{News: fsm.NewsFailed, Undoes: true}, nil }
	notice := func(id string) {
		e := event(webhooks.KindFailed, id)
		e.NeedsFetch, e.ProviderPaymentID = true, id
		require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, e))
		r.exec(t, "UPDATE provider_events SET next_try_at = now() WHERE next_try_at IS NOT NULL")
		_, err := r.RetryParked(t.Context(), 10)
		require.NoError(t, err)
	}
	paid := r.paid(t, "A-1", "tok_success")
	p.lookup = undone
	notice(paid.ProviderPaymentID)
	a := r.attempt(t, paid.ID)
	require.Equal(t, succeeded, standingOf(a))
	require.Zero(t, a.Held())
	require.Equal(t, []string{"payment_reversed"}, r.discrepancies(t, paid.ID))

	p.lookup = nil
	pending := r.paid(t, "A-2", "tok_never")
	p.lookup = undone
	notice(pending.ProviderPaymentID)
	require.Equal(t, standing{"failed", "final", "provider_rejected"}, standingOf(r.attempt(t, pending.ID)), "before, it is a failure")
	require.Empty(t, r.discrepancies(t, pending.ID))
}
