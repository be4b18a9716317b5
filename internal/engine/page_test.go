package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// On a page of the provider's a declined try is not the end.
func TestPage(t *testing.T) {
	t.Parallel()
	t.Run("a_declined_try_waits_for_the_next", pageDeclinedTryWaits)
	t.Run("a_hold_clears_the_failure", pageHoldClearsTheFailure)
	t.Run("expires_with_the_reason", pageExpires)
	t.Run("cancelled_with_the_reason", pageCancelled)
	t.Run("is_closed_by_another_pay", pageClosedByAnotherPay)
	t.Run("is_not_closed_yet", pageNotClosedYet)
	t.Run("was_paid_meanwhile", pagePaidMeanwhile)
	t.Run("that_is_none_is_given_up", pageThatIsNone)
	t.Run("to_be_closed_stays_so", pageToBeClosed)
	t.Run("of_the_shop", pageOfTheShop)
	t.Run("of_the_shop_and_superseded", pageOfTheShopSuperseded)
	t.Run("of_CloudPayments", pageOfCloudPayments)
	t.Run("of_the_shop_with_the_script_of_CloudPayments", pageWithTheScriptOfCloudPayments)
	t.Run("of_TBank", pageOfTBank)
	t.Run("of_Razorpay", pageOfRazorpay)
	t.Run("of_Paddle", pageOfPaddle)
}

var (
	triedOnce  = standing{"pending", "awaiting_customer", "insufficient_funds"}
	outOfMoney = standing{"failed", "final", "insufficient_funds"}
)

// declines delivers the decline of a try.
func (r *env) declines(t *testing.T, id payment.AttemptID, code string) fsm.Verdict {
	t.Helper()
	return r.tell(t, triedEvent(id, code))[0]
}

func triedEvent(id payment.AttemptID, code string) webhooks.Event {
	tx := "tx_" + uuid.NewString()
	e := event(webhooks.KindFailed, id.String(), tx) // the payment is over; its page is open
	e.PageOpen, e.FailureCode, e.ProviderPaymentID = true, webhooks.FailureCode(code), tx
	return e
}

// triedOn is a provider that looks up a page with a declined try.
func triedOn() *answering { return triedAs(fsm.EventSoftFailed) }

// triedAs is triedOn with an event of the lookup: where each try is a payment of its own, the declined one has failed.
func triedAs(event fsm.Event) *answering {
	return &answering{
		lookup: func() (gateway.Outcome, error) {
			return gateway.Outcome{Event: event, PageOpen: true, Failure: payment.NewFailure("insufficient_funds", "")}, nil
		},
		cancel: says(fsm.EventFailed),
	}
}

func onPage(t *testing.T) (*env, *answering, payment.AttemptID) {
	t.Helper()
	return onPageOf(t, triedOn())
}

func onPageOf(t *testing.T, p *answering) (*env, *answering, payment.AttemptID) {
	t.Helper()
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.tried(t, "tok_redirect", payment.CaptureAutomatic)
	require.Equal(t, fsm.Applied, r.declines(t, id, "insufficient_funds"))
	require.Equal(t, triedOnce, standingOf(r.attempt(t, id).Attempt))
	return r, p, id
}

func pageDeclinedTryWaits(t *testing.T) {
	t.Parallel()
	began := time.Now()
	r, p, id := onPage(t)
	r.rests(t, began, "nothing is to be cancelled")
	before := r.attempt(t, id)
	require.NotEmpty(t, before.NextAction)
	require.Equal(t, fsm.Repeat, r.declines(t, id, "insufficient_funds"))
	require.Equal(t, triedOnce, standingOf(r.recheck(t, id).Attempt))
	require.Equal(t, fsm.Applied, r.declines(t, id, "authentication_failed"), "the last reason counts")
	now := r.attempt(t, id)
	require.Equal(t, standing{"pending", "awaiting_customer", "authentication_failed"}, standingOf(now.Attempt))
	require.Equal(t, before.Facts(), now.Facts(), "the name, and the page's address, too")
	require.Zero(t, p.cancels.Load())
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, under(webhooks.KindSucceeded, id, before.ProviderPaymentID)))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Equal(t, fsm.Stale, r.declines(t, id, "card_declined"), "in another tab")
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

func pageHoldClearsTheFailure(t *testing.T) {
	t.Parallel()
	r, _, id := onPage(t)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, under(webhooks.KindAuthorized, id, r.attempt(t, id).ProviderPaymentID)))
	require.Equal(t, standing{"pending", "authorized", ""}, standingOf(r.attempt(t, id).Attempt))
	require.Empty(t, r.verify(t))
}

func pageExpires(t *testing.T) {
	t.Parallel()
	for _, event := range []fsm.Event{fsm.EventSoftFailed, fsm.EventFailed} {
		t.Run(string(event), func(t *testing.T) {
			t.Parallel()
			r, p, id := onPageOf(t, triedAs(event))
			r.longAgo(t, id, time.Hour-time.Minute)
			require.Equal(t, triedOnce, standingOf(r.recheck(t, id).Attempt))
			r.longAgo(t, id, 2*time.Minute)
			r.recheck(t, id)
			require.Equal(t, outOfMoney, standingOf(r.recheck(t, id).Attempt))
			require.EqualValues(t, 1, p.cancels.Load())
			require.Empty(t, r.discrepancies(t, id))
		})
	}
}

func pageCancelled(t *testing.T) {
	t.Parallel()
	r, p, id := onPage(t)
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	require.Equal(t, outOfMoney, standingOf(r.attempt(t, id).Attempt))
	require.EqualValues(t, 1, p.cancels.Load())
	require.Empty(t, r.verify(t))
}

// Another pay closes the page first: the order is never open to two charges.
func pageClosedByAnotherPay(t *testing.T) {
	t.Parallel()
	r, p, id := onPage(t)
	again := r.payAgain(t, "A-1", "tok_success", payment.CaptureAutomatic)
	require.NotEqual(t, id, again.ID)
	require.Equal(t, succeeded, standingOf(again.Attempt))
	require.Equal(t, outOfMoney, standingOf(r.attempt(t, id).Attempt))
	require.EqualValues(t, 1, p.cancels.Load())
	require.Equal(t, again.ID, r.payAgain(t, "A-1", "tok_success", payment.CaptureAutomatic).ID)
	require.Len(t, r.ledger(t), 1)
	require.Empty(t, r.verify(t))

	// A page without a declined try is another device's, and stays.
	r.order(t, "A-2")
	_, err := r.Pay(t.Context(), customer, request("pay A-2", "first-key", ""), commands.Pay{OrderID: "A-2", Details: gateway.Details{Token: "tok_redirect"}, Capture: payment.CaptureAutomatic})
	require.NoError(t, err)
	var busy *payment.InProgressError
	_, err = r.Pay(t.Context(), customer, request("pay A-2", "second-key", ""), commands.Pay{OrderID: "A-2", Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureAutomatic})
	require.ErrorAs(t, err, &busy)
	require.EqualValues(t, 1, p.cancels.Load())
}

// As long as the provider may still take a payment on the page, the pay is refused. It is not for ever.
func pageNotClosedYet(t *testing.T) {
	t.Parallel()
	r, p, id := onPage(t)
	second := func() (commands.Reply, error) {
		return r.Pay(t.Context(), customer, request("pay A-1", "second-key", "tok_success"), commands.Pay{OrderID: "A-1", Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureAutomatic})
	}
	var busy *payment.InProgressError
	p.cancel = func() (gateway.Outcome, error) { return gateway.Outcome{}, context.DeadlineExceeded }
	for range 2 {
		_, err := second()
		require.ErrorAs(t, err, &busy)
		require.Equal(t, id, busy.Attempt.ID)
	}
	require.Empty(t, r.ledger(t))
	require.Equal(t, triedOnce, standingOf(r.attempt(t, id).Attempt))
	require.Equal(t, 1, rows[int](t, r, "SELECT count(*)::int FROM operations WHERE attempt_id = $1 AND kind = 'cancel'", id.String())[0])
	p.cancel = says(fsm.EventFailed)
	reply, err := second()
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(reply.Attempt))
	require.Equal(t, outOfMoney, standingOf(r.attempt(t, id).Attempt))
	require.Len(t, r.ledger(t), 1)
	require.Empty(t, r.verify(t))
}

func pagePaidMeanwhile(t *testing.T) {
	t.Parallel()
	r, p, id := onPage(t)
	p.cancel = func() (gateway.Outcome, error) {
		return gateway.Outcome{Event: fsm.EventSucceeded, Refused: true, Money: &payment.Money{Minor: price, Currency: "EUR"}}, nil
	}
	_, err := r.Pay(t.Context(), customer, request("pay A-1", "second-key", ""), commands.Pay{OrderID: "A-1", Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureAutomatic})
	require.ErrorIs(t, err, payment.ErrOrderPaid)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Empty(t, r.ledger(t))
	require.Empty(t, r.verify(t))
}

// A payment without a customer on a page is given up, as after any soft decline.
func pageThatIsNone(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, provider: triedOn().on})
	id := r.tried(t, "tok_never", payment.CaptureAutomatic)
	declined := under(webhooks.KindSoftFailed, id, r.attempt(t, id).ProviderPaymentID)
	declined.PageOpen, declined.FailureCode = true, "insufficient_funds"
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, declined))
	require.Equal(t, []payment.AttemptID{id}, r.due(t))
	require.Equal(t, outOfMoney, standingOf(r.recheck(t, id).Attempt))
}

// Once a cancel was wanted a decline no longer keeps the page.
func pageToBeClosed(t *testing.T) {
	t.Parallel()
	r, p, id := onPage(t)
	p.cancel = func() (gateway.Outcome, error) {
		return gateway.Outcome{Event: fsm.EventProcessing, Refused: true}, nil
	}
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	require.False(t, r.attempt(t, id).State.Final())
	r.declines(t, id, "card_declined")
	p.cancel = says(fsm.EventFailed)
	for range 3 {
		r.everyOperation(t, id)
	}
	require.Equal(t, outOfMoney, standingOf(r.attempt(t, id).Attempt))
	require.Empty(t, r.verify(t))
}

// The shop's own page: a declined try is a payment that failed, and the next one is another.
func pageOfTheShop(t *testing.T) {
	t.Parallel()
	r := deaf(t)
	id := r.register(t, commands.External{}).ID
	require.Equal(t, fsm.Applied, r.declines(t, id, "insufficient_funds"))
	require.Equal(t, triedOnce, standingOf(r.attempt(t, id).Attempt))
	require.Equal(t, "failed", r.attempt(t, id).Payments[0].Status())
	paid := event(webhooks.KindSucceeded, id.String(), "tx_2")
	paid.ProviderPaymentID = "tx_2"
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, paid))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Equal(t, "tx_2", r.attempt(t, id).ProviderPaymentID)
	require.Empty(t, r.discrepancies(t, id))

	r.order(t, "A-2")
	left := r.register(t, commands.External{OrderID: "A-2"}).ID
	require.Equal(t, fsm.Applied, r.declines(t, left, "insufficient_funds"))
	r.lateNow(t, left)
	require.Equal(t, outOfMoney, standingOf(r.recheck(t, left).Attempt))
	require.Empty(t, r.verify(t))
}

func pageOfTheShopSuperseded(t *testing.T) {
	t.Parallel()
	p := triedOn()
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.register(t, commands.External{ProviderPaymentID: "ch_7", ExpiresIn: 24 * time.Hour}).ID
	require.Equal(t, fsm.Applied, r.declines(t, id, "insufficient_funds"))
	r.longAgo(t, id, 2*time.Hour)
	require.Equal(t, triedOnce, standingOf(r.recheck(t, id).Attempt), "it has the time that its caller gave it")
	cmd := commands.Pay{OrderID: "A-1", Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureAutomatic}
	var busy *payment.InProgressError
	_, err := r.Pay(t.Context(), customer, request("pay", "second-key", ""), cmd)
	require.ErrorAs(t, err, &busy, "its caller has to say so")
	require.Zero(t, p.cancels.Load())
	cmd.Supersedes = &id
	reply, err := r.Pay(t.Context(), customer, request("pay", "third-key", ""), cmd)
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(reply.Attempt))
	require.Equal(t, outOfMoney, standingOf(r.attempt(t, id).Attempt))
	require.EqualValues(t, 1, p.cancels.Load())
}
