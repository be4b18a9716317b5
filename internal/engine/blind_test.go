package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestBlind(t *testing.T) {
	t.Parallel()
	t.Run("capture_waits_for_its_webhook", blindCaptureWaitsForItsWebhook)
	t.Run("cancel_waits_for_its_webhook", blindCancelWaitsForItsWebhook)
	t.Run("cancel_refused_the_second_time_stays_open", func(t *testing.T) {
		t.Parallel()
		blindRefusedCancelStaysOpen(t)
	})
	t.Run("cancel_refused_after_an_accepted_cancel_stays_open", func(t *testing.T) {
		t.Parallel()
		blindRefusedCancelStaysOpen(t, gateway.Outcome{Event: fsm.EventProcessing})
	})
	t.Run("refund_waits_for_its_webhook", blindRefundWaitsForItsWebhook)
	t.Run("hold_after_the_failure_is_released", blindHoldAfterTheFailureIsReleased)
	t.Run("hold_without_a_name_waits_for_it", blindHoldWithoutANameWaitsForIt)
	t.Run("cancel_reaches_a_later_payment", blindCancelReachesALaterPayment)
	t.Run("redirect_without_a_webhook_needs_review", blindRedirectWithoutAWebhookNeedsReview)
}

// blind is a provider without lookups: it accepts commands, and only its webhooks report the outcome (Adyen). Redirects
// have no payment id.
type blind struct {
	gateway.Provider

	// redirected is the payment that the customer was redirected for.
	redirected string
}

func (b *blind) Capabilities() payment.Capabilities {
	can := b.Provider.Capabilities()
	can.Lookup, can.RefundLookup = payment.LookupNone, payment.RefundLookupNone
	return can
}

func (b *blind) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	o, err := b.Provider.Charge(ctx, c)
	if o.Event == fsm.EventActionRequired {
		b.redirected, o.ProviderPaymentID = o.ProviderPaymentID, ""
	}
	return o, err
}

func (*blind) Lookup(context.Context, string) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

func (*blind) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

func (*blind) LookupRefund(context.Context, gateway.RefundRef) (gateway.RefundOutcome, error) {
	return gateway.RefundOutcome{}, gateway.ErrUnsupported
}

func (b *blind) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	o, err := b.Provider.Capture(ctx, c)
	return gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: o.ProviderPaymentID}, err
}

func (b *blind) Cancel(ctx context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	o, err := b.Provider.Cancel(ctx, c)
	return gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: o.ProviderPaymentID}, err
}

func (b *blind) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	o, err := b.Provider.Refund(ctx, r)
	return gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: o.ProviderRefundID}, err
}

func newBlind(t *testing.T) (*env, *blind) {
	t.Helper()
	b := &blind{}
	return newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider {
		b.Provider = p
		return b
	}}), b
}

func blindCaptureWaitsForItsWebhook(t *testing.T) {
	t.Parallel()
	r, _ := newBlind(t)
	id := r.held(t, "A-1").ID
	paid, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
	require.NoError(t, err)
	require.Equal(t, "authorized", paid.Stage())
	for range 3 { // it is sent again, with the same key, and looked up in vain
		require.Equal(t, "authorized", r.recheck(t, id).Stage())
	}
	r.exec(t, "UPDATE operations SET created_at = created_at - $1::interval, first_sent_at = first_sent_at - $1::interval WHERE kind IN ('capture', 'cancel')", time.Hour)
	require.Equal(t, "authorized", r.recheck(t, id).Stage(), "nobody knows")
	require.Equal(t, payment.OperationCapture, r.attempt(t, id).Intent.Kind)
	require.Len(t, r.ledger(t), 1)

	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	r.audit(t, "A-1")
}

func blindCancelWaitsForItsWebhook(t *testing.T) {
	t.Parallel()
	r, _ := newBlind(t)
	id := r.held(t, "A-1").ID
	paid, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	require.Equal(t, "authorized", paid.Stage())
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindFailed))
	require.True(t, r.attempt(t, id).Failed())
	r.recheck(t, id)
	require.Nil(t, r.attempt(t, id).NextCheckAt, "and nobody is asked what can't be asked")
	require.Empty(t, r.discrepancies(t, id))
	r.audit(t, "A-1")
}

// A cancel without a response may have been carried out, and so may an accepted cancel that was replaced. So a later refusal proves
// nothing, and a confirm must not capture money that may have been released.
func blindRefusedCancelStaysOpen(t *testing.T, before ...gateway.Outcome) {
	t.Helper()
	look := &answering{}
	r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider {
		return &unanswered{Provider: &blind{Provider: p}, answering: look.on(p).(*answering)}
	}})
	id := r.held(t, "A-1").ID
	look.cancel = func() (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	for i, says := range append(before, gateway.Outcome{Refused: true}) {
		look.cancel = func() (gateway.Outcome, error) { return says, nil }
		r.age(t, id, lease)
		r.recheck(t, id)
		require.EqualValues(t, i+2, look.cancels.Load())
	}
	a := r.attempt(t, id)
	require.Equal(t, "authorized", a.Stage())
	require.Equal(t, payment.OperationCancel, a.Intent.Kind, "nobody knows what came of the first")
	_, err = r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
	require.Error(t, err)
	require.Empty(t, r.ledger(t), "nothing is captured")
}

// unanswered is a blind provider with the cancels of another.
type unanswered struct {
	gateway.Provider

	answering *answering
}

func (u *unanswered) Cancel(ctx context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	return u.answering.Cancel(ctx, c)
}

func blindHoldAfterTheFailureIsReleased(t *testing.T) {
	t.Parallel()
	r, b := newBlind(t)
	r.order(t, "A-1")
	p, err := r.Pay(t.Context(), customer, request("pay A-1", "first-key", "m"), commands.Pay{
		OrderID: "A-1", Details: gateway.Details{Token: "tok_late_success"}, Capture: payment.CaptureManual,
	})
	require.NoError(t, err)
	require.True(t, p.Failed())
	stands := func() fsm.Event {
		now, err := b.Provider.Lookup(t.Context(), p.ProviderPaymentID)
		require.NoError(t, err)
		return now.Event
	}
	require.Eventually(t, func() bool { return stands() == fsm.EventAuthorized }, waitFor, tick)
	require.Equal(t, fsm.Stale, r.say(t, p.ID, webhooks.KindAuthorized))
	r.recheck(t, p.ID)
	require.Equal(t, fsm.EventFailed, stands())
	require.Nil(t, r.attempt(t, p.ID).NextCheckAt)
	require.Empty(t, r.discrepancies(t, p.ID))
}

// A payment without a name can't be cancelled: the schedule goes on until a webhook names it.
func blindHoldWithoutANameWaitsForIt(t *testing.T) {
	t.Parallel()
	look := &answering{}
	r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider {
		return &blind{Provider: look.on((&spy{charge: dead(errNoAnswer)}).on(p))}
	}})
	id := r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindFailed))
	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	r.recheck(t, id)
	require.Zero(t, look.cancels.Load())
	require.NotNil(t, r.attempt(t, id).NextCheckAt)
}

// The customer's redirect has no payment yet that could be cancelled. A payment that appears later is cancelled.
func blindCancelReachesALaterPayment(t *testing.T) {
	t.Parallel()
	r, b := newBlind(t)
	p := r.paid(t, "A-1", "tok_redirect")
	require.Equal(t, "awaiting_customer", p.Stage())
	require.Empty(t, p.ProviderPaymentID)
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), p.ID)
	require.NoError(t, err)
	require.Equal(t, "awaiting_customer", r.attempt(t, p.ID).Stage())

	held := event(webhooks.KindAuthorized, p.ID.String())
	held.ProviderPaymentID = b.redirected
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, held))
	r.age(t, p.ID, lease)
	require.Equal(t, "authorized", r.recheck(t, p.ID).Stage())
	now, err := b.Provider.Lookup(t.Context(), b.redirected)
	require.NoError(t, err)
	require.Equal(t, fsm.EventFailed, now.Event, "it was cancelled there")
	require.Equal(t, fsm.Applied, r.say(t, p.ID, webhooks.KindFailed))
	require.Empty(t, r.ledger(t))
}

// A redirect without any webhook blocks its order no longer than anything may take: then it
// needs review.
func blindRedirectWithoutAWebhookNeedsReview(t *testing.T) {
	t.Parallel()
	r, _ := newBlind(t)
	p := r.paid(t, "A-1", "tok_redirect")
	ask := func() {
		for range 11 {
			r.recheck(t, p.ID)
		}
	}
	ask()
	require.Empty(t, r.discrepancies(t, p.ID), "the customer's bank may be at work on it")
	r.longAgo(t, p.ID, 15*24*time.Hour)
	ask()
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, p.ID))
	require.Equal(t, "awaiting_customer", r.attempt(t, p.ID).Stage())

	_, err := r.agreed(t, because(r.open(t, p.ID)[0], payment.ResolvedNotPaid))
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(r.pay(t, "A-1", "second-key", "tok_success").Attempt))
}

func blindRefundWaitsForItsWebhook(t *testing.T) {
	t.Parallel()
	r, _ := newBlind(t)
	p := r.paid(t, "A-1", "tok_success")
	merchant := authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}
	back, err := r.Refund(t.Context(), merchant, request("refund", "refund-key", ""), commands.CreateRefund{AttemptID: p.ID})
	require.NoError(t, err)
	require.Equal(t, fsm.RefundPending, back.State)
	again, err := r.RecheckRefund(t.Context(), back.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundPending, again.State)

	done := event(webhooks.KindRefundSucceeded, p.ProviderPaymentID)
	done.RefundID, done.Money = back.ProviderRefundID, &webhooks.Money{Minor: price, Currency: "EUR"}
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, done))
	require.EqualValues(t, price, r.attempt(t, p.ID).Refunded)
	require.Len(t, r.ledger(t), 2)
}

func (*blind) Accepts(gateway.Charge) error { return nil }

func (*blind) TokenKind(string) gateway.TokenKind { return gateway.TokenSingleUse }

func (*blind) Unseen(gateway.Details) (time.Duration, bool) { return 0, false }

func (*blind) CheckOwner(context.Context, string, string) error { return nil }
