package engine_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestResolveRefund(t *testing.T) {
	t.Parallel()
	t.Run("not_paid", resolveRefundNotPaid)
	t.Run("paid", resolveRefundPaid)
	t.Run("paid_is_looked_up", resolveRefundPaidIsLookedUp)
	t.Run("refused", resolveRefundRefused)
	t.Run("refund_of_another_attempt", resolveRefundRefundOfAnotherAttempt)
	t.Run("slow", resolveRefundSlow)
	t.Run("named_is_not_lost", resolveRefundNamedIsNotLost)
}

// listing is a provider that never got a refund, and finds payments by a search that trails. Its list has refunds.
type listing struct {
	*refunding

	consistent bool
}

func (p listing) Capabilities() payment.Capabilities {
	c := p.Provider.Capabilities()
	c.Lookup, c.RefundsConsistent = payment.LookupByReference, p.consistent
	return c
}

func newListing(t *testing.T, consistent bool) (*env, *refunding) {
	t.Helper()
	p := &refunding{refund: backLost, lookup: func() (gateway.RefundOutcome, error) { return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment }}
	return newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider {
		p.on(of)
		return listing{p, consistent}
	}}), p
}

// lost makes a refund with a lost call, older than it could be under way unseen, and looked up
// to the schedule's end.
func (r *env) lost(t *testing.T, id payment.AttemptID, key string) payment.Refund {
	t.Helper()
	now := r.refund(t, id, key).Refund
	r.exec(t, "WITH r AS (UPDATE refunds SET created_at = created_at - $2::interval, updated_at = updated_at - $2::interval WHERE refund_id = $1) UPDATE operations SET created_at = created_at - $2::interval, first_sent_at = first_sent_at - $2::interval WHERE kind = 'refund' AND refund_id = $1", now.ID.String(), time.Hour)
	var err error
	for range 12 {
		now, err = r.RecheckRefund(t.Context(), now.ID, byTest)
		require.NoError(t, err)
	}
	return now
}

// Where no list proves anything a resolution does: the money is free again. Should the
// resolution have been wrong, there is a discrepancy.
func resolveRefundNotPaid(t *testing.T) {
	t.Parallel()
	r, p := newListing(t, false)
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.lost(t, id, "refund-1")
	_, err := r.Refund(t.Context(), shop, request("refund", "refund-2", ""), commands.CreateRefund{AttemptID: id})
	require.ErrorIs(t, err, payment.ErrRefundExceeds)

	d := r.open(t, id)[0]
	r.exec(t, "UPDATE operations SET lease_until = now() + interval '1 minute' WHERE kind = 'refund' AND open")
	_, err = r.Resolve(t.Context(), sam, because(d, payment.ResolvedNotPaid))
	require.ErrorIs(t, err, payment.ErrBusy)
	r.exec(t, "UPDATE operations SET lease_until = NULL WHERE kind = 'refund' AND open")
	for range 2 {
		_, err = r.agreed(t, because(d, payment.ResolvedNotPaid))
		require.NoError(t, err)
	}
	now, err := r.RefundStatus(t.Context(), shop, made.ID)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundFailed, now.State)
	require.Equal(t, payment.Failure{Code: "not_paid", Message: "The refund was not made. Nothing was refunded."}, *now.Failure)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt), "the payment stays as it is")
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

// A report of the refund by its name, before or after, may have another amount. The first report counts, and a
// discrepancy shows the other.
func resolveRefundPaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after []fsm.Verdict
		counted       int64
		by            string
	}{
		"reported before": {before: []fsm.Verdict{fsm.Applied}, counted: 700},
		"reported after":  {after: []fsm.Verdict{fsm.Conflict}, counted: price, by: "person kim"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := newListing(t, false)
			id := r.paid(t, "A-1", "tok_success").ID
			made := r.lost(t, id, "refund-1")
			told := cents(webhooks.KindRefundSucceeded, id, "re_found", 700)
			if c.before != nil {
				require.Equal(t, c.before, r.tell(t, told))
			}
			r.second(t, r.open(t, id)[0], "re_found")
			if c.after != nil {
				require.Equal(t, c.after, r.tell(t, told))
			}
			now, err := r.RefundStatus(t.Context(), shop, made.ID)
			require.NoError(t, err)
			require.Equal(t, fsm.RefundSucceeded, now.State)
			require.Equal(t, "re_found", now.ProviderRefundID)
			a := r.attempt(t, id)
			require.Equal(t, c.counted, a.Refunded)
			require.Equal(t, []string{cmp.Or(c.by, "webhook "+told.ID)}, rows[string](t, r, "SELECT cause || ' ' || cause_id FROM attempt_transitions WHERE attempt_id = $1 AND version = $2", id.String(), a.Version))
			require.Contains(t, r.updates(t, id), "payment_attempt.updated")
			require.Equal(t, []string{"u1 re_found succeeded 1999"}, r.refunds(t, id))
			require.Equal(t, []string{"amount_mismatch", "needs_review"}, r.discrepancies(t, id))
			require.Empty(t, r.verify(t))
		})
	}
}

func resolveRefundRefused(t *testing.T) {
	t.Parallel()
	r, p := newListing(t, false)
	id := r.paid(t, "A-1", "tok_success").ID
	half := int64(700)
	p.refund = nil
	first, err := r.Refund(t.Context(), shop, request("refund", "refund-1", ""), commands.CreateRefund{AttemptID: id, Amount: &half})
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
func resolveRefundRefundOfAnotherAttempt(t *testing.T) {
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

// A refund that its provider has been at work on for long can be resolved, too.
func resolveRefundSlow(t *testing.T) {
	t.Parallel()
	r, p := newListing(t, false)
	pending := func() (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: "re_1"}, nil
	}
	p.lookup, p.refund = pending, func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) { return pending() }
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	r.exec(t, "WITH r AS (UPDATE refunds SET created_at = created_at - interval '15 days') UPDATE operations SET created_at = created_at - interval '15 days', first_sent_at = first_sent_at - interval '15 days' WHERE kind = 'refund'")
	_, err := r.RecheckRefund(t.Context(), made.ID, byTest)
	require.NoError(t, err)
	r.second(t, r.open(t, id)[0], "as the dashboard calls it")
	now, err := r.RefundStatus(t.Context(), shop, made.ID)
	require.NoError(t, err)
	require.Equal(t, []any{fsm.RefundSucceeded, "re_1"}, []any{now.State, now.ProviderRefundID})
	require.EqualValues(t, price, r.attempt(t, id).Refunded)
	require.Empty(t, r.verify(t))
}

// A refund that its provider has named was made, even if a list does not show it. It can't be resolved by the name of
// another refund.
func resolveRefundNamedIsNotLost(t *testing.T) {
	t.Parallel()
	r, p := newListing(t, true)
	p.refund = func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: "re_1"}, nil
	}
	id := r.paid(t, "A-1", "tok_success").ID
	half := int64(700)
	made, err := r.Refund(t.Context(), shop, request("refund", "refund-1", ""), commands.CreateRefund{AttemptID: id, Amount: &half})
	require.NoError(t, err)
	r.exec(t, "WITH r AS (UPDATE refunds SET created_at = created_at - interval '1 hour', updated_at = updated_at - interval '1 hour') UPDATE operations SET created_at = created_at - interval '1 hour', first_sent_at = first_sent_at - interval '1 hour' WHERE kind = 'refund'")
	for range 12 {
		now, err := r.RecheckRefund(t.Context(), made.ID, byTest)
		require.NoError(t, err)
		require.Equal(t, fsm.RefundPending, now.State)
	}
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_dashboard", 100)))
	p.lookup = func() (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "re_dashboard"}, nil
	}
	_, err = r.Resolve(t.Context(), sam, because(r.open(t, id)[0], payment.ResolvedPaid, "re_dashboard"))
	require.ErrorIs(t, err, payment.ErrPaymentTaken)
	require.EqualValues(t, 100, r.attempt(t, id).Refunded)
}
