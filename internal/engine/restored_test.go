package engine_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// holding holds one account, from a number of looks on.
type holding struct {
	account string
	after   atomic.Int64
	looking bool
}

func (h *holding) HeldAny() bool { return h.account != "" && h.after.Add(-1) < 0 }

func (h *holding) Looking() bool { return h.looking }

func (h *holding) Held(account string) bool { return account == h.account && h.after.Load() <= 0 }

// While the database may have forgotten payments of an account, nothing is sent that could be the second of its kind.
func TestHeldAccount(t *testing.T) {
	t.Parallel()
	with := func(h *holding, s setup) setup {
		change := s.change
		s.change = func(o *options) {
			if o.Held = h; change != nil {
				change(o)
			}
		}
		return s
	}
	t.Run("no order is paid, by no account", func(t *testing.T) {
		t.Parallel()
		h := &holding{account: "other"}
		r := newEnv(t, with(h, setup{silent: true}))
		r.order(t, "A-1")
		_, err := try(t.Context(), r.service, "A-1", "first-key", "tok_success")
		require.ErrorIs(t, err, payment.ErrPaysHeld)
		h.account = ""
		require.Equal(t, fsm.Succeeded, r.pay(t, "A-1", "first-key", "tok_success").State, "the key was not used up")
	})
	t.Run("while commits are looked up, the wait is short", func(t *testing.T) {
		t.Parallel()
		h := &holding{}
		r := newEnv(t, with(h, setup{silent: true}))
		id := r.paid(t, "A-1", "tok_success").ID
		r.order(t, "A-2")
		h.account, h.looking = "sandbox", true
		_, err := try(t.Context(), r.service, "A-2", "first-key", "tok_success")
		require.ErrorIs(t, err, payment.ErrUnavailable)
		_, err = r.Refund(t.Context(), shop, request("refund", "refund-key", ""), commands.CreateRefund{AttemptID: id})
		require.ErrorIs(t, err, payment.ErrUnavailable)
	})
	t.Run("a charge that is on disk is not sent", func(t *testing.T) {
		t.Parallel()
		h := &holding{account: "sandbox"}
		h.after.Store(1)
		p := &spy{}
		r := newEnv(t, with(h, setup{silent: true, provider: p.on}))
		r.order(t, "A-1")
		reply, err := try(t.Context(), r.service, "A-1", "first-key", "tok_success")
		require.NoError(t, err)
		require.Equal(t, fsm.Failed, reply.State)
		require.Equal(t, "not_started", reply.Failure.Code)
		require.Zero(t, p.charges.Load())
	})
	for name, found := range map[string]error{"another server": nil, "no answer": payment.ErrUnavailable} {
		t.Run("behind a pooler the last look finds "+name, func(t *testing.T) {
			t.Parallel()
			h, p := &holding{}, &spy{}
			var gone atomic.Bool
			s := with(h, setup{silent: true, provider: p.on})
			held := s.change
			s.change = func(o *options) {
				held(o)
				o.LookAgain = func(context.Context) error {
					if !gone.Load() {
						return nil
					}
					if found == nil {
						h.account = "sandbox"
					}
					return found
				}
			}
			r := newEnv(t, s)
			id := r.paid(t, "A-1", "tok_success").ID
			r.order(t, "A-2")
			gone.Store(true)
			refund, err := r.Refund(t.Context(), shop, request("refund", "refund-key", ""), commands.CreateRefund{AttemptID: id})
			require.NoError(t, err)
			require.Equal(t, fsm.RefundFailed, refund.State, "it was not sent")
			h.account = "" // the charge has passed the first check
			reply, err := try(t.Context(), r.service, "A-2", "first-key", "tok_success")
			require.NoError(t, err)
			require.Equal(t, "not_started", reply.Failure.Code)
			require.EqualValues(t, 1, p.charges.Load())
		})
	}
	t.Run("its refunds wait, those of others don't", func(t *testing.T) {
		t.Parallel()
		h := &holding{}
		r := newEnv(t, with(h, setup{silent: true}))
		id := r.paid(t, "A-1", "tok_success").ID
		h.account = "sandbox"
		_, err := r.Refund(t.Context(), shop, request("refund", "refund-key", ""), commands.CreateRefund{AttemptID: id})
		require.ErrorIs(t, err, payment.ErrPaysHeld)
		h.account = "other"
		_, err = r.Refund(t.Context(), shop, request("refund", "refund-key", ""), commands.CreateRefund{AttemptID: id})
		require.NoError(t, err)
	})
	t.Run("a policy's refund waits", func(t *testing.T) {
		t.Parallel()
		h := &holding{}
		sent := 0
		p := &refunding{refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
			sent++
			return gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "re_1"}, nil
		}}
		r := newEnv(t, with(h, setup{silent: true, provider: p.on, change: autoRefunds}))
		id := r.paid(t, "A-1", "tok_decline").ID
		require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
		due, err := r.DueRefunds(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, due, 1)
		h.account = "sandbox"
		now, err := r.RecheckRefund(t.Context(), due[0], byTest)
		require.NoError(t, err)
		require.Equal(t, fsm.RefundPending, now.State)
		require.Zero(t, sent)
		h.account = ""
		now, err = r.RecheckRefund(t.Context(), due[0], byTest)
		require.NoError(t, err)
		require.Equal(t, fsm.RefundSucceeded, now.State)
		require.Equal(t, 1, sent)
	})
}
