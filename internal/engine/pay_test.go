package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestPay(t *testing.T) {
	t.Parallel()
	t.Run("two_hundred_with_one_key", payTwoHundredWithOneKey)
	t.Run("two_keys_at_once", payTwoKeysAtOnce)
	t.Run("thousand_duplicates_hold_no_connections", payThousandDuplicatesHoldNoConnections)
	t.Run("waits_for_a_locked_attempt", payWaitsForALockedAttempt)
	t.Run("webhook_beside_the_response", payWebhookBesideTheResponse)
	t.Run("times_out_after_its_webhook", payTimesOutAfterItsWebhook)
	t.Run("not_sent", payNotSent)
	t.Run("held_back", payHeldBack)
	t.Run("again_after_a_lost_response", payAgainAfterALostResponse)
	t.Run("stored_method_of_another_customer", payStoredMethodOfAnotherCustomer)
	t.Run("sandbox_tokens", paySandboxTokens)
}

// gated is a provider with a response that waits for the test.
type gated struct {
	gateway.Provider

	asked, answer chan struct{}
}

func (g gated) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	close(g.asked)
	<-g.answer
	return g.Provider.Charge(ctx, c)
}

// A thousand duplicates of one slow pay wait without holding connections (ten
// that block on a locked key stall a whole service), and all get its attempt.
func payThousandDuplicatesHoldNoConnections(t *testing.T) {
	t.Parallel()
	const crowd = 1000
	slow := gated{asked: make(chan struct{}), answer: make(chan struct{})}
	r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider {
		slow.Provider = p
		return slow
	}, change: func(o *options) { o.Wait, o.ProviderTimeout, o.Lease = waitFor, waitFor, 2*waitFor }})
	r.order(t, "A-1")

	ids := make(chan payment.AttemptID, crowd)
	var all, begun sync.WaitGroup
	created := make(chan struct{}, crowd)
	pay := func() {
		begun.Done()
		p, err := try(t.Context(), r.service, "A-1", "crowd-key", "tok_success")
		if err != nil {
			t.Errorf("a duplicate got %v", err)
		}
		if p.Result == idempotency.Created {
			created <- struct{}{}
		}
		ids <- p.ID
	}
	begun.Add(crowd)
	all.Go(pay)
	<-slow.asked
	for range crowd - 1 {
		all.Go(pay)
	}
	begun.Wait()
	for range 50 {
		var busy int
		require.NoError(t, r.db.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'paylatch' AND state <> 'idle'`).Scan(&busy))
		require.LessOrEqual(t, busy, 5)
	}
	close(slow.answer)
	all.Wait()
	close(ids)
	first := <-ids
	for id := range ids {
		require.Equal(t, first, id)
	}
	require.Len(t, created, 1)
}

// Success by webhook while the pay's own call is open, which then times out (pay-connector #389,
// #683).
func payTimesOutAfterItsWebhook(t *testing.T) {
	t.Parallel()
	var r *env
	p := &spy{}
	p.charge = func(ctx context.Context, c gateway.Charge, _ func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		out, err := p.Provider.Charge(context.WithoutCancel(ctx), c) // a busy machine may need longer than the limit
		if err != nil {
			t.Error(err)
		}
		r.tell(t, event(webhooks.KindSucceeded, out.ProviderPaymentID, c.Attempt.String()))
		<-ctx.Done()
		return gateway.Outcome{}, ctx.Err()
	}
	r = newEnv(t, setup{silent: true, provider: p.on, change: func(o *options) { o.ProviderTimeout = time.Second }})
	paid := r.paid(t, "A-1", "tok_success")
	require.Equal(t, succeeded, standingOf(paid.Attempt))
	require.Equal(t, 2, paid.Version)
	r.audit(t, "A-1")
}

// The same client_request_id never makes a second attempt (killbill #660).
func payTwoHundredWithOneKey(t *testing.T) {
	t.Parallel()
	p := &spy{}
	r := newEnv(t, setup{provider: p.on})
	second := r.another(t, nil)
	r.order(t, "A-1")
	const pays = 200
	answers := make([]commands.Reply, pays)
	errs := make([]error, pays)
	race(times(pays, func(i int) {
		s := []*service{r.service, second}[i%2]
		answers[i], errs[i] = try(t.Context(), s, "A-1", "one-same-key", "tok_success")
	})...)
	created := 0
	for i := range answers {
		require.NoError(t, errs[i])
		require.Equal(t, answers[0].ID, answers[i].ID)
		require.Equal(t, succeeded, standingOf(answers[i].Attempt))
		if answers[i].Result == idempotency.Created {
			created++
		}
	}
	require.Equal(t, 1, created)
	require.EqualValues(t, 1, p.charges.Load())
	require.Len(t, r.ledger(t), 1)
	r.audit(t, "A-1")
}

// One order, one live attempt: a second tab, a second device.
func payTwoKeysAtOnce(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	second := r.another(t, nil)
	for i := range 100 {
		order := payment.OrderID(fmt.Sprintf("A-%d", i))
		r.order(t, order)
		var errs [2]error
		race(times(2, func(i int) {
			s := []*service{r.service, second}[i]
			_, errs[i] = try(t.Context(), s, order, fmt.Sprintf("key-of-tab-%d", i), "tok_success")
		})...)
		refused := errors.Join(errs[0], errs[1])
		require.NotEqual(t, errs[0] == nil, errs[1] == nil, "one of them pays: %v", refused)
		var busy *payment.InProgressError
		require.True(t, errors.As(refused, &busy) || errors.Is(refused, payment.ErrOrderPaid), "%v", refused)
		o, err := r.store.Order(t.Context(), order)
		require.NoError(t, err)
		require.Len(t, o.Attempts, 1)
	}
	require.Len(t, r.ledger(t), 100)
}

// The API's response and the webhook arrive together (saleor #14648; medusa #13301), or the
// webhook in the same second as the response (mollie/magento2 #1047; laravel-mollie #119).
func payWebhookBesideTheResponse(t *testing.T) {
	t.Parallel()
	var r *env
	var delivering sync.WaitGroup
	p := &spy{charge: func(ctx context.Context, c gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		out, err := send()
		start := make(chan struct{})
		delivering.Go(func() {
			<-start
			e := event(webhooks.KindSucceeded, c.Attempt.String(), out.ProviderPaymentID)
			e.ProviderPaymentID = out.ProviderPaymentID
			if _, err := r.Intake(context.WithoutCancel(ctx), received(nil, e)); err != nil {
				t.Error(err)
			}
		})
		close(start)
		return out, err
	}}
	r = newEnv(t, setup{silent: true, provider: p.on})
	for round := range 50 {
		order := payment.OrderID(fmt.Sprintf("A-%d", round))
		paid := r.paid(t, order, "tok_success")
		delivering.Wait()
		require.Equal(t, succeeded, standingOf(paid.Attempt))
		require.Equal(t, 2, r.attempt(t, paid.ID).Version)
		require.Equal(t, []string{"payment_attempt.succeeded"}, r.updates(t, paid.ID))
		r.audit(t, order)
	}
}

// Money may just be coming in for an attempt that has failed: until that is decided the
// order takes no other pay.
func payWaitsForALockedAttempt(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_decline").ID
	paid := make(chan error, 1)
	require.NoError(t, r.store.InTx(t.Context(), func(ctx context.Context, tx runner.Tx) error {
		_, _, err := tx.AttemptLock(ctx, id)
		go func() {
			_, err := try(t.Context(), r.service, "A-1", "second-key", "tok_success")
			paid <- err
		}()
		require.Eventually(t, func() bool {
			return rows[int](t, r, "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")[0] > 0
		}, waitFor, tick)
		return err
	}))
	require.NoError(t, <-paid)
	require.Len(t, r.ledger(t), 1)
}

func payNotSent(t *testing.T) {
	t.Parallel()
	p := &spy{charge: dead(errNotSent)}
	r := newEnv(t, setup{silent: true, provider: p.on})
	first := r.paid(t, "A-1", "tok_success")
	require.Equal(t, notStarted, standingOf(first.Attempt))
	require.True(t, first.CanStartNew)
	p.charge = nil
	second := r.pay(t, "A-1", "second-key", "tok_success")
	require.Equal(t, succeeded, standingOf(second.Attempt))
	r.audit(t, "A-1")
}

// The provider charges, then drops the connection; the customer pays again, with the same
// key and with a new one (aws x402 sample #40; adyen-commercetools #1283).
func payAgainAfterALostResponse(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	first := r.paid(t, "A-1", "tok_500_charged")
	require.Equal(t, unknown, standingOf(first.Attempt))
	for range 5 {
		require.Equal(t, first.ID, r.pay(t, "A-1", "first-key", "tok_500_charged").ID)
		_, err := try(t.Context(), r.service, "A-1", "second-key", "tok_success")
		var busy *payment.InProgressError
		require.ErrorAs(t, err, &busy)
	}
	require.Equal(t, succeeded, standingOf(r.recheck(t, first.ID).Attempt))
	_, err := try(t.Context(), r.service, "A-1", "second-key", "tok_success")
	require.ErrorIs(t, err, payment.ErrOrderPaid)
	r.audit(t, "A-1")
}

// The results of a pay and of a recheck after a throttled call.
func payHeldBack(t *testing.T) {
	t.Parallel()
	p := &spy{charge: dead(errHeldBack)}
	r := newEnv(t, setup{silent: true, provider: p.on})
	first := r.paid(t, "A-1", "tok_success")
	require.Equal(t, notStarted, standingOf(first.Attempt), "nothing was sent: it can be tried anew")
	require.True(t, first.CanStartNew)

	p.charge = dead(errNoAnswer)
	second := r.pay(t, "A-1", "second-key", "tok_success")
	require.Equal(t, unknown, standingOf(second.Attempt))
	p.charge = dead(errHeldBack)
	require.Equal(t, unknown, standingOf(r.recheck(t, second.ID).Attempt), "it speaks of this call, not of the one before")
	p.charge = nil
	require.Equal(t, succeeded, standingOf(r.recheck(t, second.ID).Attempt))
	r.audit(t, "A-1")
}
