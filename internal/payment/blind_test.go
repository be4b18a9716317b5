package payment_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// blind is a provider that can't be asked: it receives commands, and what came of
// them is told by its webhooks only (Adyen). Redirects have no id of a payment.
type blind struct {
	payment.Provider

	// redirected is the payment that the customer was redirected for.
	redirected string
}

func (b *blind) Capabilities() payment.Capabilities {
	can := b.Provider.Capabilities()
	can.Blind, can.Find, can.LookupRefund = true, false, false
	return can
}

func (b *blind) Charge(ctx context.Context, c payment.Charge) (payment.Outcome, error) {
	o, err := b.Provider.Charge(ctx, c)
	if o.News == fsm.NewsActionRequired {
		b.redirected, o.ProviderPaymentID = o.ProviderPaymentID, ""
	}
	return o, err
}

func (*blind) Lookup(context.Context, string) (payment.Outcome, error) {
	return payment.Outcome{}, payment.ErrUnsupported
}

func (*blind) Find(context.Context, payment.AttemptID) (payment.Outcome, error) {
	return payment.Outcome{}, payment.ErrUnsupported
}

func (*blind) LookupRefund(context.Context, payment.RefundRef) (payment.RefundOutcome, error) {
	return payment.RefundOutcome{}, payment.ErrUnsupported
}

func (b *blind) Capture(ctx context.Context, c payment.Capture) (payment.Outcome, error) {
	o, err := b.Provider.Capture(ctx, c)
	return payment.Outcome{News: fsm.NewsProcessing, ProviderPaymentID: o.ProviderPaymentID}, err
}

func (b *blind) Cancel(ctx context.Context, c payment.Cancel) (payment.Outcome, error) {
	o, err := b.Provider.Cancel(ctx, c)
	return payment.Outcome{News: fsm.NewsProcessing, ProviderPaymentID: o.ProviderPaymentID}, err
}

func (b *blind) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	o, err := b.Provider.Refund(ctx, r)
	return payment.RefundOutcome{News: fsm.NewsProcessing, ProviderRefundID: o.ProviderRefundID}, err
}

func newBlind(t *testing.T) (*rig, *blind) {
	t.Helper()
	b := &blind{}
	return newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider {
		b.Provider = p
		return b
	}}), b
}

func TestACaptureThatIsOnlyReceivedWaitsForItsWebhook(t *testing.T) {
	t.Parallel()
	r, _ := newBlind(t)
	id := r.held(t, "A-1").ID
	paid, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), payment.Confirm{AttemptID: id})
	require.NoError(t, err)
	require.Equal(t, "authorized", paid.Stage())
	for range 3 { // it is sent again, with the same key, and looked up in vain
		require.Equal(t, "authorized", r.recheck(t, id).Stage())
	}
	r.exec(t, "UPDATE payment_attempts SET intent_at = intent_at - $1::interval", time.Hour)
	require.Equal(t, "authorized", r.recheck(t, id).Stage(), "nobody knows")
	require.Equal(t, payment.IntentCapture, r.attempt(t, id).Intent.Kind)
	require.Len(t, r.ledger(t), 1)

	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id)))
	r.audit(t, "A-1")
}

func TestACancellationThatIsOnlyReceivedWaitsForItsWebhook(t *testing.T) {
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

func TestALateHoldOfWhomNobodyCanAskIsGivenUp(t *testing.T) {
	t.Parallel()
	r, b := newBlind(t)
	r.order(t, "A-1")
	p, err := r.Pay(t.Context(), customer, request("pay A-1", "first-key", "m"), payment.Pay{
		OrderID: "A-1", Token: "tok_late_success", Capture: payment.CaptureManual,
	})
	require.NoError(t, err)
	require.True(t, p.Failed())
	stands := func() fsm.News {
		now, err := b.Provider.Lookup(t.Context(), p.ProviderPaymentID)
		require.NoError(t, err)
		return now.News
	}
	require.Eventually(t, func() bool { return stands() == fsm.NewsAuthorized }, patience, tick)
	require.Equal(t, fsm.Stale, r.say(t, p.ID, webhooks.KindAuthorized))
	r.recheck(t, p.ID)
	require.Equal(t, fsm.NewsFailed, stands())
	require.Nil(t, r.attempt(t, p.ID).NextCheckAt)
	require.Empty(t, r.discrepancies(t, p.ID))
}

// Nobody is told to give up a payment that has no name: the schedule goes on until one of
// its webhooks names it.
func TestALateHoldThatNobodyHasNamedWaitsForItsName(t *testing.T) {
	t.Parallel()
	look := &answering{}
	r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider {
		return &blind{Provider: look.on((&tapped{charge: dead(errNoAnswer)}).on(p))}
	}})
	id := r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindFailed))
	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	r.recheck(t, id)
	require.Zero(t, look.cancels.Load())
	require.NotNil(t, r.attempt(t, id).NextCheckAt)
}

// The customer's redirect has no payment yet that could be cancelled; when one
// appears all the same, it is.
func TestAWishToCancelReachesThePaymentThatAppearsLater(t *testing.T) {
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
	require.Equal(t, fsm.NewsFailed, now.News, "it was cancelled there")
	require.Equal(t, fsm.Applied, r.say(t, p.ID, webhooks.KindFailed))
	require.Empty(t, r.ledger(t))
}

// A redirect that no webhook ever tells of blocks its order no longer than anything
// may take: then a person decides.
func TestARedirectThatNobodyTellsOfAsksAPerson(t *testing.T) {
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

	_, err := r.Resolve(t.Context(), sam, because(r.open(t, p.ID)[0], payment.ResolvedNotPaid))
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(r.pay(t, "A-1", "second-key", "tok_success").Attempt))
}

func TestARefundThatIsOnlyReceivedWaitsForItsWebhook(t *testing.T) {
	t.Parallel()
	r, _ := newBlind(t)
	p := r.paid(t, "A-1", "tok_success")
	merchant := payment.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}
	back, err := r.Refund(t.Context(), merchant, request("refund", "refund-key", ""), payment.CreateRefund{AttemptID: p.ID})
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

func (*blind) TokenKind(string) payment.TokenKind { return payment.TokenSingleUse }

func (*blind) CheckOwner(context.Context, string, string) error { return nil }
