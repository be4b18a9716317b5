package payment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// listing is a provider that never got a refund, and whose payments are found by a
// search that trails; what it lists are refunds.
type listing struct {
	*refunding

	consistent bool
}

func (p listing) Capabilities() payment.Capabilities {
	c := p.Provider.Capabilities()
	c.FindConsistent, c.RefundsConsistent = false, p.consistent
	return c
}

func newListing(t *testing.T, consistent bool) (*rig, *refunding) {
	t.Helper()
	p := &refunding{refund: backLost, lookup: func() (payment.RefundOutcome, error) { return payment.RefundOutcome{}, payment.ErrNoSuchPayment }}
	return newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider {
		p.on(of)
		return listing{p, consistent}
	}}), p
}

// lost is a refund whose call was lost, older than it could be under way unseen, and
// asked about to the schedule's end.
func (r *rig) lost(t *testing.T, id payment.AttemptID, key string) payment.Refund {
	t.Helper()
	now := r.refund(t, id, key).Refund
	r.exec(t, "UPDATE refunds SET created_at = created_at - $2::interval, updated_at = updated_at - $2::interval WHERE refund_id = $1", now.ID.String(), time.Hour)
	var err error
	for range 12 {
		now, err = r.RecheckRefund(t.Context(), now.ID, byTest)
		require.NoError(t, err)
	}
	return now
}

// How payments are found says nothing of refunds: Stripe's search trails, its list of
// a payment's refunds does not.
func TestARefundThatAConsistentListDoesNotShowWasNotMade(t *testing.T) {
	t.Parallel()
	r, p := newListing(t, true)
	id := r.paid(t, "A-1", "tok_success").ID
	now := r.lost(t, id, "refund-1")
	require.Equal(t, fsm.RefundFailed, now.State)
	require.Equal(t, "not_started", now.Failure.Code)
	require.Empty(t, r.discrepancies(t, id))
	p.refund = nil
	require.Equal(t, fsm.RefundSucceeded, r.refund(t, id, "refund-2").State, "the money is free again")

	r, _ = newListing(t, false)
	id = r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, fsm.RefundPending, r.lost(t, id, "refund-1").State)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
}

// Where no list proves anything a person does: the money is free again. Should the
// person have been wrong, it is seen.
func TestAPersonEndsARefundAsNotPaid(t *testing.T) {
	t.Parallel()
	r, p := newListing(t, false)
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.lost(t, id, "refund-1")
	_, err := r.Refund(t.Context(), shop, request("refund", "refund-2", ""), payment.CreateRefund{AttemptID: id})
	require.ErrorIs(t, err, payment.ErrRefundExceeds)

	d := r.open(t, id)[0]
	r.exec(t, "UPDATE refunds SET lease_until = now() + interval '1 minute'")
	_, err = r.Resolve(t.Context(), sam, because(d, payment.ResolvedNotPaid))
	require.ErrorIs(t, err, payment.ErrBusy)
	r.exec(t, "UPDATE refunds SET lease_until = NULL")
	for range 2 {
		_, err = r.Resolve(t.Context(), sam, because(d, payment.ResolvedNotPaid))
		require.NoError(t, err)
	}
	now, err := r.RefundStatus(t.Context(), shop, made.ID)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundFailed, now.State)
	require.Equal(t, payment.Failure{Code: "not_paid", Message: "The refund was not made. Nothing was paid back."}, *now.Failure)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id)), "the payment stays as it is")
	due, err := r.DueRefunds(t.Context(), 10)
	require.NoError(t, err)
	require.Empty(t, due)

	p.refund = nil
	require.Equal(t, fsm.RefundSucceeded, r.refund(t, id, "refund-3").State)
	late := cents(webhooks.KindRefundSucceeded, id, "re_late", price)
	late.RefundReference = made.ID.String()
	require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, late))
	require.Equal(t, []string{"needs_review", "needs_review", "refund_exceeds"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

func TestAPersonEndsARefundAsPaid(t *testing.T) {
	t.Parallel()
	r, _ := newListing(t, false)
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.lost(t, id, "refund-1")
	parked := cents(webhooks.KindRefundSucceeded, id, "re_found", 700)
	require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, parked), "of another amount than was asked for")

	r.second(t, r.open(t, id)[0], "re_found")
	now, err := r.RefundStatus(t.Context(), shop, made.ID)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundSucceeded, now.State)
	require.Equal(t, "re_found", now.ProviderRefundID)
	a := r.attempt(t, id)
	require.EqualValues(t, price, a.Refunded)
	require.Equal(t, []string{"person kim"}, rows[string](t, r, "SELECT cause || ' ' || cause_id FROM attempt_transitions WHERE attempt_id = $1 AND version = $2", id.String(), a.Version))
	require.Contains(t, r.news(t, id), "payment_attempt.updated")
	require.Zero(t, r.parked(t), "what had named the refund is applied")
	require.Equal(t, []string{"amount_mismatch", "needs_review"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

func TestResolutionsOfARefundThatAreRefused(t *testing.T) {
	t.Parallel()
	r, p := newListing(t, false)
	id := r.paid(t, "A-1", "tok_success").ID
	half := int64(700)
	p.refund = nil
	first, err := r.Refund(t.Context(), shop, request("refund", "refund-1", ""), payment.CreateRefund{AttemptID: id, Amount: &half})
	require.NoError(t, err)
	p.refund = backLost
	made := r.lost(t, id, "refund-2")
	d := r.open(t, id)[0]
	_, err = r.Resolve(t.Context(), sam, because(d, payment.ResolvedPaid, first.ProviderRefundID))
	require.ErrorIs(t, err, payment.ErrPaymentTaken)
	_, err = r.Resolve(t.Context(), sam, because(d, payment.ResolvedPaid))
	require.ErrorIs(t, err, payment.ErrPaymentIDMissing)

	told := cents(webhooks.KindRefundFailed, id, "re_2", made.Money.Minor)
	told.RefundReference = made.ID.String()
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, told))
	for how, ids := range map[payment.Resolution][]string{payment.ResolvedPaid: {"re_2"}, payment.ResolvedNotPaid: nil} {
		_, err = r.Resolve(t.Context(), sam, because(d, how, ids...))
		require.ErrorIs(t, err, payment.ErrNotPending)
	}
	_, err = r.Resolve(t.Context(), sam, because(d, payment.ResolvedAccepted))
	require.NoError(t, err)
	require.Empty(t, r.verify(t))
}

// Nor is it the refund of the order's other payment, which came late.
func TestARefundIsNotResolvedAsThatOfAnotherAttempt(t *testing.T) {
	t.Parallel()
	r, p := newListing(t, false)
	late, id := r.paid(t, "A-1", "tok_decline").ID, r.pay(t, "A-1", "second-key", "tok_success").ID
	require.Equal(t, fsm.Conflict, r.say(t, late, webhooks.KindSucceeded))
	p.refund = nil
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, cents(webhooks.KindRefundSucceeded, late, "re_late", price)))
	p.refund = backLost
	made := r.lost(t, id, "refund-1")
	_, err := r.Resolve(t.Context(), sam, because(r.open(t, id)[0], payment.ResolvedPaid, "re_late"))
	require.ErrorIs(t, err, payment.ErrPaymentTaken)
	now, err := r.RefundStatus(t.Context(), shop, made.ID)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundPending, now.State)
	require.Empty(t, r.verify(t))
}

// A refund that its provider has been at work on for long can be decided, too.
func TestAPersonEndsASlowRefund(t *testing.T) {
	t.Parallel()
	r, p := newListing(t, false)
	pending := func() (payment.RefundOutcome, error) {
		return payment.RefundOutcome{News: fsm.NewsProcessing, ProviderRefundID: "re_1"}, nil
	}
	p.lookup, p.refund = pending, func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) { return pending() }
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	r.exec(t, "UPDATE refunds SET created_at = created_at - interval '15 days'")
	_, err := r.RecheckRefund(t.Context(), made.ID, byTest)
	require.NoError(t, err)
	r.second(t, r.open(t, id)[0], "as the dashboard calls it")
	now, err := r.RefundStatus(t.Context(), shop, made.ID)
	require.NoError(t, err)
	require.Equal(t, []any{fsm.RefundSucceeded, "re_1"}, []any{now.State, now.ProviderRefundID})
	require.EqualValues(t, price, r.attempt(t, id).Refunded)
	require.Empty(t, r.verify(t))
}

// A refund that its provider has named was made, whatever a list shows; and a person can't
// end it by the name of another.
func TestARefundThatWasNamedIsNotTakenForLost(t *testing.T) {
	t.Parallel()
	r, p := newListing(t, true)
	p.refund = func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
		return payment.RefundOutcome{News: fsm.NewsProcessing, ProviderRefundID: "re_1"}, nil
	}
	id := r.paid(t, "A-1", "tok_success").ID
	half := int64(700)
	made, err := r.Refund(t.Context(), shop, request("refund", "refund-1", ""), payment.CreateRefund{AttemptID: id, Amount: &half})
	require.NoError(t, err)
	r.exec(t, "UPDATE refunds SET created_at = created_at - interval '1 hour', updated_at = updated_at - interval '1 hour'")
	for range 12 {
		now, err := r.RecheckRefund(t.Context(), made.ID, byTest)
		require.NoError(t, err)
		require.Equal(t, fsm.RefundPending, now.State)
	}
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_dashboard", 100)))
	p.lookup = func() (payment.RefundOutcome, error) {
		return payment.RefundOutcome{News: fsm.NewsSucceeded, ProviderRefundID: "re_dashboard"}, nil
	}
	_, err = r.Resolve(t.Context(), sam, because(r.open(t, id)[0], payment.ResolvedPaid, "re_dashboard"))
	require.ErrorIs(t, err, payment.ErrPaymentTaken)
	require.EqualValues(t, 100, r.attempt(t, id).Refunded)
}

// While a runner has a refund no other sends it, and nobody is told that it is due.
func TestARefundIsOneRunners(t *testing.T) {
	t.Parallel()
	r, _ := newListing(t, false)
	made := r.refund(t, r.paid(t, "A-1", "tok_success").ID, "refund-1")
	r.exec(t, "UPDATE refunds SET lease_until = now() + interval '30 s', next_check_at = now() + interval '30 s'")
	due := func() []payment.RefundID {
		ids, err := r.DueRefunds(t.Context(), 10)
		require.NoError(t, err)
		return ids
	}
	require.Empty(t, due())
	_, err := r.RecheckRefund(t.Context(), made.ID, byTest)
	require.ErrorIs(t, err, payment.ErrBusy)
	r.exec(t, "UPDATE refunds SET lease_until = now(), next_check_at = now()")
	require.Equal(t, []payment.RefundID{made.ID}, due())
	now, err := r.RecheckRefund(t.Context(), made.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, made.Fence+1, now.Fence)
}

// Who was overtaken while a refund was being sent leaves the lease to the one who has it.
func TestAnOvertakenRefundLeavesTheLease(t *testing.T) {
	t.Parallel()
	var r *rig
	p := &refunding{refund: func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
		r.exec(t, "UPDATE refunds SET fence = fence + 1, lease_until = now() + interval '1 minute', next_check_at = now() + interval '1 minute'")
		return payment.RefundOutcome{}, errNoAnswer
	}}
	r = newRig(t, setup{silent: true, provider: p.on})
	made := r.refund(t, r.paid(t, "A-1", "tok_success").ID, "refund-1")
	require.Equal(t, fsm.RefundPending, made.State)
	require.Equal(t, []bool{true}, rows[bool](t, r, "SELECT lease_until > now() AND next_check_at = lease_until FROM refunds"))
}
