package payment_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// An old failure redelivered after a success (woocommerce-gateway-stripe #902).
func TestAFailureAfterTheSuccessIsStale(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	paid := r.paid(t, "A-1", "tok_success")
	require.Equal(t, fsm.Stale, r.say(t, paid.ID, webhooks.KindFailed))
	require.Equal(t, fsm.Stale, r.say(t, paid.ID, webhooks.KindSoftFailed))
	require.Equal(t, paid.Version, r.attempt(t, paid.ID).Version)
	require.Empty(t, r.discrepancies(t, paid.ID))
	r.audit(t, "A-1")
}

// The failure of attempt 1 arrives after the success of attempt 2
// (202-ecommerce/stripe_official #79; Adyen/adyen-shopware6 #451).
func TestTheFirstAttemptsFailureTouchesOnlyTheFirstAttempt(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	first := r.paid(t, "A-1", "tok_decline")
	require.True(t, first.CanStartNew)
	second := r.pay(t, "A-1", "second-key", "tok_success")
	require.Equal(t, fsm.Repeat, r.say(t, first.ID, webhooks.KindFailed))
	require.Equal(t, succeeded, standingOf(r.attempt(t, second.ID)))
	o, err := r.Order(t.Context(), customer, "A-1")
	require.NoError(t, err)
	require.Equal(t, payment.OrderPaid, o.Status())
	again := r.pay(t, "A-1", "first-key", "tok_decline")
	require.Equal(t, first.ID, again.ID)
	require.False(t, again.CanStartNew, "the order is paid")
	r.audit(t, "A-1")
}

// A provider that asks before it takes a payment is told no where the order's money
// came late, by another attempt, while the customer was still at the page.
func TestAPaymentOfAnOrderThatHoldsMoneyIsNotToBeTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	first := r.paid(t, "A-1", "tok_decline")
	second := r.pay(t, "A-1", "second-key", "tok_redirect")
	ask := func() webhooks.Answer {
		may, err := r.Question(t.Context(), "sandbox", event(webhooks.KindSucceeded, second.ID.String()))
		require.NoError(t, err)
		return may
	}
	require.Equal(t, webhooks.AnswerAccept, ask())
	require.Equal(t, fsm.Conflict, r.say(t, first.ID, webhooks.KindSucceeded))
	require.Equal(t, webhooks.AnswerRefuse, ask())
}

// So is one that asks about a payment which holds the money already: the page is open
// in a second tab.
func TestAPaymentThatIsHeldIsNotToBeTakenAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	may, err := r.Question(t.Context(), "sandbox", event(webhooks.KindAuthorized, r.held(t, "A-1").ID.String()))
	require.NoError(t, err)
	require.Equal(t, webhooks.AnswerRefuse, may)
}

// Refused, order cancelled, then paid (Adyen/adyen-magento2 #3313).
func TestPaidAfterTheOrderWasCancelledIsSeen(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_decline").ID
	o, _, err := r.CancelOrder(t.Context(), customer, request("cancel A-1", "cancel-key", ""), "A-1")
	require.NoError(t, err)
	require.Equal(t, payment.OrderCancelled, o.Status())
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, []string{"paid_after_cancel"}, r.discrepancies(t, id))
	a := r.attempt(t, id)
	require.Equal(t, declined, standingOf(a), "the status stays")
	require.EqualValues(t, price, a.Held(), "the money is not lost in silence")
	require.Contains(t, r.news(t, id), "payment_attempt.updated")
}

// Money that an attempt holds, although it failed, takes the place of another pay.
func TestAnOrderThatHoldsLateMoneyTakesNoPay(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_decline").ID
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, []string{"late_success"}, r.discrepancies(t, id))
	_, err := try(t.Context(), r.Service, "A-1", "second-key", "tok_success")
	require.ErrorIs(t, err, payment.ErrOrderPaid)
	v, err := r.Attempt(t.Context(), customer, id)
	require.NoError(t, err)
	require.False(t, v.CanStartNew)
	require.Equal(t, fsm.Repeat, r.say(t, id, webhooks.KindSucceeded), "and is told of once")
	require.Len(t, r.discrepancies(t, id), 1)
}

// Paid after the session expired: refunded where the policy says so, once
// (flexprice #2230).
func TestLateMoneyIsRefundedOnceWhereThePolicySaysSo(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true, change: func(o *payment.Options) {
		account := o.Accounts["sandbox"]
		account.AutoRefund = true
		o.Accounts["sandbox"] = account
	}})
	second := r.another(t, nil)
	id := r.paid(t, "A-1", "tok_late_success").ID
	require.Eventually(t, func() bool { return len(r.ledger(t)) == 1 }, patience, tick)
	race(times(10, func(i int) {
		if _, err := []*payment.Service{r.Service, second}[i%2].Intake(t.Context(), received(nil, event(webhooks.KindSucceeded, id.String()))); err != nil {
			t.Error(err)
		}
	})...)
	due, err := r.DueRefunds(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, due, 1)
	race(times(10, func(i int) {
		_, err := []*payment.Service{r.Service, second}[i%2].RecheckRefund(t.Context(), due[0], byTest)
		if err != nil && !errors.Is(err, payment.ErrBusy) {
			t.Error(err)
		}
	})...)
	all := r.ledger(t)
	require.Len(t, all, 2)
	require.Equal(t, "refund", all[1].Kind)
	require.EqualValues(t, price, all[1].Amount)
	require.Zero(t, r.attempt(t, id).Held())
	_, err = try(t.Context(), r.Service, "A-1", "second-key", "tok_success")
	require.NoError(t, err, "the order can be paid again")
}

// A late success of attempt 1 while attempt 2 is under way, which then succeeds,
// and the other way round.
func TestBothAttemptsPaidIsADoubleSuccess(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	for _, lateFirst := range []bool{true, false} {
		order := payment.OrderID(fmt.Sprintf("A-%t", lateFirst))
		first := r.paid(t, order, "tok_decline")
		second := r.pay(t, order, "second-key", "tok_never")
		if lateFirst {
			require.Equal(t, fsm.Conflict, r.say(t, first.ID, webhooks.KindSucceeded))
			require.Equal(t, fsm.Applied, r.say(t, second.ID, webhooks.KindSucceeded))
		} else {
			require.Equal(t, fsm.Applied, r.say(t, second.ID, webhooks.KindSucceeded))
			require.Equal(t, fsm.Conflict, r.say(t, first.ID, webhooks.KindSucceeded))
		}
		require.Contains(t, r.discrepancies(t, first.ID), "double_success", order)
		require.Empty(t, r.discrepancies(t, second.ID))
	}
}

// Late money that went back and comes back, since its refund is undone, is late money
// again: beside another success the order is paid twice, and whoever settled the first one
// has settled nothing.
func TestAnUndoneRefundIsLateMoneyAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	for kind, again := range map[string]bool{"double_success": true, "late_success": false} {
		of := payment.OrderID("A-" + kind)
		id := r.paid(t, of, "tok_decline").ID
		require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
		back := event(webhooks.KindRefundSucceeded, id.String())
		back.RefundID, back.Money = "re-"+id.String(), &webhooks.Money{Minor: price, Currency: "EUR"}
		require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, back))
		_, err := r.Resolve(t.Context(), sam, because(r.open(t, id)[0], payment.ResolvedAccepted))
		require.NoError(t, err)
		if again {
			require.Equal(t, succeeded, standingOf(r.payAgain(t, of, "tok_success", payment.CaptureAutomatic).Attempt))
		}
		undone := event(webhooks.KindRefundFailed, id.String())
		undone.RefundID, undone.Money = back.RefundID, back.Money
		require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, undone))
		require.EqualValues(t, price, r.attempt(t, id).Held())
		open := rows[string](t, r, "SELECT kind FROM discrepancies WHERE attempt_id = $1 AND resolved_at IS NULL ORDER BY kind", id.String())
		require.Equal(t, []string{kind, "refund_reversed"}, open)
	}
}

// Who refunds or delivers what the account pays back by itself pays twice.
func TestNobodyIsToldToRefundWhatIsPaidBackByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true, change: autoRefunds})
	late, cancelled, doubled := r.paid(t, "late", "tok_decline"), r.paid(t, "cancelled", "tok_decline"), r.paid(t, "doubled", "tok_decline")
	_, _, err := r.CancelOrder(t.Context(), customer, request("cancel", "cancel-key", ""), "cancelled")
	require.NoError(t, err)
	second := r.pay(t, "doubled", "second-key", "tok_never")
	for _, a := range []payment.AttemptID{late.ID, cancelled.ID, doubled.ID} {
		require.Equal(t, fsm.Conflict, r.say(t, a, webhooks.KindSucceeded))
	}
	require.Equal(t, fsm.Applied, r.say(t, second.ID, webhooks.KindSucceeded))
	const itself = ". This account pays late money back by itself: see whether that refund succeeds, before anything else is refunded or delivered."
	require.Equal(t, []string{
		"double_success: The order was paid twice, by two attempts" + itself,
		"late_success: Money came in after the payment had failed" + itself,
		"late_success: Money came in after the payment had failed" + itself,
		"paid_after_cancel: Money came in after the order was cancelled" + itself,
	}, rows[string](t, r, "SELECT kind || ': ' || text FROM discrepancies ORDER BY kind"))
}

// A non-final event after a final state changes nothing (hyperswitch #10340).
func TestNothingMovesAFinalAttempt(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	for token, end := range map[string]standing{"tok_success": succeeded, "tok_decline": declined} {
		p := r.paid(t, payment.OrderID(token), token)
		for _, kind := range []webhooks.Kind{webhooks.KindProcessing, webhooks.KindActionRequired, webhooks.KindAuthorized, webhooks.KindSoftFailed} {
			require.Equal(t, fsm.Stale, r.say(t, p.ID, kind), kind)
		}
		r.recheck(t, p.ID)
		a := r.attempt(t, p.ID)
		require.Equal(t, end, standingOf(a))
		require.Equal(t, p.Version, a.Version)
		require.Nil(t, a.NextCheckAt, "once the provider was asked about the hold that the failed one may have")
		require.Equal(t, []int64{0}, rows[int64](t, r, "SELECT count(*) FROM sealed_tokens"), "what the call needed is erased")
	}
}

// Success by webhook while our own call is open, and then our call times out
// (pay-connector #389, #683).
func TestSuccessByWebhookWhileOurCallTimesOut(t *testing.T) {
	t.Parallel()
	var r *rig
	p := &tapped{charge: func(ctx context.Context, c payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
		out, _ := send()
		r.tell(t, event(webhooks.KindSucceeded, out.ProviderPaymentID, c.Attempt.String()))
		<-ctx.Done()
		return payment.Outcome{}, ctx.Err()
	}}
	r = newRig(t, setup{silent: true, provider: p.on, change: func(o *payment.Options) { o.ProviderTimeout = time.Second }})
	paid := r.paid(t, "A-1", "tok_success")
	require.Equal(t, succeeded, standingOf(paid.Attempt))
	require.Equal(t, 2, paid.Version)
	r.audit(t, "A-1")
}

// Every order of {pending, soft failure, success, duplicate} ends the same
// (solidus_stripe #189).
func TestEveryOrderOfNewsEndsTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
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
		require.Equal(t, succeeded, standingOf(a), "%v", order)
		require.EqualValues(t, price, a.Captured)
		require.Equal(t, payment.Intent{Number: a.Intent.Number}, a.Intent)
		require.Empty(t, r.discrepancies(t, id))
	}
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			q := append(append(append([]int(nil), p[:at]...), n-1), p[at:]...)
			all = append(all, q)
		}
	}
	return all
}

// A provider says "failed" and later "captured" about the same payment: the first
// was soft (komoju-woocommerce #21). The attempt fails once the payment can no
// longer succeed there.
func TestASoftFailureIsCancelledBeforeItFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	p := r.paid(t, "A-1", "tok_never")
	soft := event(webhooks.KindSoftFailed, p.ID.String())
	soft.FailureCode = "insufficient_funds"
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, soft))
	require.Equal(t, fsm.Repeat, r.say(t, p.ID, webhooks.KindSoftFailed))
	require.Equal(t, "pending", standingOf(r.attempt(t, p.ID)).status)
	require.Equal(t, p.Version, r.attempt(t, p.ID).Version, "nothing that the version counts has changed")
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []payment.AttemptID{p.ID}, due, "at once")
	v := r.recheck(t, p.ID)
	require.Equal(t, standing{"failed", "final", "insufficient_funds"}, standingOf(v.Attempt), "the reason that counts is the first")
	require.True(t, v.CanStartNew)
}

func TestASoftFailureThatWasOvertakenByTheSuccess(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	p := r.paid(t, "A-1", "tok_async_success")
	require.Equal(t, fsm.Applied, r.say(t, p.ID, webhooks.KindSoftFailed))
	require.Eventually(t, func() bool { return len(r.ledger(t)) == 1 }, patience, tick)
	require.Equal(t, succeeded, standingOf(r.recheck(t, p.ID).Attempt), "the cancel is refused, and how it stands is adopted")
	require.Empty(t, r.attempt(t, p.ID).Intent.Kind)
	r.audit(t, "A-1")
}

// A capture that succeeded fails days later: a reversal of its own, history
// intact (saleor #13520).
func TestMoneyTakenBackIsAFactBesideTheStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	p := r.paid(t, "A-1", "tok_success")
	reversed := event(webhooks.KindReversed, p.ID.String())
	reversed.Money = &webhooks.Money{Minor: price, Currency: "EUR"}
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, reversed))
	a := r.attempt(t, p.ID)
	require.Equal(t, succeeded, standingOf(a))
	require.EqualValues(t, price, a.Captured)
	require.Zero(t, a.Held())
	require.Equal(t, p.Version+1, a.Version)
	require.Equal(t, []string{"payment_reversed"}, r.discrepancies(t, p.ID))
	require.Equal(t, []string{"payment_attempt.succeeded", "payment_attempt.updated"}, r.news(t, p.ID))
	require.Equal(t, fsm.Applied, r.say(t, p.ID, webhooks.KindDisputed))
	require.Equal(t, []string{"disputed", "payment_reversed"}, r.discrepancies(t, p.ID))
	r.audit(t, "A-1")
}

// Each time that money is taken back is looked at by itself: the second is not
// hidden by the first.
func TestEachReversalIsADiscrepancyOfItsOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	for _, total := range []int64{500, 500, price} {
		e := event(webhooks.KindReversed, id.String())
		e.Money = &webhooks.Money{Minor: total, Currency: "EUR"}
		r.tell(t, e)
	}
	amounts := rows[int64](t, r, "SELECT amount FROM discrepancies WHERE attempt_id = $1 ORDER BY amount", id.String())
	require.Equal(t, []int64{500, price}, amounts)
}

// A provider that asks is answered by what the payment is for, and whether anybody still
// wants it.
func TestAQuestionIsAnsweredByWhatIsWanted(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	failed, id := r.paid(t, "A-1", "tok_decline").ID, r.paid(t, "A-2", "tok_redirect").ID
	ask := func(id payment.AttemptID, money *webhooks.Money) webhooks.Answer {
		e := event(webhooks.KindQuestion, id.String())
		e.Money = money
		may, err := r.Question(t.Context(), "sandbox", e)
		require.NoError(t, err)
		return may
	}
	euros := &webhooks.Money{Minor: price, Currency: "EUR"}
	require.Equal(t, webhooks.AnswerAccept, ask(id, euros))
	require.Equal(t, webhooks.AnswerAccept, ask(id, nil))
	require.Equal(t, webhooks.AnswerAmount, ask(id, &webhooks.Money{Minor: price - 1, Currency: "EUR"}))
	require.Equal(t, webhooks.AnswerAmount, ask(id, &webhooks.Money{Minor: price, Currency: "USD"}))
	require.Equal(t, webhooks.AnswerExpired, ask(failed, euros))
	require.Equal(t, webhooks.AnswerUnknown, ask(payment.AttemptID{1}, euros))
	r.exec(t, "UPDATE payment_attempts SET intent = 'cancel', intent_at = now() WHERE attempt_id = $1", id.String())
	require.Equal(t, webhooks.AnswerRefuse, ask(id, euros), "somebody has cancelled it")
}
