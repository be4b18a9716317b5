package engine_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	t.Run("paid", resolvePaid)
	t.Run("not_paid", resolveNotPaid)
	t.Run("paid_beside_late_money", resolvePaidBesideLateMoney)
	t.Run("paid_in_another_currency", resolvePaidInAnotherCurrency)
	t.Run("once", resolveOnce)
	t.Run("moves_nothing", resolveMovesNothing)
	t.Run("refused", resolveRefused)
	t.Run("opens_again", resolveOpensAgain)
	t.Run("each_undone_refund", resolveEachUndoneRefund)
	t.Run("strands_no_order", resolveStrandsNoOrder)
}

var sam = authz.Actor{Subject: "sam", Roles: []payment.Role{payment.RoleSupport}}

// open lists the ids of an attempt's open discrepancies.
func (r *env) open(t *testing.T, id payment.AttemptID) []payment.DiscrepancyID {
	t.Helper()
	found := rows[uuid.UUID](t, r, "SELECT discrepancy_id FROM discrepancies WHERE attempt_id = $1 AND resolved_at IS NULL ORDER BY opened_at, discrepancy_id", id.String())
	ids := make([]payment.DiscrepancyID, len(found))
	for i, d := range found {
		ids[i] = payment.DiscrepancyID(d)
	}
	return ids
}

// stuck is a pending attempt that needs review.
func (r *env) stuck(t *testing.T, order payment.OrderID) (payment.AttemptID, payment.DiscrepancyID) {
	t.Helper()
	id := r.paid(t, order, "tok_never").ID
	wrong := event(webhooks.KindAuthorized, id.String())
	wrong.Money.Minor = 5
	require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, wrong))
	ids := r.open(t, id)
	require.Len(t, ids, 1)
	return id, ids[0]
}

func because(id payment.DiscrepancyID, how payment.Resolution, payments ...string) commands.Resolve {
	cmd := commands.Resolve{ID: id, Resolution: how, Reason: "asked the provider's support"}
	if len(payments) > 0 {
		cmd.ProviderPaymentID = payments[0]
	}
	return cmd
}

// agreed resolves as two people do where one is not enough.
func (r *env) agreed(t *testing.T, cmd commands.Resolve) (payment.Discrepancy, error) {
	t.Helper()
	d, err := r.Resolve(t.Context(), sam, cmd)
	if err == nil && d.Awaits() {
		return r.Resolve(t.Context(), kim, cmd)
	}
	return d, err
}

// knowing is a provider with payments of these names. The first one has our mark.
func knowing(names ...string) func(of gateway.Provider) gateway.Provider {
	p := &lossy{says: map[string]func() (gateway.Outcome, error){}, ours: names[0]}
	for _, name := range names {
		p.says[name] = saysPaid(name, price, "EUR")
	}
	return p.on
}

func resolvePaid(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, provider: knowing("pay_found")})
	id, d := r.stuck(t, "A-1")
	parked := event(webhooks.KindDisputed, "pay_found")
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, r.tell(t, parked))

	got, err := r.Resolve(t.Context(), sam, because(d, payment.ResolvedPaid, "pay_found"))
	require.NoError(t, err)
	require.Equal(t, payment.Resolved{
		Resolution: payment.ResolvedPaid, ProviderPaymentID: "pay_found", By: "sam", Reason: "asked the provider's support", At: got.Resolved.At,
	}, *got.Resolved)
	kept, err := r.store.Discrepancy(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, got, kept)

	a := r.attempt(t, id)
	require.Equal(t, succeeded, standingOf(a.Attempt))
	require.EqualValues(t, price, a.Captured)
	require.Equal(t, []string{"person sam"}, rows[string](t, r, "SELECT cause || ' ' || cause_id FROM attempt_transitions WHERE attempt_id = $1 AND version = $2", id.String(), a.Version))
	require.Contains(t, r.updates(t, id), "payment_attempt.succeeded")
	require.Equal(t, []string{"conflict", "applied"}, r.verdicts(t, id), "what had named the payment is applied")
	o, err := r.Order(t.Context(), customer, "A-1")
	require.NoError(t, err)
	require.Equal(t, payment.OrderPaid, o.Status())
}

func resolveNotPaid(t *testing.T) {
	t.Parallel()
	p := &lossy{says: map[string]func() (gateway.Outcome, error){}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id, d := r.stuck(t, "A-1")
	name := r.attempt(t, id).ProviderPaymentID
	p.says[name] = replies(gateway.Outcome{Event: fsm.EventFailed, ProviderPaymentID: name}, nil)
	_, err := r.Resolve(t.Context(), sam, because(d, payment.ResolvedNotPaid))
	require.NoError(t, err)
	require.Equal(t, standing{"failed", "final", "not_paid"}, standingOf(r.attempt(t, id).Attempt))
	r.recheck(t, id) // the hold is released
	second := r.pay(t, "A-1", "second-key", "tok_success")
	require.Equal(t, succeeded, standingOf(second.Attempt), "the order can be paid again")
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded), "and should the person have been wrong, it is seen")
	require.Contains(t, r.discrepancies(t, id), "double_success")
}

// An attempt that is resolved as paid is a success like any other: beside late money it is the second success.
func resolvePaidBesideLateMoney(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, provider: knowing("pay_found")})
	late := r.paid(t, "A-1", "tok_decline").ID
	id := r.payAgain(t, "A-1", "tok_never", payment.CaptureAutomatic).ID
	r.told(t, webhooks.KindAuthorized, id, taken, "EUR")
	require.Equal(t, fsm.Conflict, r.say(t, late, webhooks.KindSucceeded))
	require.Equal(t, []string{"late_success"}, r.discrepancies(t, late))
	_, err := r.Resolve(t.Context(), sam, because(r.open(t, id)[0], payment.ResolvedPaid, "pay_found"))
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Equal(t, []string{"double_success", "late_success"}, r.discrepancies(t, late))
}

func resolveOnce(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, provider: knowing("pay_found", "pay_other")})
	id, d := r.stuck(t, "A-1")
	cmd := because(d, payment.ResolvedPaid, "pay_found")
	race(times(10, func(int) {
		if _, err := r.Resolve(t.Context(), sam, cmd); err != nil {
			t.Error(err)
		}
	})...)
	require.Equal(t, 1, rows[int](t, r, "SELECT count(*)::int FROM attempt_transitions WHERE attempt_id = $1 AND cause = 'person'", id.String())[0])
	late := r.paid(t, "A-2", "tok_decline").ID
	r.say(t, late, webhooks.KindSucceeded)
	accepted := r.open(t, late)[0]
	race(times(10, func(int) {
		if _, err := r.Resolve(t.Context(), sam, because(accepted, payment.ResolvedAccepted)); err != nil {
			t.Error(err)
		}
	})...)
	again := cmd
	again.Reason = "another one"
	got, err := r.Resolve(t.Context(), authz.Actor{Subject: "kim", Roles: []payment.Role{payment.RoleAdmin}}, again)
	require.NoError(t, err)
	require.Equal(t, "sam", got.Resolved.By, "the first counts")
	for _, other := range []commands.Resolve{because(d, payment.ResolvedAccepted), because(d, payment.ResolvedPaid, "pay_other")} {
		_, err = r.Resolve(t.Context(), sam, other)
		require.ErrorIs(t, err, payment.ErrResolved)
	}
}

func resolveMovesNothing(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	for _, how := range []payment.Resolution{payment.ResolvedAccepted, payment.ResolvedRefundedElsewhere} {
		id := r.paid(t, payment.OrderID(how), "tok_success").ID
		r.say(t, id, webhooks.KindDisputed)
		before := r.attempt(t, id).Version
		_, err := r.Resolve(t.Context(), sam, because(r.open(t, id)[0], how))
		require.NoError(t, err)
		require.Equal(t, before, r.attempt(t, id).Version)
		require.Empty(t, r.open(t, id))
	}
}

func resolveRefused(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id, d := r.stuck(t, "A-1")
	other := r.paid(t, "A-2", "tok_success")
	late := r.paid(t, "A-3", "tok_decline").ID
	r.say(t, late, webhooks.KindSucceeded)
	wrong, held := r.stuck(t, "A-4")
	taken := event(webhooks.KindSucceeded, wrong.String())
	taken.Money.Minor = price - 1
	r.tell(t, taken)

	for name, c := range map[string]struct {
		cmd  commands.Resolve
		want error
	}{
		"no such discrepancy":        {because(payment.DiscrepancyID(uuid.New()), payment.ResolvedAccepted), payment.ErrDiscrepancyNotFound},
		"paid by a long id":          {because(payment.DiscrepancyID(uuid.New()), payment.ResolvedPaid, strings.Repeat("x", 512)), payment.ErrDiscrepancyNotFound},
		"paid without an id":         {because(d, payment.ResolvedPaid), payment.ErrPaymentIDMissing},
		"paid by another's payment":  {because(d, payment.ResolvedPaid, other.ProviderPaymentID), payment.ErrPaymentTaken},
		"paid by another's id":       {because(d, payment.ResolvedPaid, other.ID.String()), payment.ErrPaymentTaken},
		"paid, but final":            {because(r.open(t, late)[0], payment.ResolvedPaid, "pay_found"), payment.ErrNotPending},
		"not paid, but final":        {because(r.open(t, late)[0], payment.ResolvedNotPaid), payment.ErrNotPending},
		"not paid, but holds money":  {because(held, payment.ResolvedNotPaid), payment.ErrHoldsMoney},
		"not paid, without attempt":  {because(r.withoutAttempt(t), payment.ResolvedNotPaid), payment.ErrNotPending},
		"while somebody asks (busy)": {because(r.leased(t, "A-5"), payment.ResolvedNotPaid), payment.ErrBusy},
		"accepted, but pending":      {because(d, payment.ResolvedAccepted), payment.ErrResolutionImpossible},
		"refunded, but nothing held": {because(d, payment.ResolvedRefundedElsewhere), payment.ErrResolutionImpossible},
	} {
		_, err := r.Resolve(t.Context(), sam, c.cmd)
		require.ErrorIs(t, err, c.want, name)
	}
	for field, cmd := range map[string]commands.Resolve{
		"reason":              {ID: d, Resolution: payment.ResolvedAccepted, Reason: " \n"},
		"resolution":          {ID: d, Resolution: "done", Reason: "x"},
		"provider_payment_id": because(d, payment.ResolvedAccepted, "pay_1"),
	} {
		_, err := r.Resolve(t.Context(), sam, cmd)
		var invalid *payment.ValidationError
		require.ErrorAs(t, err, &invalid, field)
		require.Equal(t, field, invalid.Fields[0].Field)
	}
	for _, actor := range []authz.Actor{customer, {Subject: "shop", Roles: []payment.Role{payment.RoleService}}, {Subject: "sam", Roles: sam.Roles, OnlyAttempt: &id}} {
		_, err := r.Resolve(t.Context(), actor, because(d, payment.ResolvedAccepted))
		require.ErrorIs(t, err, payment.ErrForbidden)
	}
	require.Len(t, r.open(t, id), 1, "nothing was resolved")
	require.Equal(t, "pending", standingOf(r.attempt(t, id).Attempt).status)
}

// withoutAttempt is a discrepancy of an event that names no attempt.
func (r *env) withoutAttempt(t *testing.T) payment.DiscrepancyID {
	t.Helper()
	e := event(webhooks.KindSucceeded, "pay_nobody")
	r.tell(t, e)
	e.Money.Minor++
	r.tell(t, e)
	return payment.DiscrepancyID(rows[uuid.UUID](t, r, "SELECT discrepancy_id FROM discrepancies WHERE attempt_id IS NULL")[0])
}

// leased is a discrepancy of an attempt that a runner has leased.
func (r *env) leased(t *testing.T, order payment.OrderID) payment.DiscrepancyID {
	t.Helper()
	id, d := r.stuck(t, order)
	r.exec(t, "UPDATE operations SET lease_until = now() + interval '1 minute' WHERE open AND refund_id IS NULL AND attempt_id = $1", id.String())
	return d
}

// A resolved discrepancy opens again for a new cause: another dispute, another amount. A repeated report does not open
// it.
func resolveOpensAgain(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	disputed := func() []payment.DiscrepancyID { r.say(t, id, webhooks.KindDisputed); return r.open(t, id) }
	mismatch := func(minor int64) []payment.DiscrepancyID {
		e := event(webhooks.KindSucceeded, id.String())
		e.Money.Minor = minor
		r.tell(t, e)
		return r.open(t, id)
	}
	resolve := func(d payment.DiscrepancyID) {
		_, err := r.Resolve(t.Context(), sam, because(d, payment.ResolvedAccepted))
		require.NoError(t, err)
	}
	first := disputed()
	require.Len(t, first, 1)
	require.Equal(t, first, disputed(), "an open dispute is one")
	resolve(first[0])
	second := disputed()
	require.Len(t, second, 1)
	require.NotEqual(t, first, second)
	resolve(second[0])

	five := mismatch(5)
	require.Len(t, five, 1)
	require.Equal(t, five, mismatch(5))
	resolve(five[0])
	require.Empty(t, mismatch(5), "the same amount was resolved")
	six := mismatch(6)
	require.Len(t, six, 1)
	resolve(six[0])
}

// Two refunds of one amount that are undone are two discrepancies.
func resolveEachUndoneRefund(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	for _, refund := range []string{"re_1", "re_2"} {
		made := event(webhooks.KindRefundSucceeded, id.String())
		made.RefundID, made.Money = refund, &webhooks.Money{Minor: 100, Currency: "EUR"}
		undone := event(webhooks.KindRefundFailed, id.String())
		undone.RefundID, undone.Money = refund, made.Money
		r.tell(t, made, undone)
	}
	require.Equal(t, []string{"refund_reversed", "refund_reversed"}, r.discrepancies(t, id))
	require.Zero(t, r.attempt(t, id).Refunded)
}
