package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestRefund(t *testing.T) {
	t.Parallel()
	t.Run("refused_at_the_first_send", refundRefusedAtTheFirstSend)
	t.Run("refused_at_a_later_send", refundRefusedAtALaterSend)
	t.Run("unknown_needs_review", refundUnknownNeedsReview)
	t.Run("pending_needs_review_once_slow", refundPendingNeedsReviewOnceSlow)
	t.Run("held_back", refundHeldBack)
	t.Run("of_another_amount_needs_review", refundOfAnotherAmountNeedsReview)
	t.Run("refusals", refundRefusals)
	t.Run("payment_without_a_name", refundPaymentWithoutAName)
	t.Run("amount_that_is_left", refundAmountThatIsLeft)
}

// refunding is a provider with refunds that the test chooses.
type refunding struct {
	gateway.Provider

	refund func(send func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error)
	lookup func() (gateway.RefundOutcome, error)
}

func (p *refunding) on(of gateway.Provider) gateway.Provider {
	p.Provider = of
	return p
}

func (p *refunding) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	send := func() (gateway.RefundOutcome, error) { return p.Provider.Refund(ctx, r) }
	if p.refund == nil {
		return send()
	}
	return p.refund(send)
}

func (p *refunding) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if p.lookup == nil {
		return p.Provider.LookupRefund(ctx, r)
	}
	return p.lookup()
}

var shop = authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}

func (r *env) refund(t *testing.T, id payment.AttemptID, key string) commands.RefundReply {
	t.Helper()
	made, err := r.Refund(t.Context(), shop, request("refund", key, ""), commands.CreateRefund{AttemptID: id})
	require.NoError(t, err)
	return made
}

func turnedAway(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
	return gateway.RefundOutcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "api_key_expired")}, nil
}

func refundRefusedAtTheFirstSend(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: turnedAway}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	require.Equal(t, fsm.RefundFailed, made.State)
	require.Equal(t, "api_key_expired", made.Failure.ProviderCode)
	p.refund = nil
	require.Equal(t, fsm.RefundSucceeded, r.refund(t, id, "refund-2").State, "the money is free again")
}

// The refusal of a later send proves nothing about the first send. The first may have gone through: the provider's own
// record of the refund counts.
func refundRefusedAtALaterSend(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: func(send func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		_, _ = send()
		return gateway.RefundOutcome{}, errNoAnswer
	}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	require.Equal(t, fsm.RefundPending, made.State)
	p.refund = turnedAway
	again, err := r.RecheckRefund(t.Context(), made.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundPending, again.State)
	r.exec(t, "WITH r AS (UPDATE refunds SET created_at = created_at - interval '11 minutes' WHERE refund_id = $1) UPDATE operations SET created_at = created_at - interval '11 minutes', first_sent_at = first_sent_at - interval '11 minutes' WHERE kind = 'refund' AND refund_id = $1", made.ID.String())
	again, err = r.RecheckRefund(t.Context(), made.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundSucceeded, again.State)
	require.Zero(t, r.attempt(t, id).Held())
	require.Len(t, r.ledger(t), 2)
}

// A key that is turned away for days does not go round for ever: the refund needs review at the
// schedule's end.
func refundUnknownNeedsReview(t *testing.T) {
	t.Parallel()
	lost := func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{}, errNoAnswer
	}
	p := &refunding{refund: lost, lookup: func() (gateway.RefundOutcome, error) { return gateway.RefundOutcome{}, errNoAnswer }}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	p.refund = turnedAway
	r.longAgo(t, id, 20*time.Hour)
	for range 12 {
		_, err := r.RecheckRefund(t.Context(), made.ID, byTest)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	due := rows[time.Duration](t, r, "SELECT next_at - now() FROM operations WHERE refund_id = $1", made.ID.String())
	require.Greater(t, due[0], 20*time.Hour)
}

// A refund that the provider calls pending may take weeks (an eCheck, a bank's own pace): it
// needs no review before it is slow, and one lookup without a response does not change that.
func refundPendingNeedsReviewOnceSlow(t *testing.T) {
	t.Parallel()
	pending := func() (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: "re_1"}, nil
	}
	p := &refunding{lookup: pending, refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) { return pending() }}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	ask := func(times int) {
		for range times {
			_, err := r.RecheckRefund(t.Context(), made.ID, byTest)
			require.NoError(t, err)
		}
	}
	r.longAgo(t, id, 20*time.Hour)
	ask(12)
	p.lookup = func() (gateway.RefundOutcome, error) { return gateway.RefundOutcome{}, errNoAnswer }
	ask(1)
	p.lookup = pending
	ask(1)
	require.Empty(t, r.discrepancies(t, id))
	due := rows[time.Duration](t, r, "SELECT next_at - now() FROM operations WHERE refund_id = $1", made.ID.String())
	require.Greater(t, due[0], 20*time.Hour)

	r.exec(t, "WITH r AS (UPDATE refunds SET created_at = created_at - interval '15 days') UPDATE operations SET created_at = created_at - interval '15 days', first_sent_at = first_sent_at - interval '15 days' WHERE kind = 'refund'")
	ask(2)
	require.Equal(t, []string{"The provider has been processing a refund for a long time. Ask its support for the reason."},
		rows[string](t, r, "SELECT text FROM discrepancies WHERE attempt_id = $1", id.String()))
}

// A throttled call is no result of the provider: a first refund has not started, a later one waits as before.
func refundHeldBack(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{}, errHeldBack
	}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	require.Equal(t, fsm.RefundFailed, made.State)
	require.Equal(t, "not_started", made.Failure.Code)

	p.refund = func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{}, errNoAnswer
	}
	second := r.refund(t, id, "refund-2")
	p.refund = func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{}, errHeldBack
	}
	for range 12 {
		again, err := r.RecheckRefund(t.Context(), second.ID, byTest)
		require.NoError(t, err)
		require.Equal(t, fsm.RefundPending, again.State)
		require.Equal(t, []int32{0}, rows[int32](t, r, "SELECT tries FROM operations WHERE refund_id = $1", second.ID.String()))
	}
	require.Empty(t, r.discrepancies(t, id))
	p.lookup = func() (gateway.RefundOutcome, error) { return gateway.RefundOutcome{}, errHeldBack }
	r.exec(t, "WITH r AS (UPDATE refunds SET created_at = created_at - interval '3 days' WHERE refund_id = $1) UPDATE operations SET created_at = created_at - interval '3 days', first_sent_at = first_sent_at - interval '3 days' WHERE kind = 'refund' AND refund_id = $1", second.ID.String())
	_, err := r.RecheckRefund(t.Context(), second.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id), "an outage without an end is seen")
}

// A provider that refunds another amount than it was sent opens a discrepancy.
func refundOfAnotherAmountNeedsReview(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: func(send func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		o, err := send()
		o.Money.Minor--
		return o, err
	}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	require.Equal(t, fsm.RefundSucceeded, made.State)
	require.Equal(t, []string{"amount_mismatch"}, r.discrepancies(t, id))
	_, err := r.RecheckRefund(t.Context(), made.ID, byTest)
	require.NoError(t, err)
	require.Len(t, r.discrepancies(t, id), 1)
}

// A refused refund refunds nothing. A refusal that another amount or another caller would lift leaves the key to them.
func refundRefusals(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id, pending := r.paid(t, "A-1", "tok_success").ID, r.paid(t, "A-2", "tok_never").ID
	stranger := shop
	stranger.OnBehalfOf = "u2"
	of := func(minor int64) *int64 { return &minor }
	for key, c := range map[string]struct {
		actor authz.Actor
		cmd   commands.CreateRefund
		want  error
	}{
		"more-than-is-left":    {shop, commands.CreateRefund{AttemptID: id, Amount: of(price + 1)}, payment.ErrRefundExceeds},
		"nothing-at-all":       {shop, commands.CreateRefund{AttemptID: id, Amount: of(0)}, payment.ErrRefundExceeds},
		"more-is-expected":     {shop, commands.CreateRefund{AttemptID: id, Expected: of(price + 1)}, payment.ErrRefundableChanged},
		"less-is-expected":     {shop, commands.CreateRefund{AttemptID: id, Amount: of(1), Expected: of(price - 1)}, payment.ErrRefundableChanged},
		"another-users":        {stranger, commands.CreateRefund{AttemptID: id}, payment.ErrForbidden},
		"by-the-customer":      {customer, commands.CreateRefund{AttemptID: id}, payment.ErrForbidden},
		"of-what-is-not-paid":  {shop, commands.CreateRefund{AttemptID: pending}, payment.ErrNotRefundable},
		"of-what-is-not-there": {shop, commands.CreateRefund{AttemptID: payment.AttemptID{1}}, payment.ErrAttemptNotFound},
		"by-support-staff":     {sam, commands.CreateRefund{AttemptID: id}, payment.ErrForbidden},
	} {
		req := request("refund", key, "")
		req.User = string(c.actor.User())
		_, err := r.Refund(t.Context(), c.actor, req, c.cmd)
		require.ErrorIs(t, err, c.want, key)
	}
	require.Empty(t, rows[string](t, r, "SELECT status::text FROM refunds"))

	made, err := r.Refund(t.Context(), shop, request("refund", "less-is-expected", "1"), commands.CreateRefund{AttemptID: id, Amount: of(1), Expected: of(price)})
	require.NoError(t, err)
	require.Equal(t, idempotency.Created, made.Result)
	_, err = r.Refund(t.Context(), shop, request("refund", "less-is-expected", "2"), commands.CreateRefund{AttemptID: id})
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
	ada := authz.Actor{Subject: "ada", Roles: []payment.Role{payment.RoleAdmin}}
	rest, err := r.Refund(t.Context(), ada, request("refund", "the-rest", ""), commands.CreateRefund{AttemptID: id, Expected: of(price - 1)})
	require.NoError(t, err)
	require.EqualValues(t, price-1, rest.Money.Minor)
	require.Len(t, r.ledger(t), 3)
}

// Money of a payment that has no name at its provider can't be refunded yet.
func refundPaymentWithoutAName(t *testing.T) {
	t.Parallel()
	p := &spy{charge: dead(errNoAnswer)}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSucceeded))
	refund := func() error {
		_, err := r.Refund(t.Context(), shop, request("refund", "refund-1", ""), commands.CreateRefund{AttemptID: id})
		return err
	}
	require.ErrorIs(t, refund(), payment.ErrNotRefundable)
	require.Empty(t, rows[string](t, r, "SELECT status::text FROM refunds"))
}

func refundAmountThatIsLeft(t *testing.T) {
	t.Parallel()
	of := func(state fsm.RefundState, minor int64) payment.Refund {
		return payment.Refund{State: state, Money: payment.Money{Minor: minor, Currency: "EUR"}}
	}
	a := payment.Attempt{Captured: 1999, Refunded: 500}
	require.EqualValues(t, 1499, payment.RefundLeft(a, nil))
	require.EqualValues(t, 1299, payment.RefundLeft(a, []payment.Refund{
		of(fsm.RefundSucceeded, 500), of(fsm.RefundPending, 200), of(fsm.RefundFailed, 100),
	}))
	a = payment.Attempt{Captured: 1499}
	require.EqualValues(t, 1299, payment.RefundLeft(a, []payment.Refund{of(fsm.RefundPending, 200)}), "nor is what was taken back")
}
