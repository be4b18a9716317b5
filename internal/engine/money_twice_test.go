package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
)

// The same money that arrives a second time at a failed attempt is a second finding, with any outcome of the first.
func TestLateMoneyTwice(t *testing.T) {
	t.Parallel()
	for name, minor := range map[string]int64{"the full amount": price, "another amount": taken} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, setup{silent: true})
			id := r.paid(t, "A-1", "tok_decline").ID
			collected := func(at time.Time) webhooks.Event {
				e := event(webhooks.KindSucceeded, id.String())
				e.Money.Minor, e.OccurredAt = minor, at
				return e
			}
			first := collected(time.Now().Add(-3 * time.Hour))
			require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, first))
			require.Len(t, r.open(t, id), 1)
			r.tell(t, first)
			again := first
			again.ID = "evt_" + uuid.NewString()
			r.tell(t, again)
			require.Len(t, r.open(t, id), 1, "the same money reported again is the same finding")

			reversed := event(webhooks.KindReversed, id.String())
			reversed.Money, reversed.OccurredAt = &webhooks.Money{Minor: minor, Currency: "EUR"}, time.Now().Add(-2*time.Hour)
			r.tell(t, reversed)
			require.Zero(t, r.attempt(t, id).Held())
			for _, d := range r.open(t, id) {
				_, err := r.Resolve(t.Context(), sam, because(d, payment.ResolvedAccepted))
				require.NoError(t, err)
			}
			require.Empty(t, r.open(t, id))
			r.tell(t, collected(time.Now().Add(-time.Hour)))
			require.Equal(t, minor, r.attempt(t, id).Held(), "collected again")
			require.Len(t, r.open(t, id), 1, "nobody is told of money that is held")
			require.Empty(t, r.verify(t))
		})
	}
}

// verify finds money on a failed attempt without an open discrepancy.
func TestVerifyFindsMoneyThatNobodyLooksAt(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_decline").ID
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	require.Empty(t, r.verify(t))
	r.exec(t, "UPDATE discrepancies SET resolved_at = now(), resolved_by = 'sam', resolution = 'accepted', reason = 'by hand' WHERE attempt_id = $1", id.String())
	found := r.verify(t)
	require.Len(t, found, 1)
	require.Equal(t, "money_is_looked_at", found[0].Check)
	r.exec(t, "UPDATE discrepancies SET resolved_at = NULL, resolved_by = '', resolution = '', reason = '' WHERE attempt_id = $1", id.String())
	_, err := r.Resolve(t.Context(), sam, because(r.open(t, id)[0], payment.ResolvedAccepted))
	require.NoError(t, err)
	require.Empty(t, r.verify(t), "the order is paid by it, a person has said")
}

// A waiting refund is not sent once its money is gone, with any origin.
func TestRefundWaitedAndItsMoneyIsGone(t *testing.T) {
	t.Parallel()
	t.Run("of_the_policy", refundOfThePolicyWaited)
	t.Run("sent_before", refundSentBefore)
}

func (r *env) chargedBack(t *testing.T, id payment.AttemptID, name string, minor int64) {
	t.Helper()
	e := event(webhooks.KindChargeback, id.String())
	e.MovementID, e.Money = name, &webhooks.Money{Minor: minor, Currency: "EUR"}
	r.tell(t, e)
}

// withdrawn requires that a refund was not sent, has failed, and has a discrepancy.
func (r *env) withdrawn(t *testing.T, of payment.AttemptID, id payment.RefundID) {
	t.Helper()
	now, err := r.RecheckRefund(t.Context(), id, byTest)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundFailed, now.State)
	require.Equal(t, "not_covered", now.Failure.Code)
	require.Contains(t, r.about(t, of), "needs_review refund_not_covered "+id.String())
	require.Empty(t, r.verify(t))
}

func refundOfThePolicyWaited(t *testing.T) {
	t.Parallel()
	sent := 0
	p := &refunding{refund: func(send func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) { sent++; return send() }}
	r := newEnv(t, setup{silent: true, provider: p.on, change: autoRefunds})
	id := r.paid(t, "A-1", "tok_decline").ID
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	due, err := r.DueRefunds(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, due, 1)
	r.chargedBack(t, id, "cb_1", price)
	r.withdrawn(t, id, due[0])
	require.Zero(t, sent, "the bank has given the money back")
}

// A refund that may have been accepted is looked up, and neither sent again nor failed.
func refundSentBefore(t *testing.T) {
	t.Parallel()
	sent := 0
	p := &refunding{
		refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
			sent++
			return gateway.RefundOutcome{}, errNoAnswer
		},
		lookup: func() (gateway.RefundOutcome, error) { return gateway.RefundOutcome{}, errNoAnswer },
	}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	require.Equal(t, fsm.RefundPending, made.State)
	r.chargedBack(t, id, "cb_1", price)
	now, err := r.RecheckRefund(t.Context(), made.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundPending, now.State)
	require.Equal(t, 1, sent)
}

// said is the text of the attempt's open discrepancy of a kind, as a person sees it.
func (r *env) said(t *testing.T, id payment.AttemptID, kind payment.DiscrepancyKind) string {
	t.Helper()
	for _, d := range r.open(t, id) {
		e, err := r.store.(*postgres.Store).Worklist().Entry(t.Context(), d, 0)
		require.NoError(t, err)
		if e.Kind == kind {
			require.NotContains(t, e.Text, "by itself", "what the policy does is no text to keep")
			return e.Says() + " " + e.WhatToDo()
		}
	}
	t.Fatalf("no open discrepancy is %s", kind)
	return ""
}

// A text on the worklist shows the present state. While the account's refund is under way, it advises against another
// refund. After that refund was undone, it no longer announces the refund.
func TestWorklistSaysHowItStandsNow(t *testing.T) {
	t.Parallel()
	sent := 0
	p := &refunding{refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		sent++
		return gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: fmt.Sprintf("re_%d", sent)}, nil
	}}
	r := newEnv(t, setup{silent: true, provider: p.on, change: autoRefunds})
	id := r.paid(t, "A-1", "tok_decline").ID
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	const underWay = "A refund of this money is under way"
	require.Contains(t, r.said(t, id, payment.LateSuccess), underWay)
	due, err := r.DueRefunds(t.Context(), 10)
	require.NoError(t, err)
	made, err := r.RecheckRefund(t.Context(), due[0], byTest)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundSucceeded, made.State)
	require.Contains(t, r.said(t, id, payment.LateSuccess), "no longer holds this money")

	undone := event(webhooks.KindRefundFailed, id.String())
	undone.RefundID, undone.Money = made.ProviderRefundID, &webhooks.Money{Minor: price, Currency: "EUR"}
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, undone))
	due, err = r.DueRefunds(t.Context(), 10)
	require.NoError(t, err)
	require.Empty(t, due, "nothing refunds it")
	for kind, todo := range map[payment.DiscrepancyKind]string{
		payment.LateSuccess:    "Refund the money, or deliver the goods and resolve this case as accepted.",
		payment.RefundReversed: "Refund the money again, or by another method.",
	} {
		text := r.said(t, id, kind)
		require.NotContains(t, text, underWay)
		require.Contains(t, text, todo)
	}
	r.refund(t, id, "refund-1")
	require.Contains(t, r.said(t, id, payment.RefundReversed), "no longer holds this money")
}

// Where no refund can be sent the policy requests no refund: an open refund would block a person's decision for ever.
func TestPolicyRefundsNothingWhereNothingCan(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, change: func(o *options) {
		o.Accounts = map[string]gateway.Account{"sandbox": {LateMoney: gateway.LateMoneyRefunded}}
	}})
	id := r.register(t, commands.External{ExpiresIn: time.Minute}).ID
	_, err := r.report(t, commands.Report{AttemptID: id, ProviderPaymentID: "pp_1", Outcome: commands.Abandoned})
	require.NoError(t, err)
	require.True(t, r.attempt(t, id).Failed())
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	require.Empty(t, r.refunds(t, id))
	r.needsTwo(t, because(r.open(t, id)[0], payment.ResolvedRefundedElsewhere))
	require.EqualValues(t, price, r.attempt(t, id).Refunded)
	require.Empty(t, r.verify(t))
}
