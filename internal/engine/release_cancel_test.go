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

// A hold that is reported during the lookup may be younger than its result.
func releaseHoldDuringALookup(t *testing.T) {
	t.Parallel()
	p := &answering{}
	r, id := heldLate(t, p)
	p.lookup = func() (gateway.Outcome, error) {
		r.say(t, id, webhooks.KindAuthorized)
		return gateway.Outcome{Event: fsm.EventFailed}, nil
	}
	r.recheck(t, id)
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []payment.AttemptID{id}, due)

	p.lookup, p.cancel = says(fsm.EventAuthorized), says(fsm.EventFailed)
	r.recheck(t, id)
	require.EqualValues(t, 1, p.cancels.Load())
	require.Nil(t, r.attempt(t, id).NextCheckAt)
	require.Empty(t, r.discrepancies(t, id))
}

// A provider repeats its response under a key that it has seen: each hold is released under
// another.
func releaseKeyOfEachHold(t *testing.T) {
	t.Parallel()
	p := &answering{lookup: says(fsm.EventAuthorized), cancel: says(fsm.EventFailed)}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.held(t, "A-1").ID
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	keys := map[string]bool{*p.key.Load(): true}
	for range 3 {
		r.say(t, id, webhooks.KindAuthorized)
		r.recheck(t, id)
		keys[*p.key.Load()] = true
	}
	require.EqualValues(t, 4, p.cancels.Load())
	require.Len(t, keys, 4)
	require.Empty(t, r.discrepancies(t, id))
}

// A soft decline after the failure, or before it, is cancelled like a hold: no later lookup would show more (PayPal: the
// capture was declined, the hold is not shown).
func releaseSoftFailureAfterTheFailure(t *testing.T) {
	t.Parallel()
	p := &answering{lookup: says(fsm.EventSoftFailed), cancel: says(fsm.EventFailed)}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.held(t, "A-1").ID
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindFailed))
	r.recheck(t, id)
	require.EqualValues(t, 1, p.cancels.Load())
	require.Nil(t, r.attempt(t, id).NextCheckAt)
	require.Empty(t, r.discrepancies(t, id))

	p.cancel = func() (gateway.Outcome, error) {
		return gateway.Outcome{Event: fsm.EventSoftFailed, Refused: true}, nil
	}
	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	r.recheck(t, id)
	require.EqualValues(t, 2, p.cancels.Load())
	require.Empty(t, r.discrepancies(t, id), "nothing is known to be held: money that comes all the same is late money")
	require.Empty(t, r.verify(t))
}

// unkept is a provider without lookups that accepts each cancel without carrying it out.
func unkept(t *testing.T) (*env, *answering) {
	t.Helper()
	p := &answering{cancel: says(fsm.EventProcessing)}
	return newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { return &blind{Provider: p.on(of)} }}), p
}

func cancelRefused(id payment.AttemptID, name string) webhooks.Event {
	e := event(webhooks.KindProcessing, id.String())
	e.ID, e.Refuses = name, webhooks.CommandCancel
	return e
}

// A cancel that was held back was not sent: an outage does not use the schedule up.
func releaseHeldBackCountsNoCheck(t *testing.T) {
	t.Parallel()
	r, p := unkept(t)
	id := r.paid(t, "A-1", "tok_decline").ID
	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	p.cancel = func() (gateway.Outcome, error) { return gateway.Outcome{}, errHeldBack }
	for range 20 {
		r.recheck(t, id)
	}
	require.Empty(t, r.discrepancies(t, id))
	require.Zero(t, r.attempt(t, id).Checks)
	p.cancel = says(fsm.EventProcessing)
	r.recheck(t, id)
	require.Nil(t, r.attempt(t, id).NextCheckAt)
	require.Empty(t, r.discrepancies(t, id))
}

// A hold after the failure that is not released after all needs review.
func releaseRefusedAfterwardsOpensADiscrepancy(t *testing.T) {
	t.Parallel()
	r, _ := unkept(t)
	id := r.paid(t, "A-1", "tok_decline").ID
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, cancelRefused(id, "nobody's")))
	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	r.recheck(t, id)
	require.Empty(t, r.discrepancies(t, id), "received")
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, cancelRefused(id, "ours")))
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Equal(t, declined, standingOf(r.attempt(t, id).Attempt))
	require.Nil(t, r.attempt(t, id).NextCheckAt)
}

// over reports that an attempt was over at a time.
func (r *env) over(t *testing.T, id payment.AttemptID, at time.Time) {
	t.Helper()
	e := event(webhooks.KindFailed, id.String())
	e.OccurredAt = at
	require.Subset(t, []fsm.Verdict{fsm.Applied, fsm.Repeat}, r.tell(t, e))
}

// A runner that was overtaken while it looks up a hold leaves the lease and the schedule to the new runner. Otherwise
// the hold would be forgotten if the new runner dies.
func releaseOvertakenLookupEndsNothing(t *testing.T) {
	t.Parallel()
	p := &answering{}
	r, id := heldLate(t, p)
	p.lookup = func() (gateway.Outcome, error) {
		r.exec(t, "UPDATE operations SET fence = fence + 1, lease_until = now() + interval '1 minute', next_at = now() + interval '1 minute' WHERE open")
		return gateway.Outcome{}, errNoAnswer
	}
	r.recheck(t, id)
	a := r.attempt(t, id)
	require.NotNil(t, a.LeaseUntil)
	require.NotNil(t, a.NextCheckAt)
	require.Equal(t, payment.OperationCancel, a.Intent.Kind)
}
