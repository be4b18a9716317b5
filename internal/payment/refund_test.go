package payment_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// refunding is a provider whose refunds are answered by hand.
type refunding struct {
	payment.Provider

	refund func(send func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error)
	lookup func() (payment.RefundOutcome, error)
}

func (p *refunding) on(of payment.Provider) payment.Provider {
	p.Provider = of
	return p
}

func (p *refunding) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	send := func() (payment.RefundOutcome, error) { return p.Provider.Refund(ctx, r) }
	if p.refund == nil {
		return send()
	}
	return p.refund(send)
}

func (p *refunding) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	if p.lookup == nil {
		return p.Provider.LookupRefund(ctx, r)
	}
	return p.lookup()
}

var shop = payment.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}

func (r *rig) refund(t *testing.T, id payment.AttemptID, key string) payment.Refunded {
	t.Helper()
	made, err := r.Refund(t.Context(), shop, request("refund", key, ""), payment.CreateRefund{AttemptID: id})
	require.NoError(t, err)
	return made
}

func turnedAway(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
	return payment.RefundOutcome{News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "api_key_expired")}, nil
}

func TestARefundThatIsRefusedAtOnceHasFailed(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: turnedAway}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	require.Equal(t, fsm.RefundFailed, made.State)
	require.Equal(t, "api_key_expired", made.Failure.ProviderCode)
	p.refund = nil
	require.Equal(t, fsm.RefundSucceeded, r.refund(t, id, "refund-2").State, "the money is free again")
}

// The refusal of a later send says nothing of the first, which may have gone
// through: what the provider knows of the refund counts.
func TestARefundThatIsRefusedLaterIsNotFailed(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: func(send func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
		_, _ = send()
		return payment.RefundOutcome{}, errNoAnswer
	}}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	require.Equal(t, fsm.RefundPending, made.State)
	p.refund = turnedAway
	again, err := r.RecheckRefund(t.Context(), made.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundPending, again.State)
	r.exec(t, "UPDATE refunds SET created_at = created_at - interval '11 minutes' WHERE refund_id = $1", made.ID.String())
	again, err = r.RecheckRefund(t.Context(), made.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundSucceeded, again.State)
	require.Zero(t, r.attempt(t, id).Held())
	require.Len(t, r.ledger(t), 2)
}

// A key that is turned away for days does not go round for ever: a person is
// asked at the schedule's end.
func TestARefundThatNobodyCanTellOfAsksAPerson(t *testing.T) {
	t.Parallel()
	lost := func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
		return payment.RefundOutcome{}, errNoAnswer
	}
	p := &refunding{refund: lost, lookup: func() (payment.RefundOutcome, error) { return payment.RefundOutcome{}, errNoAnswer }}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	p.refund = turnedAway
	for range 12 {
		_, err := r.RecheckRefund(t.Context(), made.ID, byTest)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	due := rows[time.Duration](t, r, "SELECT next_check_at - now() FROM refunds WHERE refund_id = $1", made.ID.String())
	require.Greater(t, due[0], 20*time.Hour)
}

// A refund that the provider calls pending may take weeks (an eCheck, a bank's own
// pace): it is no question for a person before it is slow, and no answer once is none.
func TestARefundThatIsPendingAtTheProviderAsksNobodyBeforeItIsSlow(t *testing.T) {
	t.Parallel()
	pending := func() (payment.RefundOutcome, error) {
		return payment.RefundOutcome{News: fsm.NewsProcessing, ProviderRefundID: "re_1"}, nil
	}
	p := &refunding{lookup: pending, refund: func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) { return pending() }}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	ask := func(times int) {
		for range times {
			_, err := r.RecheckRefund(t.Context(), made.ID, byTest)
			require.NoError(t, err)
		}
	}
	ask(12)
	p.lookup = func() (payment.RefundOutcome, error) { return payment.RefundOutcome{}, errNoAnswer }
	ask(1)
	p.lookup = pending
	ask(1)
	require.Empty(t, r.discrepancies(t, id))
	due := rows[time.Duration](t, r, "SELECT next_check_at - now() FROM refunds WHERE refund_id = $1", made.ID.String())
	require.Greater(t, due[0], 20*time.Hour)

	r.exec(t, "UPDATE refunds SET created_at = created_at - interval '15 days'")
	ask(2)
	require.Equal(t, []string{"The provider has been at work on a refund for long: ask its support what holds it up."},
		rows[string](t, r, "SELECT text FROM discrepancies WHERE attempt_id = $1", id.String()))
}

// What was held back from the provider is no answer of its: a first refund has
// not started, a later one waits as before.
func TestARefundThatIsHeldBack(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
		return payment.RefundOutcome{}, errHeldBack
	}}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	require.Equal(t, fsm.RefundFailed, made.State)
	require.Equal(t, "not_started", made.Failure.Code)

	p.refund = func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
		return payment.RefundOutcome{}, errNoAnswer
	}
	second := r.refund(t, id, "refund-2")
	p.refund = func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
		return payment.RefundOutcome{}, errHeldBack
	}
	for range 12 {
		again, err := r.RecheckRefund(t.Context(), second.ID, byTest)
		require.NoError(t, err)
		require.Equal(t, fsm.RefundPending, again.State)
		require.Zero(t, again.Checks-second.Checks)
	}
	require.Empty(t, r.discrepancies(t, id))
	p.lookup = func() (payment.RefundOutcome, error) { return payment.RefundOutcome{}, errHeldBack }
	r.exec(t, "UPDATE refunds SET created_at = created_at - interval '3 days' WHERE refund_id = $1", second.ID.String())
	_, err := r.RecheckRefund(t.Context(), second.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id), "an outage without an end is seen")
}

// A provider that pays back something else than it was asked for is not believed
// in silence.
func TestARefundOfAnotherAmountAsksAPerson(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: func(send func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
		o, err := send()
		o.Money.Minor--
		return o, err
	}}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	require.Equal(t, fsm.RefundSucceeded, made.State)
	require.Equal(t, []string{"amount_mismatch"}, r.discrepancies(t, id))
	_, err := r.RecheckRefund(t.Context(), made.ID, byTest)
	require.NoError(t, err)
	require.Len(t, r.discrepancies(t, id), 1)
}

// What is refused pays nothing back, and what another amount or another person would
// lift leaves the key to them.
func TestRefundsThatAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id, pending := r.paid(t, "A-1", "tok_success").ID, r.paid(t, "A-2", "tok_never").ID
	stranger := shop
	stranger.OnBehalfOf = "u2"
	of := func(minor int64) *int64 { return &minor }
	for key, c := range map[string]struct {
		actor payment.Actor
		cmd   payment.CreateRefund
		want  error
	}{
		"more-than-is-left":    {shop, payment.CreateRefund{AttemptID: id, Amount: of(price + 1)}, payment.ErrRefundExceeds},
		"nothing-at-all":       {shop, payment.CreateRefund{AttemptID: id, Amount: of(0)}, payment.ErrRefundExceeds},
		"more-is-expected":     {shop, payment.CreateRefund{AttemptID: id, Expected: of(price + 1)}, payment.ErrRefundableChanged},
		"less-is-expected":     {shop, payment.CreateRefund{AttemptID: id, Amount: of(1), Expected: of(price - 1)}, payment.ErrRefundableChanged},
		"another-users":        {stranger, payment.CreateRefund{AttemptID: id}, payment.ErrForbidden},
		"by-the-customer":      {customer, payment.CreateRefund{AttemptID: id}, payment.ErrForbidden},
		"of-what-is-not-paid":  {shop, payment.CreateRefund{AttemptID: pending}, payment.ErrNotRefundable},
		"of-what-is-not-there": {shop, payment.CreateRefund{AttemptID: payment.AttemptID{1}}, payment.ErrAttemptNotFound},
		"by-support-staff":     {sam, payment.CreateRefund{AttemptID: id}, payment.ErrForbidden},
	} {
		req := request("refund", key, "")
		req.User = string(c.actor.User())
		_, err := r.Refund(t.Context(), c.actor, req, c.cmd)
		require.ErrorIs(t, err, c.want, key)
	}
	require.Empty(t, rows[string](t, r, "SELECT status::text FROM refunds"))

	made, err := r.Refund(t.Context(), shop, request("refund", "less-is-expected", "1"), payment.CreateRefund{AttemptID: id, Amount: of(1), Expected: of(price)})
	require.NoError(t, err)
	require.Equal(t, idempotency.Created, made.Result)
	_, err = r.Refund(t.Context(), shop, request("refund", "less-is-expected", "2"), payment.CreateRefund{AttemptID: id})
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
	ada := payment.Actor{Subject: "ada", Roles: []payment.Role{payment.RoleAdmin}}
	rest, err := r.Refund(t.Context(), ada, request("refund", "the-rest", ""), payment.CreateRefund{AttemptID: id, Expected: of(price - 1)})
	require.NoError(t, err)
	require.EqualValues(t, price-1, rest.Money.Minor)
	require.Len(t, r.ledger(t), 3)
}

// A refund that never reached the provider is not in what the provider says was paid back
// in all.
func TestATotalCountsBesideARefundThatWasNeverSent(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: turnedAway}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, fsm.RefundFailed, r.refund(t, id, "refund-1").State)
	total := cents(webhooks.KindRefundSucceeded, id, "", 500)
	total.Cumulative = true
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, total))
	require.EqualValues(t, 500, r.attempt(t, id).Refunded)
}

// Money that nobody can name to its provider can't be sent back yet.
func TestAPaymentThatTheProviderHasNotNamedIsNotRefunded(t *testing.T) {
	t.Parallel()
	p := &tapped{charge: dead(errNoAnswer)}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSucceeded))
	refund := func() error {
		_, err := r.Refund(t.Context(), shop, request("refund", "refund-1", ""), payment.CreateRefund{AttemptID: id})
		return err
	}
	require.ErrorIs(t, refund(), payment.ErrNotRefundable)
	require.Empty(t, rows[string](t, r, "SELECT status::text FROM refunds"))
}

func TestWhatIsUnderWayIsNotLeft(t *testing.T) {
	t.Parallel()
	refund := func(state fsm.RefundState, minor int64) payment.Refund {
		return payment.Refund{State: state, Money: payment.Money{Minor: minor, Currency: "EUR"}}
	}
	a := payment.Attempt{Captured: 1999, Refunded: 500}
	require.EqualValues(t, 1499, a.Refundable(nil))
	require.EqualValues(t, 1299, a.Refundable([]payment.Refund{
		refund(fsm.RefundSucceeded, 500), refund(fsm.RefundPending, 200), refund(fsm.RefundFailed, 100),
	}))
	a = payment.Attempt{Captured: 1999, Reversed: 500}
	require.EqualValues(t, 1299, a.Refundable([]payment.Refund{refund(fsm.RefundPending, 200)}), "nor is what was taken back")
}
