package payment_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func (r *rig) cancelOrder(t *testing.T) {
	t.Helper()
	_, _, err := r.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
	require.NoError(t, err)
}

// An order was cancelled and its provider refused to cancel the payment: no money is taken
// for it by a call of ours, whatever the customer does, and what is held is given up.
func TestCancelledOrderTakesNoMoney(t *testing.T) {
	t.Parallel()
	t.Run("what the customer approves is not finished", func(t *testing.T) {
		t.Parallel()
		p := &approving{refusing: true}
		r := newRig(t, setup{silent: true, provider: p.on})
		paid := r.paid(t, "A-1", "wallet")
		r.cancelOrder(t)
		require.Equal(t, payment.IntentNone, r.attempt(t, paid.ID).Intent.Kind, "refused")
		p.approve()
		r.tell(t, approval(paid.ID))
		require.Equal(t, []payment.AttemptID{paid.ID}, r.due(t))
		require.Equal(t, "awaiting_customer", r.recheck(t, paid.ID).Stage())
		require.Empty(t, p.finishes())
		p.refusing = false
		require.Equal(t, canceled, standingOf(r.recheck(t, paid.ID).Attempt))
		require.Empty(t, p.finishes())
		o, err := r.store.Order(t.Context(), "A-1")
		require.NoError(t, err)
		require.Equal(t, payment.OrderCancelled, o.Status())
	})
	t.Run("a hold is given up, however often that is refused", func(t *testing.T) {
		t.Parallel()
		p := unwilling(fsm.NewsAuthorized)
		var captures atomic.Int32
		r := newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider { return countCaptures{p.on(of), &captures} }})
		id := r.held(t, "A-1").ID
		r.cancelOrder(t)
		require.ErrorIs(t, r.confirm(t, id, "confirm-key"), payment.ErrOrderCancelled)
		requireReplayed(t, payment.ErrOrderCancelled, r.confirm(t, id, "confirm-key"))
		keys := map[string]bool{*p.key.Load(): true}
		for range 3 {
			require.Equal(t, "authorized", r.recheck(t, id).Stage())
			keys[*p.key.Load()] = true
		}
		require.Len(t, keys, 4, "each time under another key: under the same one it would be refused unread")
		require.Empty(t, r.discrepancies(t, id))
		p.cancel, p.lookup = nil, nil
		require.Equal(t, canceled, standingOf(r.recheck(t, id).Attempt))
		require.Zero(t, captures.Load())
	})
	t.Run("a person is told when the schedule ends", func(t *testing.T) {
		t.Parallel()
		p := unwilling(fsm.NewsAuthorized)
		r := newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider { return p.on(of) }})
		id := r.held(t, "A-1").ID
		r.cancelOrder(t)
		for range 12 {
			r.recheck(t, id)
		}
		require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
		require.Greater(t, time.Until(*r.attempt(t, id).NextCheckAt), 20*time.Hour, "it is asked on, daily")
	})
	t.Run("a hold that is told of later is given up", func(t *testing.T) {
		t.Parallel()
		p := unwilling(fsm.NewsActionRequired)
		r := newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider { return p.on(of) }})
		id := r.tried(t, "tok_never", payment.CaptureManual)
		r.cancelOrder(t)
		require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
		require.ErrorIs(t, r.confirm(t, id, "confirm-key"), payment.ErrOrderCancelled)
		p.lookup = says(fsm.NewsAuthorized)
		r.recheck(t, id)
		require.ErrorIs(t, r.confirm(t, id, "other-key"), payment.ErrOrderCancelled)
		p.cancel, p.lookup = nil, nil
		require.Equal(t, canceled, standingOf(r.recheck(t, id).Attempt))
	})
	t.Run("a call that was lost is not sent again", func(t *testing.T) {
		t.Parallel()
		p := &tapped{charge: func(context.Context, payment.Charge, func() (payment.Outcome, error)) (payment.Outcome, error) {
			return payment.Outcome{}, errNoAnswer
		}}
		r := newRig(t, setup{silent: true, provider: p.on})
		id := r.paid(t, "A-1", "lost").ID
		// The intent of the cancellation is gone, as after a refusal.
		r.exec(t, "UPDATE orders SET cancel_requested_at = now() WHERE order_id = 'A-1'")
		r.recheck(t, id)
		r.pay(t, "A-1", "first-key", "lost")
		require.EqualValues(t, 1, p.charges.Load())
	})
}

// countCaptures counts the calls to Capture.
type countCaptures struct {
	payment.Provider

	n *atomic.Int32
}

func (p countCaptures) Capture(ctx context.Context, c payment.Capture) (payment.Outcome, error) {
	p.n.Add(1)
	return p.Provider.Capture(ctx, c)
}
