package payment_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// The same client_request_id never makes a second attempt (killbill #660).
func TestTwoHundredPaysWithOneKeyAreOneAttempt(t *testing.T) {
	t.Parallel()
	p := &tapped{}
	r := newRig(t, setup{provider: p.on})
	second := r.another(t, nil)
	r.order(t, "A-1")
	const presses = 200
	answers := make([]payment.Reply, presses)
	errs := make([]error, presses)
	race(times(presses, func(i int) {
		s := []*payment.Service{r.Service, second}[i%2]
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
func TestTwoKeysAtOnceMakeOneLiveAttempt(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	second := r.another(t, nil)
	for i := range 100 {
		order := payment.OrderID(fmt.Sprintf("A-%d", i))
		r.order(t, order)
		var errs [2]error
		race(times(2, func(i int) {
			s := []*payment.Service{r.Service, second}[i]
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

// The same event ×50 at once (Pinelab vendure-plugins #620; pay-rails/pay #371).
// Two processes: dedupe is a constraint, not a look before an insert (convoy
// #2747).
func TestTheSameEventFiftyTimesAtOnceIsAppliedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	second := r.another(t, nil)
	for round := range 10 {
		id := r.paid(t, payment.OrderID(fmt.Sprintf("A-%d", round)), "tok_never").ID
		e := event(webhooks.KindSucceeded, id.String())
		const copies = 50
		verdicts := make([]fsm.Verdict, copies)
		race(times(copies, func(i int) {
			got, err := []*payment.Service{r.Service, second}[i%2].Intake(t.Context(), received([]byte("{}"), e))
			if err != nil {
				t.Error(err)
				return
			}
			verdicts[i] = got[0]
		})...)
		count := map[fsm.Verdict]int{}
		for _, v := range verdicts {
			count[v]++
		}
		require.Equal(t, map[fsm.Verdict]int{fsm.Applied: 1, payment.Duplicate: copies - 1}, count)
		require.Equal(t, []string{"payment_attempt.succeeded"}, r.news(t, id))
		require.Equal(t, []string{"applied"}, r.verdicts(t, id))
	}
}

// Three different success events of one payment (pay-rails/pay #780, #1095).
func TestThreeSuccessEventsAtOnceAreOneTransition(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	second := r.another(t, nil)
	for round := range 20 {
		p := r.paid(t, payment.OrderID(fmt.Sprintf("A-%d", round)), "tok_never")
		race(times(3, func(i int) {
			s := []*payment.Service{r.Service, second}[i%2]
			if _, err := s.Intake(t.Context(), received(nil, event(webhooks.KindSucceeded, p.ID.String()))); err != nil {
				t.Error(err)
			}
		})...)
		require.ElementsMatch(t, []string{"applied", "repeat", "repeat"}, r.verdicts(t, p.ID))
		require.Equal(t, []string{"payment_attempt.succeeded"}, r.news(t, p.ID))
		require.Equal(t, p.Version+1, r.attempt(t, p.ID).Version)
	}
}

// The API's answer and the webhook arrive together (saleor #14648; medusa #13301),
// or the webhook in the same second as the answer (mollie/magento2 #1047;
// laravel-mollie #119).
func TestAnswerAndWebhookTogetherCountOnce(t *testing.T) {
	t.Parallel()
	var r *rig
	var delivering sync.WaitGroup
	p := &tapped{charge: func(ctx context.Context, c payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
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
	r = newRig(t, setup{silent: true, provider: p.on})
	for round := range 50 {
		order := payment.OrderID(fmt.Sprintf("A-%d", round))
		paid := r.paid(t, order, "tok_success")
		delivering.Wait()
		require.Equal(t, succeeded, standingOf(paid.Attempt))
		require.Equal(t, 2, r.attempt(t, paid.ID).Version)
		require.Equal(t, []string{"payment_attempt.succeeded"}, r.news(t, paid.ID))
		r.audit(t, order)
	}
}

// Reconciler, webhook and a client's retry work on one attempt at once (killbill
// #338), in two processes; a conflict in the database never reaches any of them
// (medusa #2948, #4798).
func TestReconcilerWebhookAndRetryAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	second := r.another(t, nil)
	for round := range 25 {
		order := payment.OrderID(fmt.Sprintf("A-%d", round))
		first := r.paid(t, order, "tok_500_charged")
		require.Equal(t, unknown, standingOf(first.Attempt))
		check := func(s *payment.Service) func() {
			return func() {
				if _, err := s.Recheck(t.Context(), first.ID, byTest); err != nil && !errors.Is(err, payment.ErrBusy) {
					t.Error(err)
				}
			}
		}
		retry := func(s *payment.Service) func() {
			return func() {
				if _, err := try(t.Context(), s, order, "first-key", "tok_500_charged"); err != nil {
					t.Error(err)
				}
			}
		}
		hear := func(s *payment.Service) func() {
			return func() {
				if _, err := s.Intake(t.Context(), received(nil, event(webhooks.KindSucceeded, first.ID.String()))); err != nil {
					t.Error(err)
				}
			}
		}
		race(check(r.Service), check(second), retry(r.Service), retry(second), hear(r.Service), hear(second))
		a := r.attempt(t, first.ID)
		require.Equal(t, succeeded, standingOf(a))
		require.EqualValues(t, price, a.Captured)
		require.Empty(t, r.discrepancies(t, a.ID))
		require.Equal(t, "payment_attempt.succeeded", r.news(t, a.ID)[0])
		r.audit(t, order)
	}
	require.Len(t, r.ledger(t), 25)
}

// A replayed batch leaves every amount as it was (formance payments #750).
func TestAReplayedBatchChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	half := event(webhooks.KindReversed, id.String())
	half.Money = &webhooks.Money{Minor: 500, Currency: "EUR"}
	batch := []webhooks.Event{event(webhooks.KindAuthorized, id.String()), event(webhooks.KindSucceeded, id.String()), half}
	require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Applied, fsm.Applied}, r.tell(t, batch...))
	before := r.attempt(t, id)
	require.Equal(t, []fsm.Verdict{payment.Duplicate, payment.Duplicate, payment.Duplicate}, r.tell(t, batch...))
	for i := range batch {
		batch[i].ID += "-again"
	}
	require.Equal(t, []fsm.Verdict{fsm.Stale, fsm.Repeat, fsm.Repeat}, r.tell(t, batch...))
	after := r.attempt(t, id)
	after.ReadAt = before.ReadAt
	require.Equal(t, before, after)
	require.EqualValues(t, price-500, after.Held())
}

// Two attempts of an order succeed at the same moment in two processes: whoever
// is second must see the first.
func TestTwoSuccessesAtOnceAreADoubleSuccess(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	second := r.another(t, nil)
	for i := range 40 {
		order := payment.OrderID(fmt.Sprintf("A-%d", i))
		first := r.paid(t, order, "tok_decline")
		other := r.pay(t, order, "second-key", "tok_never")
		race(
			func() { _, _ = r.Intake(t.Context(), received(nil, event(webhooks.KindSucceeded, first.ID.String()))) },
			func() {
				_, _ = second.Intake(t.Context(), received(nil, event(webhooks.KindSucceeded, other.ID.String())))
			},
		)
		require.Contains(t, append(r.discrepancies(t, first.ID), r.discrepancies(t, other.ID)...), "double_success", "round %d", i)
	}
}

// Money may just be coming in for an attempt that has failed: until that is decided the
// order takes no other pay.
func TestAPayWaitsForWhoeverHasAFailedAttempt(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_decline").ID
	paid := make(chan error, 1)
	require.NoError(t, r.store.InTx(t.Context(), func(ctx context.Context, tx payment.Tx) error {
		_, err := tx.AttemptLock(ctx, id)
		go func() {
			_, err := try(t.Context(), r.Service, "A-1", "second-key", "tok_success")
			paid <- err
		}()
		require.Eventually(t, func() bool {
			return rows[int](t, r, "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")[0] > 0
		}, patience, tick)
		return err
	}))
	require.NoError(t, <-paid)
	require.Len(t, r.ledger(t), 1)
}
