package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestPark(t *testing.T) {
	t.Parallel()
	t.Run("before_its_name", parkBeforeItsName)
	t.Run("beside_its_name", parkBesideItsName)
	t.Run("name_from_another_parked_event", parkNameFromAnotherParkedEvent)
	t.Run("unstorable_name", parkUnstorableName)
	t.Run("poison_message_fails_no_other", parkPoisonMessageFailsNoOther)
	t.Run("poison_message_delays_no_other", parkPoisonMessageDelaysNoOther)
	t.Run("poison_message_is_requeued_alone", parkPoisonMessageIsRequeuedAlone)
	t.Run("unstorable_needs_review", parkUnstorableNeedsReview)
	t.Run("unmatched_needs_review", parkUnmatchedNeedsReview)
	t.Run("locked_when_its_name_comes", parkLockedWhenItsNameComes)
	t.Run("name_of_another_account", parkNameOfAnotherAccount)
}

// A webhook that names the payment by the provider's id, before that id is stored here: it is
// applied in the commit that brings the id (statamic-cargo #190).
func parkBeforeItsName(t *testing.T) {
	t.Parallel()
	var r *env
	p := &spy{charge: func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		out, err := send()
		require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, r.tell(t, event(webhooks.KindSucceeded, out.ProviderPaymentID)))
		return out, err
	}}
	r = newEnv(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_never")
	require.Equal(t, succeeded, standingOf(paid.Attempt))
	require.EqualValues(t, price, paid.Captured)
	require.Equal(t, []string{"applied"}, r.verdicts(t, paid.ID))
	n, err := r.RetryParked(t.Context(), 10)
	require.NoError(t, err)
	require.Zero(t, n, "nothing is left to try")
}

// The event and the reference are stored at once, so that neither sees the other:
// the retry finds it within 2 s.
func parkBesideItsName(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	e := event(webhooks.KindSucceeded, "ch_late")
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, r.tell(t, e))
	id := r.paid(t, "A-1", "tok_never").ID
	r.exec(t, `INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES ('sandbox', 'ch_late', 'A-1', $1)`, id.String())
	require.Equal(t, []bool{true}, rows[bool](t, r, "SELECT next_try_at <= now() + interval '2 s' FROM provider_events"))
	require.Eventually(t, func() bool {
		_, err := r.RetryParked(t.Context(), 10)
		return err == nil && standingOf(r.attempt(t, id).Attempt) == succeeded
	}, waitFor, tick)
	require.Equal(t, payment.VerdictDuplicate, r.tell(t, e)[0])
}

// charged is a provider that responds to a charge once an event has come before, which names the
// payment as the response does.
func charged(t *testing.T, r **env, early func(name string) webhooks.Event) *spy {
	t.Helper()
	return &spy{charge: func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		out, err := send()
		require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, (*r).tell(t, early(out.ProviderPaymentID)))
		return out, err
	}}
}

// An event that is applied so may bring the name that the next event waits for.
func parkNameFromAnotherParkedEvent(t *testing.T) {
	t.Parallel()
	var r *env
	p := charged(t, &r, func(name string) webhooks.Event {
		require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched, payment.VerdictUnmatched}, r.tell(t,
			event(webhooks.KindDisputed, "cs_1"), event(webhooks.KindSucceeded, "ch_1", "cs_1")))
		return event(webhooks.KindAuthorized, name, "ch_1")
	})
	r = newEnv(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_never")
	require.Equal(t, succeeded, standingOf(paid.Attempt))
	require.Equal(t, []string{"applied", "applied", "applied"}, r.verdicts(t, paid.ID), "each once")
	require.Equal(t, []string{"disputed"}, r.discrepancies(t, paid.ID))
	require.Zero(t, r.parked(t))
	require.Empty(t, r.verify(t))
}

// A parked event may have a name of a refund that no index takes.
func parkUnstorableName(t *testing.T) {
	t.Parallel()
	var r *env
	p := charged(t, &r, func(name string) webhooks.Event {
		e := event(webhooks.KindRefundSucceeded, name, noise(2690)[:2690])
		e.RefundID, e.Money = noise(3000), &webhooks.Money{Minor: 500, Currency: "EUR"}
		return e
	})
	r = newEnv(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_success")
	require.Equal(t, succeeded, standingOf(paid.Attempt))
	require.EqualValues(t, 500, r.attempt(t, paid.ID).Refunded)
	require.Equal(t, []string{"applied"}, r.verdicts(t, paid.ID))
	require.Empty(t, r.verify(t))
}

// Nor does a parked event that can't be applied for another reason fail others: neither the pay
// with a response that brings its name, nor a webhook that does, nor a worker.
func parkPoisonMessageFailsNoOther(t *testing.T) {
	t.Parallel()
	odd := func(name string) webhooks.Event {
		return inCurrency(event(webhooks.KindSucceeded, name), noise(1<<13))
	}
	var r *env
	p := charged(t, &r, odd)
	r = newEnv(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_success")
	require.Equal(t, succeeded, standingOf(paid.Attempt))
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, r.tell(t, odd("ch_2")))
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, event(webhooks.KindSucceeded, paid.ID.String(), "ch_2")))
	require.Empty(t, r.discrepancies(t, paid.ID))
	require.EqualValues(t, 2, r.parked(t), "it waits for the worker")

	good := event(webhooks.KindSucceeded, "ch_3", "ch_4")
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, r.tell(t, good))
	r.exec(t, `INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES ('sandbox', 'ch_3', 'A-1', $1)`, paid.ID.String())
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, r.tell(t, odd("ch_4")))
	r.exec(t, "UPDATE provider_events SET next_try_at = CASE provider_event_id WHEN $1 THEN now() ELSE now() + interval '1 hour' END WHERE next_try_at IS NOT NULL", good.ID)
	r.retry(t, false)
	require.Equal(t, []string{"repeat", "repeat"}, r.verdicts(t, paid.ID))
}

// Content that the storage does not take is tried for a while, and then opens a discrepancy,
// once.
func parkUnstorableNeedsReview(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, r.tell(t, inCurrency(event(webhooks.KindSucceeded, "ch_1"), noise(1<<13))))
	id := r.paid(t, "A-1", "tok_never").ID
	r.exec(t, `INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES ('sandbox', 'ch_1', 'A-1', $1)`, id.String())
	kinds := func() []string { return rows[string](t, r, "SELECT kind FROM discrepancies") }
	for tries := 1; tries <= 15; tries++ {
		r.exec(t, "UPDATE provider_events SET next_try_at = now()")
		_, err := r.RetryParked(t.Context(), 10)
		require.Error(t, err, "it is for the log")
		if tries < 12 {
			require.Empty(t, kinds())
		}
	}
	require.Equal(t, []string{"needs_review"}, kinds())
}

// Nor does it delay others that are freed with it, by a name or by the name of a refund: the
// worker tries them at once.
func parkPoisonMessageDelaysNoOther(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: backLost}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	ours := r.refundOf(t, id, "refund-1", 500)
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched, payment.VerdictUnmatched, payment.VerdictDeferred}, r.tell(t,
		inCurrency(event(webhooks.KindSucceeded, "ch_1"), noise(1<<13)), event(webhooks.KindDisputed, "ch_2"), cents(webhooks.KindRefundPending, id, "re_2", 300)))
	r.exec(t, "UPDATE provider_events SET tries = 10, next_try_at = now() + interval '1 hour'")
	named := cents(webhooks.KindRefundSucceeded, id, "re_1", 500)
	named.RefundReference = ours.ID.String()
	require.Equal(t, []fsm.Verdict{fsm.Repeat, fsm.Applied}, r.tell(t, event(webhooks.KindSucceeded, id.String(), "ch_1", "ch_2"), named))
	require.EqualValues(t, 500, r.attempt(t, id).Refunded)
	require.EqualValues(t, 3, r.parked(t))
	_, err := r.RetryParked(t.Context(), 10)
	require.Error(t, err, "of the odd one")
	require.Equal(t, []string{"u1 re_1 succeeded 500", "provider re_2 pending 300"}, r.refunds(t, id))
	require.Equal(t, []string{"disputed"}, r.discrepancies(t, id))
	require.EqualValues(t, 1, r.parked(t))
}

// The events that are due with a poison message are retried singly, in the same round, and it
// alone is requeued.
func parkPoisonMessageIsRequeuedAlone(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	nobodys, odd, good := event(webhooks.KindSucceeded, "ch_nobody"), inCurrency(event(webhooks.KindSucceeded, "ch_1"), noise(1<<13)), event(webhooks.KindAuthorized, "ch_2")
	for _, e := range []webhooks.Event{nobodys, odd, good} {
		require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, r.tell(t, e))
	}
	for _, name := range []string{"ch_1", "ch_2"} {
		r.exec(t, `INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES ('sandbox', $2, 'A-1', $1)`, id.String(), name)
	}
	r.exec(t, `UPDATE provider_events SET tries = 11, next_try_at = now() - CASE provider_event_id
		WHEN $1 THEN interval '3 seconds' WHEN $2 THEN interval '2 seconds' ELSE interval '1 second' END`, nobodys.ID, odd.ID)
	n, err := r.RetryParked(t.Context(), 10)
	require.Error(t, err, "it is for the log")
	require.Equal(t, "authorized", r.attempt(t, id).Stage())
	require.Equal(t, []int64{12, 12}, rows[int64](t, r, "SELECT tries FROM provider_events WHERE next_try_at IS NOT NULL"))
	require.ElementsMatch(t, []string{"unmatched_event " + nobodys.ID, "needs_review " + odd.ID},
		rows[string](t, r, "SELECT kind || ' ' || provider_event_id FROM discrepancies"))
	require.Equal(t, 2, n)
}

// An event of a foreign payment is tried for a while, and then opens one discrepancy.
func parkUnmatchedNeedsReview(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.tell(t, event(webhooks.KindSucceeded, "ch_nobody"))
	kinds := func() []string { return rows[string](t, r, "SELECT kind FROM discrepancies") }
	for tries := 1; tries <= 20; tries++ {
		r.exec(t, "UPDATE provider_events SET next_try_at = now()")
		n, err := r.RetryParked(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		if tries < 12 {
			require.Empty(t, kinds())
		}
	}
	require.Equal(t, []string{"unmatched_event"}, kinds())
	pause := rows[time.Duration](t, r, "SELECT next_try_at - now() FROM provider_events")[0]
	require.Greater(t, pause, 50*time.Minute)
	require.LessOrEqual(t, pause, time.Hour)
}

// lock holds an attempt's row until unlock is called, or the test ends.
func (r *env) lock(t *testing.T, id payment.AttemptID) (unlock func()) {
	t.Helper()
	tx, err := r.db.Begin(t.Context())
	require.NoError(t, err)
	unlock = sync.OnceFunc(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	t.Cleanup(unlock)
	_, err = tx.Exec(t.Context(), "SELECT FROM payment_attempts WHERE attempt_id = $1 FOR UPDATE", id.String())
	require.NoError(t, err)
	return unlock
}

// An event of a locked attempt waits; its repeat in the same batch must not be acknowledged
// before it is on disk.
func intakeRepeatOfALockedEvent(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	unlock := r.lock(t, id)
	e := event(webhooks.KindSucceeded, id.String())
	done := make(chan fsm.Verdict, 2)
	for range 2 {
		go func() {
			verdicts, err := r.Intake(t.Context(), received(nil, e))
			if err != nil {
				t.Error(err)
				return
			}
			done <- verdicts[0]
		}()
	}
	require.Equal(t, payment.VerdictUnmatched, r.tell(t, event(webhooks.KindSucceeded, "ch_nobody"))[0], "others go on")
	require.Never(t, func() bool { return len(done) > 0 }, 200*time.Millisecond, tick)
	unlock()
	require.ElementsMatch(t, []fsm.Verdict{fsm.Applied, payment.VerdictDuplicate}, []fsm.Verdict{<-done, <-done})
}

// An attempt that stays locked doesn't hold its events up for ever: they are
// stored, acknowledged, and applied afterwards.
func intakeLockedAttempt(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	unlock := r.lock(t, id)
	require.Equal(t, payment.VerdictDeferred, r.say(t, id, webhooks.KindSucceeded))
	unlock()
	require.Eventually(t, func() bool {
		_, err := r.RetryParked(t.Context(), 10)
		return err == nil && standingOf(r.attempt(t, id).Attempt) == succeeded
	}, waitFor, tick)
}

// A name belongs to its account. An event that waits for it at one account is not applied when another account gets the
// name, even in one batch.
func parkNameOfAnotherAccount(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	r.order(t, "B-1")
	other, err := r.Pay(t.Context(), shop, request("pay B-1", "first-key", ""), commands.Pay{OrderID: "B-1", Account: "other", Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureAutomatic})
	require.NoError(t, err)
	refunded := event(webhooks.KindRefundSucceeded, "ch_1")
	refunded.RefundID, refunded.Money = "re_1", &webhooks.Money{Minor: 100, Currency: "EUR"}
	parked := received(nil, event(webhooks.KindDisputed, "ch_1"), refunded)
	parked[0].Account, parked[1].Account = "other", "other"
	verdicts, err := r.Intake(t.Context(), parked)
	require.NoError(t, err)
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched, payment.VerdictUnmatched}, verdicts)

	r.tell(t, event(webhooks.KindProcessing, id.String(), "ch_1"))
	r.refund(t, id, "refund-1") // its name releases the event that waits for it
	require.EqualValues(t, price, r.attempt(t, id).Refunded)
	require.Empty(t, r.discrepancies(t, id))
	require.EqualValues(t, 2, r.parked(t))

	third := r.paid(t, "A-2", "tok_never").ID
	both := received(nil, event(webhooks.KindProcessing, third.String(), "ch_2"), event(webhooks.KindProcessing, other.ID.String(), "ch_1", "ch_2"))
	both[1].Account = "other"
	parked = received(nil, event(webhooks.KindDisputed, "ch_2"))
	parked[0].Account = "other"
	_, err = r.Intake(t.Context(), parked)
	require.NoError(t, err)
	_, err = r.Intake(t.Context(), both)
	require.NoError(t, err)
	require.Empty(t, r.discrepancies(t, third))
	require.Equal(t, []string{"disputed"}, r.discrepancies(t, other.ID))
	require.EqualValues(t, 100, r.attempt(t, other.ID).Refunded)
	require.Zero(t, r.parked(t))
}
