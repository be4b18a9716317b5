package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestLateMoney(t *testing.T) {
	t.Parallel()
	t.Run("order_was_cancelled", lateMoneyOrderWasCancelled)
	t.Run("blocks_another_pay", lateMoneyBlocksAnotherPay)
	t.Run("refunded_once_by_policy", lateMoneyRefundedOnceByPolicy)
	t.Run("both_attempts_paid", lateMoneyBothAttemptsPaid)
	t.Run("two_successes_at_once", lateMoneyTwoSuccessesAtOnce)
	t.Run("refund_was_undone", lateMoneyRefundWasUndone)
}

// Refused, order cancelled, then paid (Adyen/adyen-magento2 #3313).
func lateMoneyOrderWasCancelled(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_decline").ID
	o, _, err := r.CancelOrder(t.Context(), customer, request("cancel A-1", "cancel-key", ""), "A-1")
	require.NoError(t, err)
	require.Equal(t, payment.OrderCancelled, o.Status())
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, []string{"paid_after_cancel"}, r.discrepancies(t, id))
	a := r.attempt(t, id)
	require.Equal(t, declined, standingOf(a.Attempt), "the status stays")
	require.EqualValues(t, price, a.Held(), "the money is not lost in silence")
	require.Contains(t, r.updates(t, id), "payment_attempt.updated")
}

// Money that an attempt holds, although it failed, takes the place of another pay.
func lateMoneyBlocksAnotherPay(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_decline").ID
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, []string{"late_success"}, r.discrepancies(t, id))
	_, err := try(t.Context(), r.service, "A-1", "second-key", "tok_success")
	require.ErrorIs(t, err, payment.ErrOrderPaid)
	v, err := r.Attempt(t.Context(), customer, id)
	require.NoError(t, err)
	require.False(t, v.CanStartNew)
	require.Equal(t, fsm.Repeat, r.say(t, id, webhooks.KindSucceeded), "and is told of once")
	require.Len(t, r.discrepancies(t, id), 1)
}

// Paid after the session expired: refunded where that is the policy, once (flexprice #2230).
func lateMoneyRefundedOnceByPolicy(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, change: func(o *options) {
		account := o.Accounts["sandbox"]
		account.LateMoney = gateway.LateMoneyRefunded
		o.Accounts["sandbox"] = account
	}})
	second := r.another(t, nil)
	id := r.paid(t, "A-1", "tok_late_success").ID
	require.Eventually(t, func() bool { return len(r.ledger(t)) == 1 }, waitFor, tick)
	race(times(10, func(i int) {
		if _, err := []*service{r.service, second}[i%2].Intake(t.Context(), received(nil, event(webhooks.KindSucceeded, id.String()))); err != nil {
			t.Error(err)
		}
	})...)
	due, err := r.DueRefunds(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, due, 1)
	race(times(10, func(i int) {
		_, err := []*service{r.service, second}[i%2].RecheckRefund(t.Context(), due[0], byTest)
		if err != nil && !errors.Is(err, payment.ErrBusy) {
			t.Error(err)
		}
	})...)
	all := r.ledger(t)
	require.Len(t, all, 2)
	require.Equal(t, "refund", all[1].Kind)
	require.EqualValues(t, price, all[1].Amount)
	require.Zero(t, r.attempt(t, id).Held())
	_, err = try(t.Context(), r.service, "A-1", "second-key", "tok_success")
	require.NoError(t, err, "the order can be paid again")
}

// A late success of attempt 1 while attempt 2 is under way, which then succeeds,
// and the other way round.
func lateMoneyBothAttemptsPaid(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	for _, lateFirst := range []bool{true, false} {
		order := payment.OrderID(fmt.Sprintf("A-%t", lateFirst))
		first := r.paid(t, order, "tok_decline")
		second := r.pay(t, order, "second-key", "tok_never")
		if lateFirst {
			require.Equal(t, fsm.Conflict, r.say(t, first.ID, webhooks.KindSucceeded))
			require.Equal(t, fsm.Applied, r.say(t, second.ID, webhooks.KindSucceeded))
			require.Equal(t, []string{"3998"}, rows[string](t, r, "SELECT payload->>'amount_captured' FROM outbox WHERE type = 'order.paid' AND order_id = $1", string(order)),
				"the order's event counts both")
		} else {
			require.Equal(t, fsm.Applied, r.say(t, second.ID, webhooks.KindSucceeded))
			require.Equal(t, fsm.Conflict, r.say(t, first.ID, webhooks.KindSucceeded))
		}
		require.Contains(t, r.discrepancies(t, first.ID), "double_success", order)
		require.Empty(t, r.discrepancies(t, second.ID))
	}
}

// Late money that was refunded and comes back, since its refund is undone, is late money again:
// beside another success the order is paid twice, and resolving the first discrepancy has
// settled nothing of it.
func lateMoneyRefundWasUndone(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
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

func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return all
}

// Two attempts of an order succeed at the same moment in two processes: the second must see the
// first.
func lateMoneyTwoSuccessesAtOnce(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	second := r.another(t, nil)
	for i := range 40 {
		order := payment.OrderID(fmt.Sprintf("A-%d", i))
		first := r.paid(t, order, "tok_decline")
		other := r.pay(t, order, "second-key", "tok_never")
		race(
			func() { _, _ = r.Intake(t.Context(), received(nil, event(webhooks.KindSucceeded, first.ID.String()))) },
			func() {
				_, _ = second.Intake(t.Context(), received(nil, event(webhooks.KindSucceeded, other.ID.String())))
			},
		)
		require.Contains(t, append(r.discrepancies(t, first.ID), r.discrepancies(t, other.ID)...), "double_success", "round %d", i)
	}
}
