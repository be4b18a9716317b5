package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestAdvance(t *testing.T) {
	t.Parallel()
	t.Run("failure_after_the_success", advanceFailureAfterTheSuccess)
	t.Run("failure_of_the_first_attempt", advanceFailureOfTheFirstAttempt)
	t.Run("final_attempt", advanceFinalAttempt)
	t.Run("any_order_of_reports", advanceAnyOrderOfReports)
	t.Run("capture_reversal_leaves_the_status", advanceCaptureReversalLeavesTheStatus)
	t.Run("each_capture_reversal_opens_a_discrepancy", advanceEachCaptureReversalOpensADiscrepancy)
	t.Run("failure_that_undoes_the_success", advanceFailureThatUndoesTheSuccess)
}

// Some providers report it as a failure when money that was captured is lost (GoCardless's late
// failures).
func advanceFailureThatUndoesTheSuccess(t *testing.T) {
	t.Parallel()
	p := &answering{}
	r := newEnv(t, setup{silent: true, provider: p.on})
	undone := func() (gateway.Outcome, error) { return gateway.Outcome{Event: fsm.EventFailed, Reverses: true}, nil }
	notice := func(id string) {
		e := event(webhooks.KindFailed, id)
		e.NeedsFetch, e.ProviderPaymentID = true, id
		require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, e))
		r.exec(t, "UPDATE provider_events SET next_try_at = now() WHERE next_try_at IS NOT NULL")
		_, err := r.RetryParked(t.Context(), 10)
		require.NoError(t, err)
	}
	paid := r.paid(t, "A-1", "tok_success")
	p.lookup = undone
	notice(paid.ProviderPaymentID)
	a := r.attempt(t, paid.ID)
	require.Equal(t, succeeded, standingOf(a.Attempt))
	require.Zero(t, a.Held())
	require.Equal(t, []string{"payment_reversed"}, r.discrepancies(t, paid.ID))

	p.lookup = nil
	pending := r.paid(t, "A-2", "tok_never")
	p.lookup = undone
	notice(pending.ProviderPaymentID)
	require.Equal(t, standing{"failed", "final", "provider_rejected"}, standingOf(r.attempt(t, pending.ID).Attempt), "before, it is a failure")
	require.Empty(t, r.discrepancies(t, pending.ID))
}

// An old failure redelivered after a success (woocommerce-gateway-stripe #902).
func advanceFailureAfterTheSuccess(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	paid := r.paid(t, "A-1", "tok_success")
	require.Equal(t, fsm.Stale, r.say(t, paid.ID, webhooks.KindFailed))
	require.Equal(t, fsm.Stale, r.say(t, paid.ID, webhooks.KindSoftFailed))
	require.Equal(t, paid.Version, r.attempt(t, paid.ID).Version)
	require.Empty(t, r.discrepancies(t, paid.ID))
	r.audit(t, "A-1")
}

// The failure of attempt 1 arrives after the success of attempt 2
// (202-ecommerce/stripe_official #79; Adyen/adyen-shopware6 #451).
func advanceFailureOfTheFirstAttempt(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	first := r.paid(t, "A-1", "tok_decline")
	require.True(t, first.CanStartNew)
	second := r.pay(t, "A-1", "second-key", "tok_success")
	require.Equal(t, fsm.Repeat, r.say(t, first.ID, webhooks.KindFailed))
	require.Equal(t, succeeded, standingOf(r.attempt(t, second.ID).Attempt))
	o, err := r.Order(t.Context(), customer, "A-1")
	require.NoError(t, err)
	require.Equal(t, payment.OrderPaid, o.Status())
	again := r.pay(t, "A-1", "first-key", "tok_decline")
	require.Equal(t, first.ID, again.ID)
	require.False(t, again.CanStartNew, "the order is paid")
	r.audit(t, "A-1")
}

// A non-final event after a final state changes nothing (hyperswitch #10340).
func advanceFinalAttempt(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	for token, end := range map[string]standing{"tok_success": succeeded, "tok_decline": declined} {
		p := r.paid(t, payment.OrderID(token), token)
		for _, kind := range []webhooks.Kind{webhooks.KindProcessing, webhooks.KindActionRequired, webhooks.KindAuthorized, webhooks.KindSoftFailed} {
			require.Equal(t, fsm.Stale, r.say(t, p.ID, kind), kind)
		}
		r.recheck(t, p.ID)
		a := r.attempt(t, p.ID)
		require.Equal(t, end, standingOf(a.Attempt))
		require.Equal(t, p.Captured, a.Captured)
		require.Nil(t, a.NextCheckAt, "once the provider was asked about the hold that the failed one may have")
		require.Equal(t, []int64{0}, rows[int64](t, r, "SELECT count(*) FROM sealed_requests"), "what the call needed is erased")
	}
}

// Every order of {pending, soft failure, success, duplicate} ends the same
// (solidus_stripe #189).
func advanceAnyOrderOfReports(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	for i, order := range permutations(4) {
		id := r.paid(t, payment.OrderID(fmt.Sprintf("A-%d", i)), "tok_never").ID
		success := event(webhooks.KindSucceeded, id.String())
		news := []webhooks.Event{event(webhooks.KindProcessing, id.String()), event(webhooks.KindSoftFailed, id.String()), success, success}
		shuffled := make([]webhooks.Event, len(news))
		for to, from := range order {
			shuffled[to] = news[from]
		}
		if i%2 == 0 {
			r.tell(t, shuffled...)
		} else {
			for _, e := range shuffled {
				r.tell(t, e)
			}
		}
		a := r.attempt(t, id)
		require.Equal(t, succeeded, standingOf(a.Attempt), "%v", order)
		require.EqualValues(t, price, a.Captured)
		require.Equal(t, intent{Number: a.Intent.Number}, a.Intent)
		require.Empty(t, r.discrepancies(t, id))
	}
}

// A capture that succeeded fails days later: a reversal of its own, history
// intact (saleor #13520).
func advanceCaptureReversalLeavesTheStatus(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	p := r.paid(t, "A-1", "tok_success")
	reversed := event(webhooks.KindReversed, p.ID.String())
	reversed.Money = &webhooks.Money{Minor: price, Currency: "EUR"}
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, reversed))
	a := r.attempt(t, p.ID)
	require.Equal(t, succeeded, standingOf(a.Attempt))
	require.Zero(t, a.Captured)
	require.Zero(t, a.Held())
	require.Equal(t, p.Version+1, a.Version)
	require.Equal(t, []string{"payment_reversed"}, r.discrepancies(t, p.ID))
	require.Equal(t, []string{"payment_attempt.succeeded", "payment_attempt.updated"}, r.updates(t, p.ID))
	require.Equal(t, fsm.Applied, r.say(t, p.ID, webhooks.KindDisputed))
	require.Equal(t, []string{"disputed", "payment_reversed"}, r.discrepancies(t, p.ID))
	r.audit(t, "A-1")
}

// Each capture reversal opens a discrepancy of its own: the second is not hidden by the first.
func advanceEachCaptureReversalOpensADiscrepancy(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	for _, total := range []int64{500, 500, price} {
		e := event(webhooks.KindReversed, id.String())
		e.Money = &webhooks.Money{Minor: total, Currency: "EUR"}
		r.tell(t, e)
	}
	amounts := rows[int64](t, r, "SELECT amount FROM discrepancies WHERE attempt_id = $1 ORDER BY amount", id.String())
	require.Equal(t, []int64{500, price}, amounts)
}
