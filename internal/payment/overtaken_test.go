package payment_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// refusing is a provider as a process sees it whose calls are all refused; each freezes
// with the refusal in its hands.
type refusing struct {
	payment.Provider

	// says is the refusal of a charge, stands how the payment is said to stand by that of
	// a capture or a cancellation.
	says   payment.Outcome
	stands fsm.News
	asleep chan struct{}
	thaw   chan struct{}
}

func (p *refusing) sleep() {
	p.asleep <- struct{}{}
	<-p.thaw
}

func (p *refusing) Charge(context.Context, payment.Charge) (payment.Outcome, error) {
	p.sleep()
	return p.says, nil
}

func (p *refusing) Capture(_ context.Context, c payment.Capture) (payment.Outcome, error) {
	p.sleep()
	return payment.Outcome{News: p.stands, ProviderPaymentID: c.ProviderPaymentID, Refused: true}, nil
}

func (p *refusing) Cancel(_ context.Context, c payment.Cancel) (payment.Outcome, error) {
	p.sleep()
	return payment.Outcome{News: p.stands, ProviderPaymentID: c.ProviderPaymentID, Refused: true}, nil
}

func (p *refusing) Refund(context.Context, payment.RefundCall) (payment.RefundOutcome, error) {
	p.sleep()
	return payment.RefusedRefund("no"), nil
}

// refusedThere starts a process whose calls are refused.
func (r *rig) refusedThere(t *testing.T) (*payment.Service, *refusing) {
	t.Helper()
	p := &refusing{
		Provider: r.opts.Accounts["sandbox"].Provider, stands: fsm.NewsAuthorized,
		says:   payment.Outcome{News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "")},
		asleep: make(chan struct{}, 1), thaw: make(chan struct{}),
	}
	return r.another(t, func(o *payment.Options) { o.Accounts = map[string]payment.Account{"sandbox": {Provider: p}} }), p
}

// overtake runs a command of a process that freezes with its refusal, lets another one
// take over past the lease, and returns what the first answers once it thaws.
func (p *refusing) overtake(command func() error, takeOver func()) error {
	done := make(chan error, 1)
	go func() { done <- command() }()
	<-p.asleep
	takeOver()
	close(p.thaw)
	return <-done
}

// A refusal speaks of one call. The runner that brings it may have been overtaken by one
// whose same call was accepted: then nothing failed.
func TestOvertakenRefusalIsOneCalls(t *testing.T) {
	t.Parallel()
	t.Run("charge", func(t *testing.T) {
		t.Parallel()
		for name, says := range map[string]payment.Outcome{
			"refused":                   {News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "")},
			"declined, and names none":  {News: fsm.NewsFailed, Failure: payment.NewFailure("card_declined", "do_not_honor")},
			"a soft decline, unnamed":   {News: fsm.NewsSoftFailed, Failure: payment.NewFailure("card_declined", "do_not_honor")},
			"refused for its own cause": {News: fsm.NewsFailed, Refused: true, ProviderPaymentID: "made-for-this-call", Failure: payment.NewFailure("provider_rejected", "")},
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
	t.Run("capture, sent before", captureSentBefore)
	t.Run("cancel", overtakenCancel)
	t.Run("refund", overtakenRefund)
}

func overtakenCharge(t *testing.T, says payment.Outcome, token string, want standing) {
	t.Helper()
	r := newRig(t, setup{silent: true})
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
		left = r.attempt(t, id)
		require.Equal(t, want, standingOf(left))
	}))
	now := r.attempt(t, id)
	now.ReadAt = left.ReadAt
	require.Equal(t, left, now, "it stays as the second runner left it")
	if want == requested {
		r.say(t, id, webhooks.KindSucceeded)
	}
	require.Equal(t, succeeded, standingOf(r.attempt(t, id)))
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// lapse ends the lease of an attempt.
func (r *rig) lapse(t *testing.T, id payment.AttemptID) {
	t.Helper()
	r.exec(t, "UPDATE payment_attempts SET lease_until = lease_until - $2::interval, next_check_at = next_check_at - $2::interval WHERE attempt_id = $1",
		id.String(), lease)
}

// live is the order's attempt.
func (r *rig) live(t *testing.T, order payment.OrderID) payment.AttemptID {
	t.Helper()
	o, err := r.store.Order(t.Context(), order)
	require.NoError(t, err)
	require.Len(t, o.Attempts, 1)
	return o.Attempts[0].ID
}

// A decline that names its payment is no call's: it says how that payment stands.
func overtakenDecline(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	r.order(t, "A-1")
	first, p := r.refusedThere(t)
	p.says = payment.Outcome{News: fsm.NewsFailed, ProviderPaymentID: "ch_named", Failure: payment.NewFailure("card_declined", "do_not_honor")}
	var id payment.AttemptID
	require.NoError(t, p.overtake(func() error {
		_, err := try(t.Context(), first, "A-1", "first-key", "tok_never")
		return err
	}, func() {
		id = r.live(t, "A-1")
		r.lapse(t, id)
		r.exec(t, "UPDATE payment_attempts SET fence = fence + 1 WHERE attempt_id = $1", id.String()) // another is at it, and not heard of yet
	}))
	require.Equal(t, declined, standingOf(r.attempt(t, id)))
	require.Equal(t, "ch_named", r.attempt(t, id).ProviderPaymentID)
}

// Whoever is first: a failed attempt has charged nothing, and one that is charged has not
// failed.
func overtakenRace(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
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
// payment.Capabilities.CaptureUnseen.
func newLagging(t *testing.T) *rig {
	t.Helper()
	return newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider {
		return (&tapped{can: func(c *payment.Capabilities) { c.CaptureUnseen = true }}).on(p)
	}})
}

func overtakenCapture(t *testing.T) {
	t.Parallel()
	for _, stands := range []fsm.News{fsm.NewsAuthorized, fsm.NewsProcessing, fsm.NewsSoftFailed} {
		r := newLagging(t)
		id := r.held(t, "A-1").ID
		first, p := r.refusedThere(t)
		p.stands = stands
		require.NoError(t, p.overtake(func() error {
			_, err := first.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), payment.Confirm{AttemptID: id})
			return err
		}, func() {
			r.lapse(t, id)
			r.recheck(t, id)
			require.Equal(t, succeeded, standingOf(r.attempt(t, id)))
		}), "nobody is told that it was refused: %s", stands)
		require.Equal(t, succeeded, standingOf(r.attempt(t, id)))
		require.Empty(t, r.discrepancies(t, id))
		require.Len(t, r.ledger(t), 1)
		require.NoError(t, r.confirm(t, id, "confirm-key"), "nor whoever presses again")
		require.Empty(t, r.verify(t))
	}
}

// The second runner is the client's own retry, which has the key by then: the refusal of
// the first is no answer to it either.
func overtakenCaptureRetried(t *testing.T) {
	t.Parallel()
	r := newLagging(t)
	id := r.held(t, "A-1").ID
	first, p := r.refusedThere(t)
	require.NoError(t, p.overtake(func() error {
		_, err := first.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), payment.Confirm{AttemptID: id})
		return err
	}, func() {
		r.lapse(t, id)
		r.exec(t, "UPDATE idempotency_keys SET lease_until = lease_until - interval '1 hour'")
		require.NoError(t, r.confirm(t, id, "confirm-key"))
	}))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id)))
	require.Len(t, r.ledger(t), 1)
}

// A capture whose answer was lost may have been accepted: that the same call is refused
// the second time does not end it where an accepted one may not show yet. Else it would
// be sent under a new key.
func captureSentBefore(t *testing.T) {
	t.Parallel()
	var sent sync.Map
	var refuse atomic.Bool
	c := &capturing{}
	r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider {
		c.Provider = (&tapped{can: func(c *payment.Capabilities) { c.CaptureUnseen = true }}).on(p)
		return c
	}})
	c.says = func(c payment.Capture) (payment.Outcome, error) {
		sent.Store(c.IdempotencyKey, true)
		if refuse.Load() {
			return payment.Outcome{News: fsm.NewsAuthorized, Refused: true}, nil
		}
		return payment.Outcome{}, errNoAnswer
	}
	id := r.held(t, "A-1").ID
	require.NoError(t, r.confirm(t, id, "confirm-key"))
	refuse.Store(true)
	r.recheck(t, id)
	require.Equal(t, payment.IntentCapture, r.attempt(t, id).Intent.Kind)
	require.ErrorIs(t, r.confirm(t, id, "second-key"), payment.ErrBusy)
	require.Empty(t, r.discrepancies(t, id))
	keys := 0
	sent.Range(func(any, any) bool { keys++; return true })
	require.Equal(t, 1, keys, "of the provider's keys")
}

func overtakenCancel(t *testing.T) {
	t.Parallel()
	for _, stands := range []fsm.News{fsm.NewsActionRequired, fsm.NewsProcessing, fsm.NewsAuthorized} {
		r := newRig(t, setup{silent: true})
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

func overtakenRefund(t *testing.T) {
	t.Parallel()
	for name, accepted := range map[string]fsm.RefundState{"paid back": fsm.RefundSucceeded, "on its way": fsm.RefundPending} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			back := &refunding{}
			r := newRig(t, setup{silent: true, provider: back.on})
			id := r.paid(t, "A-1", "tok_success").ID
			if accepted == fsm.RefundPending {
				back.refund = func(send func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
					o, err := send()
					o.News = fsm.NewsProcessing
					return o, err
				}
			}
			first, p := r.refusedThere(t)
			var made payment.RefundID
			require.NoError(t, p.overtake(func() error {
				_, err := first.Refund(t.Context(), shop, request("refund", "refund-key", ""), payment.CreateRefund{AttemptID: id})
				return err
			}, func() {
				var err error
				made, err = payment.ParseRefundID(rows[string](t, r, "SELECT refund_id::text FROM refunds")[0])
				require.NoError(t, err)
				r.exec(t, "UPDATE refunds SET lease_until = lease_until - interval '1 hour'")
				now, err := r.RecheckRefund(t.Context(), made, byTest)
				require.NoError(t, err)
				require.Equal(t, accepted, now.State)
			}))
			now, err := r.store.Refund(t.Context(), made)
			require.NoError(t, err)
			require.Equal(t, accepted, now.State, "it stays as the second runner left it")
			require.False(t, now.Reversed)
			require.Empty(t, r.discrepancies(t, id))
			_, err = r.Refund(t.Context(), shop, request("refund", "another-key", ""), payment.CreateRefund{AttemptID: id})
			require.Error(t, err, "nothing is left to refund")
			require.NotErrorIs(t, err, idempotency.ErrInProgress)
			require.Len(t, r.ledger(t), 2, "one charge, one refund")
			require.Empty(t, r.verify(t))
		})
	}
}
