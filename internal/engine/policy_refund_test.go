package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestPolicyRefund(t *testing.T) {
	t.Parallel()
	t.Run("sent_late", policyRefundSentLate)
	t.Run("never_sent", policyRefundNeverSent)
	t.Run("held_back", policyRefundHeldBack)
	t.Run("accepted", policyRefundAccepted)
}

// A policy's refund may be sent long after it was put on disk. So a lookup that does not find it yet proves as little as
// for a refund that is sent at once.
func policyRefundSentLate(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{}, errNoAnswer
	}, lookup: func() (gateway.RefundOutcome, error) { return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment }}
	r := newEnv(t, setup{silent: true, provider: p.on, change: autoRefunds})
	id := r.paid(t, "A-1", "tok_decline").ID
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	due, err := r.DueRefunds(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, due, 1)
	older := func(by string) {
		r.exec(t, "WITH r AS (UPDATE refunds SET created_at = created_at - $2::interval, updated_at = updated_at - $2::interval WHERE refund_id = $1) UPDATE operations SET created_at = created_at - $2::interval, first_sent_at = first_sent_at - $2::interval WHERE kind = 'refund' AND refund_id = $1", due[0].String(), by)
	}
	older("2 hours")
	for range 2 {
		now, err := r.RecheckRefund(t.Context(), due[0], byTest)
		require.NoError(t, err)
		require.Equal(t, fsm.RefundPending, now.State)
	}
	older("20 minutes")
	now, err := r.RecheckRefund(t.Context(), due[0], byTest)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundFailed, now.State)
	require.Equal(t, "not_started", now.Failure.Code)
}

// The reconciler sends a policy's refund first. A throttled refund decides nothing. A refund that is never sent would be
// throttled for ever.
func policyRefundNeverSent(t *testing.T) {
	t.Parallel()
	answer := gateway.ErrNotSent
	p := &refunding{refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{}, answer
	}}
	for err, want := range map[error]fsm.RefundState{gateway.ErrNotSent: fsm.RefundPending, gateway.ErrUnsupportedRequest: fsm.RefundFailed} {
		answer = err
		r := newEnv(t, setup{silent: true, provider: p.on, change: autoRefunds})
		id := r.paid(t, "A-1", "tok_decline").ID
		require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
		due, err := r.DueRefunds(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, due, 1)
		now, err := r.RecheckRefund(t.Context(), due[0], byTest)
		require.NoError(t, err)
		require.Equal(t, want, now.State)
	}
}

// Not a byte of a throttled refund was sent. It is sent once, as soon as that is possible, at any age, and whether or
// not its provider has keys.
func policyRefundHeldBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ keys, age time.Duration }{
		"keyless": {0, 0}, "young": {time.Hour, 0}, "old": {time.Hour, 10 * time.Minute}, "keyless and old": {0, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := fmt.Errorf("%w: %w", gateway.ErrNotSent, gateway.ErrThrottled)
			sent := 0
			p := &refunding{refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
				if answer != nil {
					return gateway.RefundOutcome{}, answer
				}
				sent++
				return gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "re_1"}, nil
			}}
			r := newEnv(t, setup{silent: true, change: autoRefunds, provider: func(of gateway.Provider) gateway.Provider {
				return (&spy{can: func(can *payment.Capabilities) { can.KeyLife = c.keys }}).on(p.on(of))
			}})
			id := r.paid(t, "A-1", "tok_decline").ID
			require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
			due, err := r.DueRefunds(t.Context(), 10)
			require.NoError(t, err)
			require.Len(t, due, 1)
			for i, want := range []fsm.RefundState{fsm.RefundPending, fsm.RefundPending, fsm.RefundSucceeded} {
				r.exec(t, "WITH r AS (UPDATE refunds SET created_at = created_at - $1::interval) UPDATE operations SET created_at = created_at - $1::interval, first_sent_at = first_sent_at - $1::interval WHERE kind = 'refund'", c.age)
				if i == 2 {
					answer = nil
				}
				now, err := r.RecheckRefund(t.Context(), due[0], byTest)
				require.NoError(t, err)
				require.Equal(t, want, now.State)
			}
			require.EqualValues(t, price, r.attempt(t, id).Refunded)
			require.Equal(t, 1, sent)
			require.Empty(t, r.verify(t))
		})
	}
}

// Late money of another amount was accepted as the order's payment. It stays, also after a chargeback of it was won.
func policyRefundAccepted(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, change: autoRefunds})
	a := r.paid(t, "A-1", "tok_decline").Attempt
	late := event(webhooks.KindSucceeded, a.ID.String())
	late.Money.Minor = price + 101
	require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, late))
	_, err := r.agreed(t, because(r.open(t, a.ID)[0], payment.ResolvedAccepted))
	require.NoError(t, err)
	require.Equal(t, payment.OrderPaid, r.orderOf(t, "A-1").Status())

	r.tell(t, moved{webhooks.KindChargeback, "one", price + 101}.event(a))
	require.Zero(t, r.attempt(t, a.ID).Held())
	r.tell(t, moved{webhooks.KindChargebackReversed, "one", price + 101}.event(a))
	require.EqualValues(t, price+101, r.attempt(t, a.ID).Held())
	require.Empty(t, r.refunds(t, a.ID))
	require.Empty(t, r.verify(t))
}
