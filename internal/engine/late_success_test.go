package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestLateSuccess(t *testing.T) {
	t.Parallel()
	t.Run("stops_siblings", lateSuccessStopsSiblings)
	t.Run("stops_siblings_at_once", lateSuccessStopsSiblingsAtOnce)
	t.Run("waits_for_locked_siblings", lateSuccessWaitsForLockedSiblings)
}

// payAgain makes a second attempt of an order after its first one has failed.
func (r *env) payAgain(t *testing.T, order payment.OrderID, token string, capture payment.CaptureMode) commands.Reply {
	t.Helper()
	p, err := r.Pay(t.Context(), customer, request("pay "+string(order), "second-key", token), commands.Pay{OrderID: order, Details: gateway.Details{Token: token}, Capture: capture})
	require.NoError(t, err)
	return p
}

var canceled = standing{"failed", "final", "canceled"}

// The first attempt was declined and the second one has the customer's money on hold when the
// first one's success comes, by whichever report: the order is paid, and the hold is released
// instead of captured.
func lateSuccessStopsSiblings(t *testing.T) {
	t.Parallel()
	t.Run("a confirm is refused", aConfirmIsRefused)
	t.Run("a call that was lost is not sent again", aLostCallIsNotSentAgain)
	t.Run("a capture that was lost is not sent again", aLostCaptureIsNotSentAgain)
	t.Run("an approved payment is not finished", anApprovedPaymentIsNotFinished)
	t.Run("a refund that was undone counts as well", anUndoneRefundStopsSiblings)
	t.Run("the provider is answered that nothing may be taken", func(t *testing.T) {
		t.Parallel()
		r := newEnv(t, setup{silent: true})
		first := r.paid(t, "A-1", "tok_decline").ID
		second := r.payAgain(t, "A-1", "tok_redirect", payment.CaptureAutomatic).ID
		e := event(webhooks.KindSucceeded, first.String())
		e.Money.Currency = "USD"
		require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, e))
		may, err := r.Question(t.Context(), "sandbox", event(webhooks.KindQuestion, second.String()))
		require.NoError(t, err)
		require.Equal(t, webhooks.AnswerRefuse, may)
	})
}

func aConfirmIsRefused(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]func(t *testing.T, r *env, p *answering) (first, second payment.AttemptID){
		"a webhook tells": func(t *testing.T, r *env, _ *answering) (first, second payment.AttemptID) {
			t.Helper()
			first = r.paid(t, "A-1", "tok_decline").ID
			second = r.payAgain(t, "A-1", "tok_success", payment.CaptureManual).ID
			require.Equal(t, fsm.Conflict, r.say(t, first, webhooks.KindSucceeded))
			return first, second
		},
		"a lookup tells": func(t *testing.T, r *env, p *answering) (first, second payment.AttemptID) {
			t.Helper()
			first = r.paid(t, "A-1", "tok_decline").ID
			second = r.payAgain(t, "A-1", "tok_success", payment.CaptureManual).ID
			require.Equal(t, fsm.Stale, r.say(t, first, webhooks.KindAuthorized))
			p.lookup = says(fsm.EventSucceeded)
			r.recheck(t, first)
			p.lookup = nil
			return first, second
		},
		"the answer to the call tells": func(t *testing.T, r *env, _ *answering) (first, second payment.AttemptID) {
			t.Helper()
			r.order(t, "A-1")
			slow := r.freeze(t, false)
			first = slow.pay(t, "A-1", "tok_success")
			require.Equal(t, fsm.Applied, r.say(t, first, webhooks.KindFailed))
			second = r.payAgain(t, "A-1", "tok_success", payment.CaptureManual).ID
			slow.wake(0, 0)
			return first, second
		},
		"an event that was parked tells": func(t *testing.T, r *env, _ *answering) (first, second payment.AttemptID) {
			t.Helper()
			first = r.paid(t, "A-1", "tok_decline").ID
			second = r.payAgain(t, "A-1", "tok_success", payment.CaptureManual).ID
			early := event(webhooks.KindSucceeded, "another-name")
			require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, r.tell(t, early))
			r.tell(t, event(webhooks.KindFailed, first.String(), "another-name"))
			return first, second
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &answering{}
			r := newEnv(t, setup{silent: true, provider: p.on})
			first, second := late(t, r, p)
			require.EqualValues(t, price, r.attempt(t, first).Held())
			require.Equal(t, "authorized", r.attempt(t, second).Stage())
			require.Contains(t, r.due(t), second, "it is given up at once")
			require.ErrorIs(t, r.confirm(t, second, "confirm-key"), payment.ErrOrderPaid)
			requireReplayed(t, payment.ErrOrderPaid, r.confirm(t, second, "confirm-key"))
			require.Equal(t, canceled, standingOf(r.recheck(t, second).Attempt))
			require.EqualValues(t, 1, p.cancels.Load())
			require.ErrorIs(t, r.confirm(t, second, "other-key"), payment.ErrOrderPaid)
			require.Equal(t, []string{"late_success"}, r.discrepancies(t, first))
			require.Empty(t, r.discrepancies(t, second))
			for _, m := range r.ledger(t) {
				require.NotEqual(t, second.String(), m.Reference)
			}
			require.Empty(t, r.verify(t))
		})
	}
}

func aLostCallIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for name, takeOver := range map[string]func(t *testing.T, r *env, second payment.AttemptID){
		"by the reconciler": func(t *testing.T, r *env, second payment.AttemptID) {
			t.Helper()
			r.recheck(t, second)
		},
		"by the client": func(t *testing.T, r *env, second payment.AttemptID) {
			t.Helper()
			r.exec(t, "UPDATE operations SET lease_until = now() - interval '1 second' WHERE open AND refund_id IS NULL AND attempt_id = $1", second.String())
			r.payAgain(t, "A-1", "lost", payment.CaptureAutomatic)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &spy{charge: func(_ context.Context, c gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
				if c.Token == "lost" {
					return gateway.Outcome{}, errNoAnswer
				}
				return send()
			}}
			r := newEnv(t, setup{silent: true, provider: p.on})
			first := r.paid(t, "A-1", "tok_decline").ID
			second := r.payAgain(t, "A-1", "lost", payment.CaptureAutomatic)
			require.Equal(t, unknown, standingOf(second.Attempt))
			require.Equal(t, fsm.Conflict, r.say(t, first, webhooks.KindSucceeded))
			takeOver(t, r, second.ID)
			r.recheck(t, second.ID)
			require.EqualValues(t, 2, p.charges.Load(), "each attempt once")
			require.Empty(t, r.ledger(t))
		})
	}
}

func aLostCaptureIsNotSentAgain(t *testing.T) {
	t.Parallel()
	captures, p := 0, &answering{}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider {
		return p.on(&capturing{Provider: of, says: func(gateway.Capture) (gateway.Outcome, error) {
			captures++
			return gateway.Outcome{}, errNoAnswer
		}})
	}})
	first := r.paid(t, "A-1", "tok_decline").ID
	second := r.payAgain(t, "A-1", "tok_success", payment.CaptureManual).ID
	half := int64(500)
	_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: second, Amount: &half})
	require.NoError(t, err)
	require.Equal(t, fsm.Conflict, r.say(t, first, webhooks.KindSucceeded))
	r.exec(t, "UPDATE idempotency_keys SET lease_until = now() - interval '1 second'")
	p.cancel = noAnswer
	r.recheck(t, second)
	require.Equal(t, 1, captures)
	require.EqualValues(t, 1, p.cancels.Load())

	taken := event(webhooks.KindSucceeded, second.String())
	taken.Money = nil
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, taken))
	require.Equal(t, half, r.attempt(t, second).Captured, "it had arrived, and took what was asked for")
	require.Equal(t, []string{"double_success", "late_success"}, r.discrepancies(t, first))
	require.Empty(t, r.discrepancies(t, second))
}

func anApprovedPaymentIsNotFinished(t *testing.T) {
	t.Parallel()
	p := &approving{}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider {
		return &spy{Provider: p.on(of), charge: func(_ context.Context, c gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
			if c.Token == "tok_decline" {
				return gateway.Outcome{Event: fsm.EventFailed, ProviderPaymentID: "declined"}, nil
			}
			return send()
		}}
	}})
	first := r.paid(t, "A-1", "tok_decline").ID
	second := r.payAgain(t, "A-1", "wallet", payment.CaptureAutomatic)
	require.Equal(t, "awaiting_customer", second.Stage())
	require.Equal(t, fsm.Conflict, r.say(t, first, webhooks.KindSucceeded))
	p.refusing = true
	r.recheck(t, second.ID)
	require.Equal(t, payment.OperationKind(""), r.attempt(t, second.ID).Intent.Kind, "refused")
	p.approve()
	r.tell(t, approval(second.ID))
	require.Equal(t, "awaiting_customer", r.recheck(t, second.ID).Stage())
	require.Empty(t, p.finishes())
	p.refusing = false
	require.Equal(t, canceled, standingOf(r.recheck(t, second.ID).Attempt))
	require.Empty(t, p.finishes())
}

func anUndoneRefundStopsSiblings(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	first := r.paid(t, "A-1", "tok_decline").ID
	require.Equal(t, fsm.Conflict, r.say(t, first, webhooks.KindSucceeded))
	back := func(kind webhooks.Kind) {
		e := event(kind, first.String())
		e.RefundID, e.Money = "re-1", &webhooks.Money{Minor: price, Currency: "EUR"}
		require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, e))
	}
	back(webhooks.KindRefundSucceeded)
	require.Zero(t, r.attempt(t, first).Held())
	second := r.payAgain(t, "A-1", "tok_success", payment.CaptureManual).ID
	require.Equal(t, "authorized", r.attempt(t, second).Stage())
	back(webhooks.KindRefundFailed)
	require.EqualValues(t, price, r.attempt(t, first).Held())
	require.ErrorIs(t, r.confirm(t, second, "confirm-key"), payment.ErrOrderPaid)
	require.Equal(t, canceled, standingOf(r.recheck(t, second).Attempt))
}
