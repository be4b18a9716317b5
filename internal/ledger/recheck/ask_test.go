package recheck_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	t.Run("refund_and_chargeback", askRefundAndChargeback)
	t.Run("refund_that_is_undone", askRefundThatIsUndone)
	t.Run("late_charge", askLateCharge)
	t.Run("late_charge_by_our_reference", askLateChargeByOurReference)
	t.Run("without_a_result", askWithoutAResult)
	t.Run("without_lookups", askWithoutLookups)
	t.Run("older_failure_ends_no_younger_hold", askOlderFailureEndsNoYoungerHold)
	t.Run("beside_webhook", askBesideWebhook)
	t.Run("beside_refund", askBesideRefund)
	t.Run("once_in_three_seconds", askOnceInThreeSeconds)
	t.Run("books", askBooks)
}

// A change in the dashboard without a webhook counts after a lookup. A second lookup changes nothing.
func askRefundAndChargeback(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1", fsm.EventSucceeded)
	v, err := r.Ask(t.Context(), a.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, a.Version, v.Version, "there is nothing to be found out")
	require.Equal(t, 1, r.asked())

	r.refund(a.ProviderPaymentID, "re_1", "", 700)
	r.chargeBack(a.ProviderPaymentID, 999)
	for range 2 {
		v, err = r.Ask(t.Context(), a.ID, byTest)
		require.NoError(t, err)
		require.Equal(t, fsm.Succeeded, v.State)
		require.EqualValues(t, 700, v.Refunded)
		require.EqualValues(t, 999, v.Disputed)
	}
	require.Equal(t, a.Version+2, v.Version)
	require.Equal(t, 2, r.asked(), "the lookup shows the refund")
	require.Equal(t, []string{"700 succeeded provider"}, rows[string](t, r, "SELECT amount || ' ' || status || ' ' || origin FROM refunds"))
	require.Equal(t, []string{"payment_reversed"}, rows[string](t, r, "SELECT kind FROM discrepancies"))

	require.ErrorIs(t, r.refunds(t.Context(), a.ID, "refund-1", 301), payment.ErrRefundExceeds)
	require.NoError(t, r.refunds(t.Context(), a.ID, "refund-2", 300))
	require.ErrorIs(t, r.refunds(t.Context(), a.ID, "refund-3", 1), payment.ErrNotRefundable)
	r.requireVerified(t)
}

// A refund that failed after its success is looked up by itself where the payment does not show it, and only while that can
// change something.
func askRefundThatIsUndone(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	r.apart = true
	a := r.pay(t, "A-1", fsm.EventSucceeded)
	require.NoError(t, r.refunds(t.Context(), a.ID, "refund-1", 700))
	refund := rows[string](t, r, "SELECT provider_refund_id FROM refunds")[0]
	v, err := r.Ask(t.Context(), a.ID, byTest)
	require.NoError(t, err)
	require.EqualValues(t, 700, v.Refunded)
	require.Equal(t, []string{a.ProviderPaymentID, refund}, r.lookups)

	r.undo(refund)
	v, err = r.Ask(t.Context(), a.ID, byTest)
	require.NoError(t, err)
	require.Zero(t, v.Refunded)
	require.Equal(t, []string{"refund_reversed"}, rows[string](t, r, "SELECT kind FROM discrepancies"))
	r.asked()
	_, err = r.Ask(t.Context(), a.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, []string{a.ProviderPaymentID}, r.lookups, "it is undone already")
	r.requireVerified(t)
}

func askLateCharge(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1", fsm.EventFailed)
	r.succeed(a.ProviderPaymentID)
	for range 2 {
		v, err := r.Ask(t.Context(), a.ID, byTest)
		require.NoError(t, err)
		require.Equal(t, fsm.Failed, v.State)
		require.EqualValues(t, price, v.Captured)
		require.False(t, v.CanStartNew)
	}
	require.Equal(t, []string{"late_success"}, rows[string](t, r, "SELECT kind FROM discrepancies"))
	require.NoError(t, r.refunds(t.Context(), a.ID, "refund-1", price))
	r.requireVerified(t)
}

// A failed attempt without a name at the provider is looked for by ours.
func askLateChargeByOurReference(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1", fsm.EventFailed)
	_, err := r.db.Exec(t.Context(), "UPDATE payment_attempts SET provider_payment_id = ''")
	require.NoError(t, err)
	id := "pay_" + a.ID.String()
	r.failing(id, gateway.ErrNoSuchPayment)
	v, err := r.Ask(t.Context(), a.ID, byTest)
	require.NoError(t, err, "that there is none is no surprise")
	require.Equal(t, a.Version, v.Version)
	r.failing(id, nil)
	r.succeed(id)
	v, err = r.Ask(t.Context(), a.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, id, v.ProviderPaymentID)
	require.EqualValues(t, price, v.Captured)
	require.Equal(t, []string{"late_success"}, rows[string](t, r, "SELECT kind FROM discrepancies"))
}

// Without a result the attempt stays as it is: Ask returns why, a person and the shop get the attempt.
func askWithoutAResult(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1", fsm.EventSucceeded)
	for _, fails := range []error{gateway.ErrNoSuchPayment, fmt.Errorf("%w: %w", gateway.ErrNotSent, gateway.ErrThrottled), errors.New("502")} {
		r.failing(a.ProviderPaymentID, fails)
		_, err := r.Ask(t.Context(), a.ID, byTest)
		require.ErrorIs(t, err, fails)
		require.ErrorIs(t, err, runner.ErrNotShown)
		v, err := r.AskOnce(t.Context(), a.ID, byTest, 0)
		require.NoError(t, err)
		require.Equal(t, a.Version, v.Version)
	}
	_, err := r.Ask(t.Context(), payment.AttemptID{1}, byTest)
	require.ErrorIs(t, err, payment.ErrAttemptNotFound)
	require.Empty(t, rows[string](t, r, "SELECT kind FROM discrepancies"))
	r.requireVerified(t)
}

func askWithoutLookups(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1", fsm.EventSucceeded)
	require.True(t, r.Askable(a))
	r.blind = true
	require.False(t, r.Askable(a))
	v, err := r.Ask(t.Context(), a.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, a.Version, v.Version)
	require.Zero(t, r.asked())
}

// A lookup that began before a hold was reported may be older than the hold: its failure does not end it.
func askOlderFailureEndsNoYoungerHold(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1", fsm.EventFailed)
	money := euro(price)
	r.hook = func(string) {
		r.hook = nil
		now, err := r.Apply(t.Context(), a.ID, []payment.Report{{
			Event: fsm.EventAuthorized, Movements: payment.MovementsOf(fsm.EventAuthorized, &money), Cause: byTest,
		}})
		require.NoError(t, err)
		require.EqualValues(t, price, now.OnHold())
	}
	v, err := r.Ask(t.Context(), a.ID, byTest)
	require.NoError(t, err)
	require.EqualValues(t, price, v.OnHold())
	v, err = r.Ask(t.Context(), a.ID, byTest)
	require.NoError(t, err)
	require.Zero(t, v.OnHold(), "this one began after it")
	r.requireVerified(t)
}

// A webhook of the refund comes while its lookup is under way, before it or after it.
func askBesideWebhook(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	for round := range 12 {
		a := r.pay(t, payment.OrderID(fmt.Sprintf("A-%d", round)), fsm.EventSucceeded)
		name := fmt.Sprintf("re_%d", round)
		r.refund(a.ProviderPaymentID, name, "", 700)
		r.race(t, func() error { return r.tell(t.Context(), a, name, 700) }, func() error { _, err := r.Ask(t.Context(), a.ID, byTest); return err },
			func() error { _, err := r.Ask(t.Context(), a.ID, byTest); return err })
		require.EqualValues(t, 700, r.attempt(t, a.ID).Refunded)
		require.Equal(t, []int64{700}, rows[int64](t, r, "SELECT amount FROM refunds WHERE attempt_id = $1", a.ID.String()))
	}
	require.Empty(t, rows[string](t, r, "SELECT kind FROM discrepancies"))
	r.requireVerified(t)
}

// A refund of ours is found by a lookup before the response to its own call is recorded.
func askBesideRefund(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	for round := range 12 {
		a := r.pay(t, payment.OrderID(fmt.Sprintf("A-%d", round)), fsm.EventSucceeded)
		ask := func() error { _, err := r.Ask(t.Context(), a.ID, byTest); return err }
		r.race(t, func() error { return r.refunds(t.Context(), a.ID, fmt.Sprintf("refund-%d", round), 700) }, ask, ask, ask)
		require.NoError(t, ask())
		require.EqualValues(t, 700, r.attempt(t, a.ID).Refunded)
		require.Equal(t, []string{"request succeeded"}, rows[string](t, r, "SELECT origin || ' ' || status FROM refunds WHERE attempt_id = $1", a.ID.String()))
	}
	require.Empty(t, rows[string](t, r, "SELECT kind FROM discrepancies"))
	r.requireVerified(t)
}

// race runs functions at once; no function may fail.
func (r *env) race(t *testing.T, fns ...func() error) {
	t.Helper()
	barrier := make(chan struct{})
	failed := make([]error, len(fns))
	var all sync.WaitGroup
	for i, fn := range fns {
		all.Go(func() {
			<-barrier
			failed[i] = fn()
		})
	}
	close(barrier)
	all.Wait()
	require.NoError(t, errors.Join(failed...))
}

// The shop's check reaches the provider once in three seconds, whichever process it comes to; a customer's never, once the
// attempt is final.
func askOnceInThreeSeconds(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1", fsm.EventSucceeded)
	other := r.process()
	_, err := r.Check(t.Context(), customer, a.ID)
	require.NoError(t, err)
	require.Zero(t, r.asked())
	r.chargeBack(a.ProviderPaymentID, price)
	v, err := r.Check(t.Context(), shop, a.ID)
	require.NoError(t, err)
	require.EqualValues(t, price, v.Disputed)
	_, err = r.Check(t.Context(), shop, a.ID)
	require.NoError(t, err)
	_, err = other.Check(t.Context(), shop, a.ID)
	require.NoError(t, err)
	require.Equal(t, 1, r.asked())
	_, err = r.db.Exec(t.Context(), "UPDATE final_lookups SET looked_up_at = looked_up_at - interval '3 seconds'")
	require.NoError(t, err)
	_, err = r.process().Check(t.Context(), shop, a.ID)
	require.NoError(t, err)
	require.Equal(t, 1, r.asked())
	_, err = r.db.Exec(t.Context(), "INSERT INTO final_lookups VALUES (gen_random_uuid(), now() - interval '2 minutes')")
	require.NoError(t, err)
	_, err = r.AskOnce(t.Context(), a.ID, byTest, 1)
	require.NoError(t, err)
	require.Equal(t, []string{a.ID.String()}, rows[string](t, r, "SELECT attempt_id::text FROM final_lookups"), "what is over is deleted")
}

// The content of a provider's books is applied as a report, once.
func askBooks(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1", fsm.EventSucceeded)
	entry := gateway.Entry{ID: "txn_1", Payment: a.ProviderPaymentID, Movement: payment.MovementReport{Kind: payment.MovementChargeback, ID: "cb_1", Money: euro(price)}}
	for range 2 {
		now, err := r.Apply(t.Context(), a.ID, []payment.Report{entry.Report(byTest)})
		require.NoError(t, err)
		require.EqualValues(t, price, now.Disputed)
		require.Equal(t, a.Version+1, now.Version)
	}
	require.ErrorIs(t, r.refunds(t.Context(), a.ID, "refund-1", 1), payment.ErrNotRefundable)
	_, err := r.Apply(t.Context(), payment.AttemptID{1}, []payment.Report{entry.Report(byTest)})
	require.ErrorIs(t, err, payment.ErrAttemptNotFound)
	r.requireVerified(t)
}
