package payment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// What is told of a hold while the provider is being asked for one may be younger
// than its answer.
func TestAHoldThatOvertakesAnAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	p := &answering{}
	r, id := heldLate(t, p)
	p.lookup = func() (payment.Outcome, error) {
		r.say(t, id, webhooks.KindAuthorized)
		return payment.Outcome{News: fsm.NewsFailed}, nil
	}
	r.recheck(t, id)
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []payment.AttemptID{id}, due)

	p.lookup, p.cancel = says(fsm.NewsAuthorized), says(fsm.NewsFailed)
	r.recheck(t, id)
	require.EqualValues(t, 1, p.cancels.Load())
	require.Nil(t, r.attempt(t, id).NextCheckAt)
	require.Empty(t, r.discrepancies(t, id))
}

// A provider says the same again under a key that it knows: each hold is given up
// under another.
func TestEachHoldIsGivenUpUnderAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	p := &answering{lookup: says(fsm.NewsAuthorized), cancel: says(fsm.NewsFailed)}
	r := newRig(t, setup{silent: true, provider: p.on})
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

// What failed softly after the failure, or before it, is given up as a hold is: no
// later answer would say more (PayPal: the capture was declined, the hold is not shown).
func TestWhatFailedSoftlyIsGivenUpAfterTheFailure(t *testing.T) {
	t.Parallel()
	p := &answering{lookup: says(fsm.NewsSoftFailed), cancel: says(fsm.NewsFailed)}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.held(t, "A-1").ID
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindFailed))
	r.recheck(t, id)
	require.EqualValues(t, 1, p.cancels.Load())
	require.Nil(t, r.attempt(t, id).NextCheckAt)
	require.Empty(t, r.discrepancies(t, id))

	p.cancel = func() (payment.Outcome, error) { return payment.Outcome{News: fsm.NewsSoftFailed, Refused: true}, nil }
	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	r.recheck(t, id)
	require.Empty(t, r.discrepancies(t, id), "nothing is known to be held")
	for r.attempt(t, id).NextCheckAt != nil {
		r.recheck(t, id)
	}
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// unkept is a provider that can't be asked, and that takes each cancellation without
// carrying it out.
func unkept(t *testing.T) (*rig, *answering) {
	t.Helper()
	p := &answering{cancel: says(fsm.NewsProcessing)}
	return newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider { return &blind{Provider: p.on(of)} }}), p
}

func cancelRefused(id payment.AttemptID, name string) webhooks.Event {
	e := event(webhooks.KindProcessing, id.String())
	e.ID, e.CancelRefused = name, true
	return e
}

// A provider that took a cancellation and then does not carry it out leaves the money
// held: it can be confirmed, or cancelled anew under another key, and a person is told.
func TestACancellationThatIsRefusedAfterwardsBlocksNothing(t *testing.T) {
	t.Parallel()
	r, p := unkept(t)
	id := r.held(t, "A-1").ID
	cancel := func(key string) {
		_, err := r.Cancel(t.Context(), customer, request("cancel", key, ""), id)
		require.NoError(t, err)
	}
	confirm := func() error {
		_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), payment.Confirm{AttemptID: id})
		return err
	}
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, cancelRefused(id, "nobody's")), "nobody here asked for one")
	cancel("cancel-key")
	require.ErrorIs(t, confirm(), payment.ErrBusy)
	first := *p.key.Load()
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, cancelRefused(id, "ours")))
	require.Equal(t, payment.Intent{Number: 1}, r.attempt(t, id).Intent)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Equal(t, "authorized", r.attempt(t, id).Stage())
	require.Empty(t, r.due(t), "it is not tried again by itself")

	cancel("second-key")
	require.NotEqual(t, first, *p.key.Load())
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, cancelRefused(id, "ours, again")))
	require.NoError(t, confirm())
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, cancelRefused(id, "late")))
	require.Empty(t, r.verify(t))
}

// A cancellation that was held back was not asked for: an outage does not use the
// schedule up.
func TestALateHoldWhoseCancellationIsHeldBackIsNoCheck(t *testing.T) {
	t.Parallel()
	r, p := unkept(t)
	id := r.paid(t, "A-1", "tok_decline").ID
	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	p.cancel = func() (payment.Outcome, error) { return payment.Outcome{}, errHeldBack }
	for range 20 {
		r.recheck(t, id)
	}
	require.Empty(t, r.discrepancies(t, id))
	require.Zero(t, r.attempt(t, id).Checks)
	p.cancel = says(fsm.NewsProcessing)
	r.recheck(t, id)
	require.Nil(t, r.attempt(t, id).NextCheckAt)
	require.Empty(t, r.discrepancies(t, id))
}

// What is held after its cancellation was refused is given up all the same: under the
// key of that one the provider would say again that it has received it.
func TestACancellationThatIsRefusedBeforeAHoldIsTriedUnderAnotherKey(t *testing.T) {
	t.Parallel()
	r, p := unkept(t)
	id := r.paid(t, "A-1", "tok_never").ID
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	first := *p.key.Load()
	r.tell(t, cancelRefused(id, "ours"))
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
	r.recheck(t, id)
	require.NotEqual(t, first, *p.key.Load())
	require.Equal(t, payment.IntentCancel, r.attempt(t, id).Intent.Kind)
	require.Empty(t, r.discrepancies(t, id))
}

// A late hold that is not given up after all is for a person.
func TestALateHoldWhoseCancellationIsRefusedAfterwardsIsADiscrepancy(t *testing.T) {
	t.Parallel()
	r, _ := unkept(t)
	id := r.paid(t, "A-1", "tok_decline").ID
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, cancelRefused(id, "nobody's")))
	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	r.recheck(t, id)
	require.Empty(t, r.discrepancies(t, id), "received")
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, cancelRefused(id, "ours")))
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Equal(t, declined, standingOf(r.attempt(t, id)))
	require.Nil(t, r.attempt(t, id).NextCheckAt)
}

// What was held before it failed is cancelled once more, to be safe: that it can't be
// is no news. Nor is it of what never was held: the customer may be at the page.
func TestACancellationThatFindsNothingHeldIsNoDiscrepancy(t *testing.T) {
	t.Parallel()
	r, _ := unkept(t)
	held := r.held(t, "A-1").ID
	require.Equal(t, fsm.Applied, r.say(t, held, webhooks.KindFailed))
	r.recheck(t, held)
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, cancelRefused(held, "one")))
	require.Empty(t, r.discrepancies(t, held))

	tried := r.paid(t, "A-2", "tok_never").ID
	require.Equal(t, fsm.Applied, r.say(t, tried, webhooks.KindSoftFailed))
	r.recheck(t, tried)
	r.tell(t, cancelRefused(tried, "two"))
	require.Equal(t, payment.IntentCancel, r.attempt(t, tried).Intent.Kind, "the schedule goes on with it")
	require.Empty(t, r.discrepancies(t, tried))
	require.Equal(t, fsm.Applied, r.say(t, tried, webhooks.KindFailed))
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, cancelRefused(tried, "three")))
	require.Empty(t, r.discrepancies(t, tried), "it was asked for before the failure")

	left := r.paid(t, "A-3", "tok_never").ID
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), left)
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, r.say(t, left, webhooks.KindFailed))
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, cancelRefused(left, "four")))
	require.Empty(t, r.discrepancies(t, left))
}

// over tells that an attempt that has failed was over at a time.
func (r *rig) over(t *testing.T, id payment.AttemptID, at time.Time) {
	t.Helper()
	e := event(webhooks.KindFailed, id.String())
	e.OccurredAt = at
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, e))
}

// What was asked for has its answer once the provider says that the payment is over,
// whoever brings that: of a hold that was given up twice at once, by us and in the
// dashboard, one of the two is declined, and nothing is held. A failure that is older
// than the request, or may be, is no answer to it.
func TestACancellationOfWhatIsOverIsNoDiscrepancy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		blind bool
		end   func(t *testing.T, r *rig, p *answering, id payment.AttemptID)
		says  fsm.Verdict
	}{
		"it is asked": {false, func(t *testing.T, r *rig, p *answering, id payment.AttemptID) {
			t.Helper()
			p.lookup = says(fsm.NewsFailed)
			r.recheck(t, id)
			require.Nil(t, r.attempt(t, id).NextCheckAt)
		}, fsm.Stale},
		"it tells": {false, func(t *testing.T, r *rig, _ *answering, id payment.AttemptID) {
			t.Helper()
			r.over(t, id, time.Now().Add(time.Minute))
		}, fsm.Stale},
		"it can't be asked, and tells": {true, func(t *testing.T, r *rig, _ *answering, id payment.AttemptID) {
			t.Helper()
			r.over(t, id, time.Now().Add(time.Minute))
		}, fsm.Stale},
		"it can't be asked, and tells in whole seconds": {true, func(t *testing.T, r *rig, _ *answering, id payment.AttemptID) {
			t.Helper()
			r.over(t, id, r.attempt(t, id).Intent.At.Truncate(time.Second))
		}, fsm.Stale},
		"it tells of the first failure": {true, func(t *testing.T, r *rig, _ *answering, id payment.AttemptID) {
			t.Helper()
			r.over(t, id, time.Now().Add(-time.Minute))
		}, fsm.Applied},
		"it tells of a failure, and not when": {true, func(t *testing.T, r *rig, _ *answering, id payment.AttemptID) {
			t.Helper()
			r.over(t, id, time.Time{})
		}, fsm.Applied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &answering{lookup: says(fsm.NewsAuthorized), cancel: says(fsm.NewsProcessing)}
			r := newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider {
				if p.on(of); c.blind {
					return &blind{Provider: p}
				}
				return p
			}})
			id := r.paid(t, "A-1", "tok_decline").ID
			require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
			r.recheck(t, id)
			require.EqualValues(t, 1, p.cancels.Load())
			c.end(t, r, p, id)
			require.Equal(t, []fsm.Verdict{c.says}, r.tell(t, cancelRefused(id, "ours")))
			require.Len(t, r.discrepancies(t, id), map[fsm.Verdict]int{fsm.Stale: 0, fsm.Applied: 1}[c.says])
			require.Empty(t, r.verify(t))
		})
	}
}

// Who was overtaken while a late hold is being looked up leaves the lease and the schedule
// to the one who has it now: else the hold would be forgotten if that one dies.
func TestAnOvertakenLookAtALateHoldEndsNothing(t *testing.T) {
	t.Parallel()
	p := &answering{}
	r, id := heldLate(t, p)
	p.lookup = func() (payment.Outcome, error) {
		r.exec(t, "UPDATE payment_attempts SET fence = fence + 1, lease_until = now() + interval '1 minute', next_check_at = now() + interval '1 minute'")
		return payment.Outcome{News: fsm.NewsFailed}, nil
	}
	r.recheck(t, id)
	a := r.attempt(t, id)
	require.NotNil(t, a.LeaseUntil)
	require.NotNil(t, a.NextCheckAt)
	require.Equal(t, payment.IntentCancel, a.Intent.Kind)
}
