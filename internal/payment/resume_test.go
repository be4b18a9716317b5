package payment_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

var notStarted = standing{"failed", "final", "not_started"}

// dead is a provider that nothing reaches.
func dead(err error) func(context.Context, payment.Charge, func() (payment.Outcome, error)) (payment.Outcome, error) {
	return func(context.Context, payment.Charge, func() (payment.Outcome, error)) (payment.Outcome, error) {
		return payment.Outcome{}, err
	}
}

// reached sends a charge, whose answer is lost.
func reached(_ context.Context, _ payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
	_, _ = send()
	return payment.Outcome{}, errNoAnswer
}

var (
	errNoAnswer = errors.New("no answer")
	errNotSent  = fmt.Errorf("%w: connection refused", payment.ErrNotSent)
	errHeldBack = fmt.Errorf("%w: %w", payment.ErrNotSent, payment.ErrHeldBack)
)

func TestNothingSentAtTheVeryFirstSendFailsTheAttempt(t *testing.T) {
	t.Parallel()
	p := &tapped{charge: dead(errNotSent)}
	r := newRig(t, setup{silent: true, provider: p.on})
	first := r.paid(t, "A-1", "tok_success")
	require.Equal(t, notStarted, standingOf(first.Attempt))
	require.True(t, first.CanStartNew)
	p.charge = nil
	second := r.pay(t, "A-1", "second-key", "tok_success")
	require.Equal(t, succeeded, standingOf(second.Attempt))
	r.audit(t, "A-1")
}

func TestNothingSentAtALaterSendSaysNothing(t *testing.T) {
	t.Parallel()
	p := &tapped{charge: dead(errNoAnswer), can: func(c *payment.Capabilities) { c.Find = false }}
	r := newRig(t, setup{silent: true, provider: p.on})
	first := r.paid(t, "A-1", "tok_success")
	p.charge = dead(errNotSent)
	require.Equal(t, unknown, standingOf(r.recheck(t, first.ID).Attempt))
	require.EqualValues(t, 2, p.charges.Load())
}

// resumption is an attempt of unknown outcome and what a look at it does.
type resumption struct {
	name string
	age  time.Duration
	can  func(*payment.Capabilities)
	// reached: the first call had charged. cancelled: somebody wished so.
	reached, cancelled bool
	keepless           bool
	clock              time.Duration

	sent int32
	end  standing
}

func noKeys(c *payment.Capabilities)       { c.KeyLife = 0 }
func noFind(c *payment.Capabilities)       { c.Find = false }
func inconsistent(c *payment.Capabilities) { c.FindConsistent = false }

func TestResuming(t *testing.T) {
	t.Parallel()
	const young, old, older = 9 * time.Minute, 11 * time.Minute, 16 * time.Minute
	canceled := standing{"failed", "final", "canceled"}
	for i, c := range []resumption{
		{name: "young: the same call again", age: young, sent: 1, end: succeeded},
		{name: "young and charged: its answer again", age: young, reached: true, sent: 1, end: succeeded},
		{name: "old: nothing is sent, and it is too early to say", age: old, end: unknown},
		{name: "old and charged: found", age: old, reached: true, end: succeeded},
		{name: "old enough after the last send", age: older, end: notStarted},
		{name: "old enough, but the search may lie", age: 100 * 24 * time.Hour, can: inconsistent, end: unknown},
		{name: "old, and there is no search", age: 100 * 24 * time.Hour, can: noFind, end: unknown},
		{name: "keys that are dead", age: young, can: func(c *payment.Capabilities) { c.KeyLife = 5 * time.Minute }, end: unknown},
		{name: "no keys: never sent again", age: lease, can: noKeys, end: unknown},
		{name: "no keys: nothing could be sent since", age: old, can: noKeys, end: notStarted},
		{name: "within the lag of the search", age: older, can: func(c *payment.Capabilities) { c.FindLag = time.Hour }, end: unknown},
		{name: "no token was kept", age: lease, keepless: true, end: unknown},
		{name: "a wish to cancel: never sent again", age: lease, cancelled: true, end: unknown},
		{name: "a wish to cancel: found paid", age: lease, cancelled: true, reached: true, end: succeeded},
		{name: "a wish to cancel: never arrived", age: older, cancelled: true, end: notStarted},
		{name: "our clock is behind", age: older, clock: -time.Hour, end: notStarted},
		{name: "our clock is behind, the provider has no keys", age: lease, can: noKeys, clock: -time.Hour, end: unknown},
		{name: "our clock is ahead", age: lease, clock: 24 * time.Hour, sent: 1, end: succeeded},
		{name: "found pending, to be cancelled", age: young, cancelled: true, reached: true, end: canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			token := "tok_success"
			if c.end == canceled {
				token = "tok_never"
			}
			c.run(t, payment.OrderID(fmt.Sprintf("A-%d", i)), token)
		})
	}
}

func (c resumption) run(t *testing.T, order payment.OrderID, token string) {
	t.Helper()
	p := &tapped{can: c.can}
	p.charge = func(_ context.Context, _ payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
		if c.reached {
			_, _ = send()
		}
		return payment.Outcome{}, errNoAnswer
	}
	r := newRig(t, setup{silent: true, provider: p.on, change: func(o *payment.Options) {
		o.Now = func() time.Time { return time.Now().Add(c.clock) }
		if c.keepless {
			o.Seal = nil
		}
	}})
	id := r.paid(t, order, token).ID
	if c.cancelled {
		r.exec(t, "UPDATE payment_attempts SET intent = 'cancel', intent_at = now() WHERE attempt_id = $1", id.String())
	}
	r.age(t, id, c.age)
	p.charge = nil
	p.charges.Store(0)
	v := r.recheck(t, id)
	require.Equal(t, c.sent, p.charges.Load(), "calls")
	require.Equal(t, c.end, standingOf(v.Attempt))
	if !v.State.Final() {
		require.Nil(t, r.attempt(t, id).LeaseUntil)
		require.True(t, r.attempt(t, id).NextCheckAt.After(time.Now()))
	}
	r.audit(t, order)
}

// A charge that was just sent again may still arrive: that the provider does not
// know it at once proves nothing, however old the attempt is.
func TestNotFoundProvesNothingOfACallThatWasJustMade(t *testing.T) {
	t.Parallel()
	p := &tapped{charge: dead(errNoAnswer)}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	r.age(t, id, 9*time.Minute)
	require.Equal(t, unknown, standingOf(r.recheck(t, id).Attempt), "more than ten leases old")
	r.age(t, id, 2*time.Minute)
	require.Equal(t, unknown, standingOf(r.recheck(t, id).Attempt), "sent two minutes ago")
	require.EqualValues(t, 2, p.charges.Load())
}

// No timer ever turns an unknown outcome into a failure (hyperswitch #2380). With
// neither keys nor a search it waits for the webhook, then asks a person
// (hyperswitch #1475; medusa #16398).
func TestWhatNobodyCanTellAsksAPersonAndStaysUnknown(t *testing.T) {
	t.Parallel()
	p := &tapped{charge: dead(errNoAnswer), can: func(c *payment.Capabilities) { noKeys(c); noFind(c) }}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	for _, pause := range []time.Duration{
		30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour,
		24 * time.Hour, 24 * time.Hour, 24 * time.Hour, 24 * time.Hour,
	} {
		require.Equal(t, unknown, standingOf(r.recheck(t, id).Attempt))
		a := r.attempt(t, id)
		require.InDelta(t, pause.Seconds(), a.NextCheckAt.Sub(a.ReadAt).Seconds(), 15)
		r.age(t, id, pause)
	}
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.EqualValues(t, 1, p.charges.Load())
	require.Equal(t, 2, r.attempt(t, id).Version)
	r.say(t, id, webhooks.KindSucceeded)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id)))
}

// The provider charges, then drops the connection; the person presses pay again,
// with the same key and with a new one (aws x402 sample #40; adyen-commercetools
// #1283).
func TestPressingPayAgainAfterALostAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	first := r.paid(t, "A-1", "tok_500_charged")
	require.Equal(t, unknown, standingOf(first.Attempt))
	for range 5 {
		require.Equal(t, first.ID, r.pay(t, "A-1", "first-key", "tok_500_charged").ID)
		_, err := try(t.Context(), r.Service, "A-1", "second-key", "tok_success")
		var busy *payment.InProgressError
		require.ErrorAs(t, err, &busy)
	}
	require.Equal(t, succeeded, standingOf(r.recheck(t, first.ID).Attempt))
	_, err := try(t.Context(), r.Service, "A-1", "second-key", "tok_success")
	require.ErrorIs(t, err, payment.ErrOrderPaid)
	r.audit(t, "A-1")
}

// Reading never changes state; a page reload never opens a second attempt
// (own-pay #183).
func TestReadingChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	first := r.paid(t, "A-1", "tok_500_charged")
	before := r.attempt(t, first.ID)
	for range 3 {
		_, err := r.Attempt(t.Context(), customer, first.ID)
		require.NoError(t, err)
		_, err = r.Order(t.Context(), customer, "A-1")
		require.NoError(t, err)
		views, err := r.Attempts(t.Context(), customer, "A-1", "first-key")
		require.NoError(t, err)
		require.Len(t, views, 1)
	}
	after := r.attempt(t, first.ID)
	after.ReadAt = before.ReadAt
	require.Equal(t, before, after)
}

// An attempt whose account is gone from the configuration keeps nobody busy.
func TestAnAttemptOfAnAccountThatIsGoneWaits(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	without := r.another(t, func(o *payment.Options) { o.Accounts = nil })
	v, err := without.Recheck(t.Context(), id, byTest)
	require.NoError(t, err)
	require.Equal(t, requested, standingOf(v.Attempt))
	a := r.attempt(t, id)
	require.Nil(t, a.LeaseUntil)
	require.Equal(t, 1, a.Checks)
	require.True(t, a.NextCheckAt.After(a.ReadAt))
}

// An attempt that only webhooks have spoken of, and never by the provider's id,
// is looked for by ours.
func TestAnAttemptThatTheProviderHasNotNamedIsFoundByOurReference(t *testing.T) {
	t.Parallel()
	p := &tapped{charge: reached}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	r.say(t, id, webhooks.KindActionRequired)
	require.Equal(t, awaiting, standingOf(r.attempt(t, id)))
	v := r.recheck(t, id)
	require.Equal(t, succeeded, standingOf(v.Attempt))
	require.NotEmpty(t, v.ProviderPaymentID)
	require.EqualValues(t, 1, p.charges.Load(), "the provider has it: it is not sent again")
}

// A wish to cancel ends the sending: ten leases after it "not found" is believed,
// however young the attempt is.
func TestNotFoundIsBelievedSoonerOfWhatIsToBeCancelled(t *testing.T) {
	t.Parallel()
	p := &tapped{charge: dead(errNoAnswer)}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	r.age(t, id, 7*time.Minute)
	r.exec(t, "UPDATE payment_attempts SET intent = 'cancel', intent_at = now() - interval '4 minutes'")
	require.Equal(t, unknown, standingOf(r.recheck(t, id).Attempt), "eight leases")
	r.exec(t, "UPDATE payment_attempts SET intent_at = now() - interval '6 minutes'")
	require.Equal(t, notStarted, standingOf(r.recheck(t, id).Attempt), "twelve leases")
	require.EqualValues(t, 1, p.charges.Load())
}

// The refusal of a later send, as of a key that was revoked meanwhile, says nothing of
// the first, which may have gone through: what the provider knows of the payment counts.
func TestAPaymentThatIsRefusedLaterIsNotFailed(t *testing.T) {
	t.Parallel()
	p := &tapped{charge: reached}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	p.charge = func(context.Context, payment.Charge, func() (payment.Outcome, error)) (payment.Outcome, error) {
		return payment.Outcome{News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "api_key_expired")}, nil
	}
	r.age(t, id, lease)
	require.Equal(t, succeeded, standingOf(r.recheck(t, id).Attempt))
	require.EqualValues(t, 2, p.charges.Load())
	r.audit(t, "A-1")
}

// Nor is it failed if the provider has told of it by a webhook and does not find it.
func TestNotFoundProvesNothingOfWhatTheProviderHasToldOf(t *testing.T) {
	t.Parallel()
	p := &tapped{charge: dead(errNoAnswer)}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	r.say(t, id, webhooks.KindActionRequired)
	r.age(t, id, 16*time.Minute)
	require.Equal(t, awaiting, standingOf(r.recheck(t, id).Attempt))
}

// A process that was frozen past its lease, and that nobody has overtaken, knows that it
// has sent nothing.
func TestWhatWasFrozenAndNotOvertakenHasNotStarted(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	r.order(t, "A-1")
	f := r.freeze(t, true)
	id := f.pay(t, "A-1", "tok_success")
	require.Equal(t, notStarted, standingOf(f.wake(lease, lease).Attempt))
	require.Zero(t, f.written.Load())
	r.audit(t, "A-1")
	require.Equal(t, notStarted, standingOf(r.attempt(t, id)))
}

// A storage that is gone for a moment costs a pay its answer no more than a commit in doubt.
func TestAnOutcomeOutlivesAShortOutage(t *testing.T) {
	t.Parallel()
	var fails atomic.Int32
	s := &failing{before: func() error {
		if fails.Add(-1) >= 0 {
			return payment.ErrUnavailable
		}
		return nil
	}}
	p := &tapped{charge: func(_ context.Context, _ payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
		defer fails.Store(4)
		return send()
	}}
	r := newRig(t, setup{silent: true, store: s.on, provider: p.on})
	require.Equal(t, succeeded, standingOf(r.paid(t, "A-1", "tok_success").Attempt))
	require.EqualValues(t, 1, p.charges.Load())
}
