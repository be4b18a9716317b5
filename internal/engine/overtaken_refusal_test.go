package engine_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// refusing is a provider as one process sees it, with calls that are all refused; each freezes
// with the refusal in its hands.
type refusing struct {
	gateway.Provider

	// says is the refusal of a charge, stands the status of the payment in the refusal of a capture or a cancel.
	says   gateway.Outcome
	stands fsm.Event
	asleep chan struct{}
	thaw   chan struct{}
}

func (p *refusing) sleep() {
	p.asleep <- struct{}{}
	<-p.thaw
}

func (p *refusing) Charge(context.Context, gateway.Charge) (gateway.Outcome, error) {
	p.sleep()
	return p.says, nil
}

func (p *refusing) Capture(_ context.Context, c gateway.Capture) (gateway.Outcome, error) {
	p.sleep()
	return gateway.Outcome{Event: p.stands, ProviderPaymentID: c.ProviderPaymentID, Refused: true}, nil
}

func (p *refusing) Cancel(_ context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	p.sleep()
	return gateway.Outcome{Event: p.stands, ProviderPaymentID: c.ProviderPaymentID, Refused: true}, nil
}

func (p *refusing) Refund(context.Context, gateway.RefundCall) (gateway.RefundOutcome, error) {
	p.sleep()
	return gateway.RefusedRefund("no"), nil
}

// refusedThere starts a process with calls that are refused.
func (r *env) refusedThere(t *testing.T) (*service, *refusing) {
	t.Helper()
	p := &refusing{
		Provider: r.opts.Accounts["sandbox"].Provider, stands: fsm.EventAuthorized,
		says:   gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "")},
		asleep: make(chan struct{}, 1), thaw: make(chan struct{}),
	}
	return r.another(t, func(o *options) { o.Accounts = map[string]gateway.Account{"sandbox": {Provider: p}} }), p
}

// overtake runs a command of a process that freezes with its refusal, lets another one take over
// past the lease, and returns the error of the first once it thaws.
func (p *refusing) overtake(command func() error, takeOver func()) error {
	done := make(chan error, 1)
	go func() { done <- command() }()
	<-p.asleep
	takeOver()
	close(p.thaw)
	return <-done
}

// A refusal is of one call. The runner that brings it may have been overtaken by one with the
// same call accepted: then nothing failed.
func TestOvertakenRefusal(t *testing.T) {
	t.Parallel()
	t.Run("charge", func(t *testing.T) {
		t.Parallel()
		for name, says := range map[string]gateway.Outcome{
			"refused":                   {Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "")},
			"declined, and names none":  {Event: fsm.EventFailed, Failure: payment.NewFailure("card_declined", "do_not_honor")},
			"a soft decline, unnamed":   {Event: fsm.EventSoftFailed, Failure: payment.NewFailure("card_declined", "do_not_honor")},
			"refused for its own cause": {Event: fsm.EventFailed, Refused: true, ProviderPaymentID: "made-for-this-call", Failure: payment.NewFailure("provider_rejected", "")},
		} {
			for token, want := range map[string]standing{"tok_never": requested, "tok_success": succeeded} {
				t.Run(name+"/"+token, func(t *testing.T) {
					t.Parallel()
					overtakenCharge(t, says, token, want)
				})
			}
		}
	})
	t.Run("a decline that names its payment", overtakenDecline)
	t.Run("a charge, in a race", overtakenRace)
	t.Run("capture", overtakenCapture)
	t.Run("capture, retried with its key", overtakenCaptureRetried)
	t.Run("capture, retried two days later", confirmRetriedLate)
	t.Run("capture, sent before", captureSentBefore)
	t.Run("cancel", overtakenCancel)
	t.Run("cancel of what is paid", overtakenCancelOfPaid)
	t.Run("refund", overtakenRefund)
}

func overtakenCharge(t *testing.T, says gateway.Outcome, token string, want standing) {
	t.Helper()
	r := newEnv(t, setup{silent: true})
	r.order(t, "A-1")
	first, p := r.refusedThere(t)
	p.says = says
	var id payment.AttemptID
	var left payment.Attempt
	require.NoError(t, p.overtake(func() error {
		_, err := try(t.Context(), first, "A-1", "first-key", token)
		return err
	}, func() {
		id = r.live(t, "A-1")
		r.lapse(t, id)
		r.recheck(t, id)
		left = r.attempt(t, id).Attempt
		require.Equal(t, want, standingOf(left))
	}))
	now := r.attempt(t, id)
	now.ReadAt = left.ReadAt
	require.Equal(t, left, now.Attempt, "it stays as the second runner left it")
	if want == requested {
		r.say(t, id, webhooks.KindSucceeded)
	}
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// lapse ends the lease of an attempt.
func (r *env) lapse(t *testing.T, id payment.AttemptID) {
	t.Helper()
	r.exec(t, "UPDATE operations SET lease_until = lease_until - $2::interval, next_at = next_at - $2::interval WHERE open AND refund_id IS NULL AND attempt_id = $1",
		id.String(), lease)
}

// live is the order's attempt.
func (r *env) live(t *testing.T, order payment.OrderID) payment.AttemptID {
	t.Helper()
	o, err := r.store.Order(t.Context(), order)
	require.NoError(t, err)
	require.Len(t, o.Attempts, 1)
	return o.Attempts[0].ID
}

// A decline that names its payment is of no call: it reports how that payment stands.
func overtakenDecline(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.order(t, "A-1")
	first, p := r.refusedThere(t)
	p.says = gateway.Outcome{Event: fsm.EventFailed, ProviderPaymentID: "ch_named", Failure: payment.NewFailure("card_declined", "do_not_honor")}
	var id payment.AttemptID
	require.NoError(t, p.overtake(func() error {
		_, err := try(t.Context(), first, "A-1", "first-key", "tok_never")
		return err
	}, func() {
		id = r.live(t, "A-1")
		r.lapse(t, id)
		r.exec(t, "UPDATE operations SET fence = fence + 1 WHERE attempt_id = $1 AND open", id.String()) // another runner has it, without a result yet
	}))
	require.Equal(t, declined, standingOf(r.attempt(t, id).Attempt))
	require.Equal(t, "ch_named", r.attempt(t, id).ProviderPaymentID)
}

// In either order: a failed attempt has charged nothing, and a charged attempt has not failed.
func overtakenRace(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	charged := 0
	for round := range 20 {
		order := payment.OrderID(fmt.Sprintf("A-%d", round))
		r.order(t, order)
		first, p := r.refusedThere(t)
		done := make(chan error, 1)
		go func() {
			_, err := try(t.Context(), first, order, "first-key", "tok_success")
			done <- err
		}()
		<-p.asleep
		id := r.live(t, order)
		r.lapse(t, id)
		var err error
		race(func() { close(p.thaw) }, func() { _, err = r.Recheck(t.Context(), id, byTest) })
		require.NoError(t, err)
		require.NoError(t, <-done)
		a := r.attempt(t, id)
		if a.Succeeded() {
			charged++
		}
		require.True(t, a.State.Final())
		require.Len(t, r.ledger(t), charged, "round %d: it is %s", round, a.State)
		require.Empty(t, r.discrepancies(t, id))
	}
}

// newLagging is a provider at which an accepted capture shows late; see
// payment.Capabilities.CapturesSeen.
func newLagging(t *testing.T) *env {
	t.Helper()
	return newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider {
		return (&spy{can: func(c *payment.Capabilities) { c.CapturesSeen = false }}).on(p)
	}})
}

func overtakenCapture(t *testing.T) {
	t.Parallel()
	for _, stands := range []fsm.Event{fsm.EventAuthorized, fsm.EventProcessing, fsm.EventSoftFailed} {
		r := newLagging(t)
		id := r.held(t, "A-1").ID
		first, p := r.refusedThere(t)
		p.stands = stands
		require.NoError(t, p.overtake(func() error {
			_, err := first.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
			return err
		}, func() {
			r.lapse(t, id)
			r.recheck(t, id)
			require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
		}), "nobody is told that it was refused: %s", stands)
		require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
		require.Empty(t, r.discrepancies(t, id))
		require.Len(t, r.ledger(t), 1)
		require.NoError(t, r.confirm(t, id, "confirm-key"), "nor whoever presses again")
		require.Empty(t, r.verify(t))
	}
}

// The second runner is the client's own retry, which has the key by then: the refusal of the
// first is no response to it either.
func overtakenCaptureRetried(t *testing.T) {
	t.Parallel()
	r := newLagging(t)
	id := r.held(t, "A-1").ID
	first, p := r.refusedThere(t)
	require.NoError(t, p.overtake(func() error {
		_, err := first.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
		return err
	}, func() {
		r.lapse(t, id)
		r.exec(t, "UPDATE idempotency_keys SET lease_until = lease_until - interval '1 hour'")
		require.NoError(t, r.confirm(t, id, "confirm-key"))
	}))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Len(t, r.ledger(t), 1)
}

// The retry comes two days later. The old call may not be sent again, and the payment is looked up. The lookup shows
// that nothing was captured, so the caller may confirm again.
func confirmRetriedLate(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	first, p := r.refusedThere(t)
	_ = p.overtake(func() error {
		_, err := first.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
		return err
	}, func() {
		r.exec(t, "UPDATE operations SET lease_until = lease_until - interval '2 days', next_at = next_at - interval '2 days', "+
			"created_at = created_at - interval '2 days', first_sent_at = first_sent_at - interval '2 days' WHERE kind = 'capture'")
		r.exec(t, "UPDATE idempotency_keys SET lease_until = lease_until - interval '2 days'")
		require.ErrorIs(t, r.confirm(t, id, "confirm-key"), payment.ErrNotCapturable)
	})
	require.Empty(t, r.ledger(t))
	require.NoError(t, r.confirm(t, id, "second-key"))
	require.Len(t, r.ledger(t), 1)
}

// A capture with a lost result may have been accepted: that the same call is refused the second
// time does not end it where an accepted one may not show yet. Else it would be sent under a new
// key.
func captureSentBefore(t *testing.T) {
	t.Parallel()
	var sent sync.Map
	var refuse atomic.Bool
	c := &capturing{}
	r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider {
		c.Provider = (&spy{can: func(c *payment.Capabilities) { c.CapturesSeen = false }}).on(p)
		return c
	}})
	c.says = func(c gateway.Capture) (gateway.Outcome, error) {
		sent.Store(c.IdempotencyKey, true)
		if refuse.Load() {
			return gateway.Outcome{Event: fsm.EventAuthorized, Refused: true}, nil
		}
		return gateway.Outcome{}, errNoAnswer
	}
	id := r.held(t, "A-1").ID
	require.NoError(t, r.confirm(t, id, "confirm-key"))
	refuse.Store(true)
	r.recheck(t, id)
	require.Equal(t, payment.OperationCapture, r.attempt(t, id).Intent.Kind)
	require.ErrorIs(t, r.confirm(t, id, "second-key"), payment.ErrBusy)
	require.Empty(t, r.discrepancies(t, id))
	keys := 0
	sent.Range(func(any, any) bool { keys++; return true })
	require.Equal(t, 1, keys, "of the provider's keys")
}

func overtakenCancel(t *testing.T) {
	t.Parallel()
	for _, stands := range []fsm.Event{fsm.EventActionRequired, fsm.EventProcessing, fsm.EventAuthorized} {
		r := newEnv(t, setup{silent: true})
		id := r.paid(t, "A-1", "tok_never").ID
		first, p := r.refusedThere(t)
		p.stands = stands
		require.NoError(t, p.overtake(func() error {
			_, err := first.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
			return err
		}, func() {
			r.lapse(t, id)
			r.recheck(t, id)
			require.Equal(t, "failed", string(r.attempt(t, id).State))
		}))
		a := r.attempt(t, id)
		require.Equal(t, "failed", string(a.State))
		require.Equal(t, "canceled", a.Failure.Code)
		require.Empty(t, r.ledger(t))
		require.Empty(t, r.verify(t))
	}
}

// That the payment was made in the meantime is no refusal of a call: it is how the payment
// stands.
func overtakenCancelOfPaid(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	first, p := r.refusedThere(t)
	p.stands = fsm.EventSucceeded
	require.ErrorIs(t, p.overtake(func() error {
		_, err := first.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
		return err
	}, func() {
		r.say(t, id, webhooks.KindSucceeded)
		r.exec(t, "UPDATE operations SET fence = fence + 1 WHERE attempt_id = $1 AND kind = 'cancel'", id.String())
	}), payment.ErrAttemptFinal)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Empty(t, r.discrepancies(t, id))
}

func overtakenRefund(t *testing.T) {
	t.Parallel()
	for name, accepted := range map[string]fsm.RefundState{"paid back": fsm.RefundSucceeded, "on its way": fsm.RefundPending} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			back := &refunding{}
			r := newEnv(t, setup{silent: true, provider: back.on})
			id := r.paid(t, "A-1", "tok_success").ID
			if accepted == fsm.RefundPending {
				back.refund = func(send func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
					o, err := send()
					o.Event = fsm.EventProcessing
					return o, err
				}
			}
			first, p := r.refusedThere(t)
			var made payment.RefundID
			require.NoError(t, p.overtake(func() error {
				_, err := first.Refund(t.Context(), shop, request("refund", "refund-key", ""), commands.CreateRefund{AttemptID: id})
				return err
			}, func() {
				var err error
				made, err = payment.ParseRefundID(rows[string](t, r, "SELECT refund_id::text FROM refunds")[0])
				require.NoError(t, err)
				r.exec(t, "UPDATE operations SET lease_until = lease_until - interval '1 hour' WHERE kind = 'refund' AND open")
				now, err := r.RecheckRefund(t.Context(), made, byTest)
				require.NoError(t, err)
				require.Equal(t, accepted, now.State)
			}))
			now, err := r.store.Refund(t.Context(), made)
			require.NoError(t, err)
			require.Equal(t, accepted, now.State, "it stays as the second runner left it")
			require.Equal(t, map[fsm.RefundState]int64{fsm.RefundSucceeded: price}[accepted], r.attempt(t, id).Refunded)
			require.Empty(t, r.discrepancies(t, id))
			_, err = r.Refund(t.Context(), shop, request("refund", "another-key", ""), commands.CreateRefund{AttemptID: id})
			require.Error(t, err, "nothing is left to refund")
			require.NotErrorIs(t, err, idempotency.ErrInProgress)
			require.Len(t, r.ledger(t), 2, "one charge, one refund")
			require.Empty(t, r.verify(t))
		})
	}
}
