package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestCancelOrder(t *testing.T) {
	t.Parallel()
	t.Run("replays_its_response", cancelOrderReplaysItsResponse)
	t.Run("again", cancelOrderAgain)
	t.Run("with_captured_money", cancelOrderWithCapturedMoney)
	t.Run("during_a_pay", cancelOrderDuringAPay)
	t.Run("hold_after_a_refused_cancel", cancelOrderHoldAfterARefusedCancel)
	t.Run("hold_during_a_refused_cancel", cancelOrderHoldDuringARefusedCancel)
	t.Run("takes_no_money", cancelOrderTakesNoMoney)
}

func (r *env) cancelOrder(t *testing.T) {
	t.Helper()
	_, _, err := r.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
	require.NoError(t, err)
}

// An order was cancelled and its provider refused to cancel the payment. Then no call of this side takes money for it,
// after any action of the customer, and a hold is released.
func cancelOrderTakesNoMoney(t *testing.T) {
	t.Parallel()
	t.Run("what the customer approves is not finished", func(t *testing.T) {
		t.Parallel()
		p := &approving{refusing: true}
		r := newEnv(t, setup{silent: true, provider: p.on})
		paid := r.paid(t, "A-1", "wallet")
		r.cancelOrder(t)
		require.Equal(t, payment.OperationKind(""), r.attempt(t, paid.ID).Intent.Kind, "refused")
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
		p := unwilling(fsm.EventAuthorized)
		var captures atomic.Int32
		r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { return countCaptures{p.on(of), &captures} }})
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
		p := unwilling(fsm.EventAuthorized)
		r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { return p.on(of) }})
		id := r.held(t, "A-1").ID
		r.cancelOrder(t)
		r.longAgo(t, id, 20*time.Hour)
		for range 12 {
			r.everyOperation(t, id)
		}
		require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
		require.Greater(t, time.Until(*r.attempt(t, id).NextCheckAt), 20*time.Hour, "it is asked on, daily")
	})
	t.Run("a hold that is told of later is given up", func(t *testing.T) {
		t.Parallel()
		p := unwilling(fsm.EventActionRequired)
		r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { return p.on(of) }})
		id := r.tried(t, "tok_never", payment.CaptureManual)
		r.cancelOrder(t)
		require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
		require.ErrorIs(t, r.confirm(t, id, "confirm-key"), payment.ErrOrderCancelled)
		p.lookup = says(fsm.EventAuthorized)
		r.recheck(t, id)
		require.ErrorIs(t, r.confirm(t, id, "other-key"), payment.ErrOrderCancelled)
		p.cancel, p.lookup = nil, nil
		require.Equal(t, canceled, standingOf(r.recheck(t, id).Attempt))
	})
	t.Run("a call that was lost is not sent again", func(t *testing.T) {
		t.Parallel()
		p := &spy{charge: func(context.Context, gateway.Charge, func() (gateway.Outcome, error)) (gateway.Outcome, error) {
			return gateway.Outcome{}, errNoAnswer
		}}
		r := newEnv(t, setup{silent: true, provider: p.on})
		id := r.paid(t, "A-1", "lost").ID
		// No cancel is open, as after a refusal.
		r.exec(t, "UPDATE orders SET cancel_requested_at = now() WHERE order_id = 'A-1'")
		r.recheck(t, id)
		r.pay(t, "A-1", "first-key", "lost")
		require.EqualValues(t, 1, p.charges.Load())
	})
}

// countCaptures counts the calls to Capture.
type countCaptures struct {
	gateway.Provider

	n *atomic.Int32
}

func (p countCaptures) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	p.n.Add(1)
	return p.Provider.Capture(ctx, c)
}

// The cancellation of an order outlives a provider's refusal. A later hold is released, and no payment may be taken
// meanwhile.
func cancelOrderHoldAfterARefusedCancel(t *testing.T) {
	t.Parallel()
	p := unwilling(fsm.EventActionRequired)
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { return p.on(of) }})
	r.order(t, "A-1")
	paid, err := r.Pay(t.Context(), customer, request("pay", "first-key", ""), commands.Pay{OrderID: "A-1", Details: gateway.Details{Token: "tok_never"}, Capture: payment.CaptureManual})
	require.NoError(t, err)
	o, _, err := r.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
	require.NoError(t, err)
	require.Equal(t, payment.OrderOpen, o.Status())
	require.Equal(t, payment.OperationKind(""), r.attempt(t, paid.ID).Intent.Kind, "refused")
	may, err := r.Question(t.Context(), "sandbox", event(webhooks.KindSucceeded, paid.ID.String()))
	require.NoError(t, err)
	require.Equal(t, webhooks.AnswerRefuse, may)

	p.cancel, p.lookup = nil, nil
	require.Equal(t, fsm.Applied, r.say(t, paid.ID, webhooks.KindAuthorized))
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []payment.AttemptID{paid.ID}, due)
	r.recheck(t, paid.ID)
	require.Equal(t, standing{"failed", "final", "canceled"}, standingOf(r.attempt(t, paid.ID).Attempt))
	o, err = r.store.Order(t.Context(), "A-1")
	require.NoError(t, err)
	require.Equal(t, payment.OrderCancelled, o.Status())
}

// The same if the hold is reported during the provider's call: its refusal is about the state before.
func cancelOrderHoldDuringARefusedCancel(t *testing.T) {
	t.Parallel()
	var r *env
	var id payment.AttemptID
	p := &answering{}
	r = newEnv(t, setup{silent: true, provider: p.on})
	r.order(t, "A-1")
	paid, err := r.Pay(t.Context(), customer, request("pay", "first-key", ""), commands.Pay{OrderID: "A-1", Details: gateway.Details{Token: "tok_never"}, Capture: payment.CaptureManual})
	require.NoError(t, err)
	id = paid.ID
	p.cancel = func() (gateway.Outcome, error) {
		r.say(t, id, webhooks.KindAuthorized)
		return gateway.Outcome{Event: fsm.EventActionRequired, Refused: true}, nil
	}
	_, _, err = r.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
	require.NoError(t, err)
	require.Equal(t, payment.OperationCancel, r.attempt(t, id).Intent.Kind)
	p.cancel = nil
	r.recheck(t, id)
	require.Equal(t, standing{"failed", "final", "canceled"}, standingOf(r.attempt(t, id).Attempt))
}

// The response to a cancellation of an order is replayed, in any later state of the order.
func cancelOrderReplaysItsResponse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first fsm.Event
		err   error
	}{
		"not cancelled yet": {fsm.EventActionRequired, nil},
		"paid instead":      {fsm.EventSucceeded, payment.ErrOrderPaid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider { return unwilling(c.first).on(p) }})
			id := r.paid(t, "A-1", "tok_never").ID
			cancel := func() (payment.Order, idempotency.Result, error) {
				return r.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
			}
			_, result, err := cancel()
			require.ErrorIs(t, err, c.err)
			require.Equal(t, idempotency.Created, result)
			r.say(t, id, webhooks.KindSucceeded)
			o, result, err := cancel()
			if c.err != nil {
				requireReplayed(t, c.err, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, idempotency.Reused, result)
			require.Equal(t, payment.OrderPaid, o.Status())
		})
	}
}

// A cancelled order stays so when it is cancelled again, also where money came in since: that
// has a discrepancy of its own.
func cancelOrderAgain(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_decline").ID
	cancel := func(key string) {
		o, _, err := r.CancelOrder(t.Context(), customer, request("cancel order", key, ""), "A-1")
		require.NoError(t, err, key)
		require.Equal(t, payment.OrderCancelled, o.Status(), key)
	}
	cancel("first-cancel")
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, []string{"paid_after_cancel"}, r.discrepancies(t, id))
	cancel("first-cancel")
	cancel("second-cancel")
}

// A cancel that is requested while a pay is under way, by another process that does not wait for
// it, is due as soon as the pay has ended.
func cancelOrderDuringAPay(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.order(t, "A-1")
	f := r.freeze(t, false)
	id := f.pay(t, "A-1", "tok_never")
	hasty := r.another(t, func(o *options) { o.Wait = time.Millisecond })
	_, _, err := hasty.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
	require.NoError(t, err)
	require.Equal(t, requested, standingOf(f.wake(0, 0).Attempt))
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []payment.AttemptID{id}, due)
	require.Equal(t, standing{"failed", "final", "canceled"}, standingOf(r.recheck(t, id).Attempt))
}

// An order is not cancelled while it holds money, be it of an attempt that had failed, nor while
// its money is being captured.
func cancelOrderWithCapturedMoney(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider { return lostCapture{p} }})
	require.Equal(t, fsm.Conflict, r.say(t, r.paid(t, "A-1", "tok_decline").ID, webhooks.KindSucceeded))
	id := r.held(t, "A-2").ID
	_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
	require.NoError(t, err)
	for order, want := range map[payment.OrderID]error{"A-1": payment.ErrOrderPaid, "A-2": payment.ErrBusy} {
		_, _, err := r.CancelOrder(t.Context(), customer, request("cancel "+string(order), "cancel-key", ""), order)
		require.ErrorIs(t, err, want)
		o, err := r.Order(t.Context(), customer, order)
		require.NoError(t, err)
		require.Nil(t, o.CancelRequestedAt)
	}
	require.Equal(t, payment.OperationCapture, r.attempt(t, id).Intent.Kind, "it may still arrive")
}

// requireReplayed requires a refusal to be the stored refusal.
func requireReplayed(t *testing.T, refusal, err error) {
	t.Helper()
	var replay *idempotency.ReplayError
	require.ErrorAs(t, err, &replay)
	require.Equal(t, refusal.Error(), string(replay.Response.Body))
}
