package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestRecheck(t *testing.T) {
	t.Parallel()
	t.Run("unknown_outcome", recheckUnknownOutcome)
	t.Run("not_sent_at_a_later_send", recheckNotSentAtALaterSend)
	t.Run("not_found_after_a_recent_call", recheckNotFoundAfterARecentCall)
	t.Run("not_found_of_what_is_to_be_cancelled", recheckNotFoundOfWhatIsToBeCancelled)
	t.Run("not_found_after_a_report", recheckNotFoundAfterAReport)
	t.Run("not_found_yet", recheckNotFoundYet)
	t.Run("unknown_needs_review", recheckUnknownNeedsReview)
	t.Run("account_is_gone", recheckAccountIsGone)
	t.Run("found_by_our_reference", recheckFoundByOurReference)
	t.Run("refused_at_a_later_send", recheckRefusedAtALaterSend)
	t.Run("result_older_than_the_webhook", recheckResultOlderThanTheWebhook)
	t.Run("beside_webhook_and_retry", recheckBesideWebhookAndRetry)
	t.Run("final_attempt", recheckFinalAttempt)
}

var notStarted = standing{"failed", "final", "not_started"}

// dead is a provider that nothing reaches.
func dead(err error) func(context.Context, gateway.Charge, func() (gateway.Outcome, error)) (gateway.Outcome, error) {
	return func(context.Context, gateway.Charge, func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		return gateway.Outcome{}, err
	}
}

// reached sends a charge, and loses the response.
func reached(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
	_, _ = send()
	return gateway.Outcome{}, errNoAnswer
}

var (
	errNoAnswer = errors.New("no answer")
	errNotSent  = fmt.Errorf("%w: connection refused", gateway.ErrNotSent)
	errHeldBack = fmt.Errorf("%w: %w", gateway.ErrNotSent, gateway.ErrThrottled)
)

func recheckNotSentAtALaterSend(t *testing.T) {
	t.Parallel()
	p := &spy{charge: dead(errNoAnswer), can: func(c *payment.Capabilities) { c.Lookup = payment.LookupByID }}
	r := newEnv(t, setup{silent: true, provider: p.on})
	first := r.paid(t, "A-1", "tok_success")
	p.charge = dead(errNotSent)
	require.Equal(t, unknown, standingOf(r.recheck(t, first.ID).Attempt))
	require.EqualValues(t, 2, p.charges.Load())
}

// resumption is an attempt of unknown outcome and the effect of a recheck.
type resumption struct {
	name string
	age  time.Duration
	can  func(*payment.Capabilities)
	// reached: the first call had charged. cancelled: a cancel was requested.
	reached, cancelled bool
	keepless           bool
	clock              time.Duration

	sent int32
	end  standing
}

func noKeys(c *payment.Capabilities)       { c.KeyLife = 0 }
func noFind(c *payment.Capabilities)       { c.Lookup = payment.LookupByID }
func inconsistent(c *payment.Capabilities) { c.Lookup = payment.LookupByReference }

func recheckUnknownOutcome(t *testing.T) {
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
	p := &spy{can: c.can}
	p.charge = func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		if c.reached {
			_, _ = send()
		}
		return gateway.Outcome{}, errNoAnswer
	}
	r := newEnv(t, setup{silent: true, provider: p.on, change: func(o *options) {
		o.Now = func() time.Time { return time.Now().Add(c.clock) }
		if c.keepless {
			o.Seal = nil
		}
	}})
	id := r.paid(t, order, token).ID
	if c.cancelled {
		r.exec(t, wantCancel, id.String())
	}
	r.age(t, id, c.age)
	p.charge = nil
	p.charges.Store(0)
	asked := r.attempt(t, id).ReadAt
	v := r.recheck(t, id)
	require.Equal(t, c.sent, p.charges.Load(), "calls")
	require.Equal(t, c.end, standingOf(v.Attempt))
	if !v.State.Final() {
		require.Nil(t, r.attempt(t, id).LeaseUntil)
		if !c.cancelled { // beside its cancel, the charge stays due
			require.Greater(t, r.attempt(t, id).NextCheckAt.Sub(asked), 9*time.Second)
		}
	}
	r.audit(t, order)
}

// A charge that was just sent again may still arrive: that the provider does not find it at once
// proves nothing, however old the attempt is.
func recheckNotFoundAfterARecentCall(t *testing.T) {
	t.Parallel()
	p := &spy{charge: dead(errNoAnswer)}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	r.age(t, id, 9*time.Minute)
	require.Equal(t, unknown, standingOf(r.recheck(t, id).Attempt), "more than ten leases old")
	r.age(t, id, 2*time.Minute)
	require.Equal(t, unknown, standingOf(r.recheck(t, id).Attempt), "sent two minutes ago")
	require.EqualValues(t, 2, p.charges.Load())
}

// No timer ever turns an unknown outcome into a failure (hyperswitch #2380). With neither keys
// nor a search it waits for the webhook, then needs review (hyperswitch #1475; medusa #16398).
func recheckUnknownNeedsReview(t *testing.T) {
	t.Parallel()
	p := &spy{charge: dead(errNoAnswer), can: func(c *payment.Capabilities) { noKeys(c); noFind(c) }}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	r.age(t, id, 10*time.Second)
	for _, pause := range []time.Duration{
		30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour,
		24 * time.Hour, 24 * time.Hour, 24 * time.Hour, 24 * time.Hour,
	} {
		asked := r.attempt(t, id).ReadAt
		require.Equal(t, unknown, standingOf(r.recheck(t, id).Attempt))
		a := r.attempt(t, id)
		require.GreaterOrEqual(t, a.NextCheckAt.Sub(asked), pause)
		require.LessOrEqual(t, a.NextCheckAt.Sub(a.ReadAt), pause)
		r.age(t, id, pause)
	}
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.EqualValues(t, 1, p.charges.Load())
	require.Equal(t, 2, r.attempt(t, id).Version)
	r.say(t, id, webhooks.KindSucceeded)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
}

// An attempt of an account that is gone from the configuration is not due.
func recheckAccountIsGone(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	without := r.another(t, func(o *options) { o.Accounts = nil })
	asked := r.attempt(t, id).ReadAt
	v, err := without.Recheck(t.Context(), id, byTest)
	require.NoError(t, err)
	require.Equal(t, requested, standingOf(v.Attempt))
	a := r.attempt(t, id)
	require.Nil(t, a.LeaseUntil)
	require.Equal(t, 1, a.Checks)
	require.Greater(t, a.NextCheckAt.Sub(asked), 9*time.Second)
}

// An attempt that only webhooks have reported, and never by the provider's id, is looked for by
// the id of this side.
func recheckFoundByOurReference(t *testing.T) {
	t.Parallel()
	p := &spy{charge: reached}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	r.say(t, id, webhooks.KindActionRequired)
	require.Equal(t, awaiting, standingOf(r.attempt(t, id).Attempt))
	v := r.recheck(t, id)
	require.Equal(t, succeeded, standingOf(v.Attempt))
	require.NotEmpty(t, v.ProviderPaymentID)
	require.EqualValues(t, 1, p.charges.Load(), "the provider has it: it is not sent again")
}

// A requested cancel ends the sending: ten leases after it "not found" is believed, however
// young the attempt is.
func recheckNotFoundOfWhatIsToBeCancelled(t *testing.T) {
	t.Parallel()
	p := &spy{charge: dead(errNoAnswer)}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	r.age(t, id, 7*time.Minute)
	r.exec(t, wantCancel, id.String())
	r.exec(t, "UPDATE operations SET created_at = now() - interval '4 minutes' WHERE kind = 'cancel'")
	require.Equal(t, unknown, standingOf(r.recheck(t, id).Attempt), "eight leases")
	r.exec(t, "UPDATE operations SET created_at = now() - interval '6 minutes' WHERE kind = 'cancel'")
	require.Equal(t, notStarted, standingOf(r.recheck(t, id).Attempt), "twelve leases")
	require.EqualValues(t, 1, p.charges.Load())
}

// The refusal of a later send, for example after a key was revoked, proves nothing about the first send. The first may
// have gone through: the provider's own record of the payment counts.
func recheckRefusedAtALaterSend(t *testing.T) {
	t.Parallel()
	p := &spy{charge: reached}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	p.charge = func(context.Context, gateway.Charge, func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "api_key_expired")}, nil
	}
	r.age(t, id, lease)
	require.Equal(t, succeeded, standingOf(r.recheck(t, id).Attempt))
	require.EqualValues(t, 2, p.charges.Load())
	r.audit(t, "A-1")
}

// Nor is it failed if a webhook has reported it and the provider does not find it.
func recheckNotFoundAfterAReport(t *testing.T) {
	t.Parallel()
	p := &spy{charge: dead(errNoAnswer)}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	r.say(t, id, webhooks.KindActionRequired)
	r.age(t, id, 16*time.Minute)
	require.Equal(t, awaiting, standingOf(r.recheck(t, id).Attempt))
}

// The provider responds with 404 for a payment although it has just sent a webhook about it. The payment is looked up
// again, not failed (mollie-api-php #585).
func recheckNotFoundYet(t *testing.T) {
	t.Parallel()
	p := &forgetful{}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { p.Provider = of; return p }})
	paid := r.paid(t, "A-1", "tok_never")
	r.age(t, paid.ID, 24*time.Hour)
	v := r.recheck(t, paid.ID)
	require.Equal(t, requested, standingOf(v.Attempt))
	require.NotNil(t, v.NextCheckAt)
}

// forgetful finds nothing.
type forgetful struct{ gateway.Provider }

func (forgetful) Lookup(context.Context, string) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrNoSuchPayment
}

func (forgetful) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrNoSuchPayment
}

// No stale copy in memory ever overwrites a newer report (open-mercato #4700): the result of a
// check that began before the success comes after it.
func recheckResultOlderThanTheWebhook(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	slow := &lagging{asked: make(chan struct{}), answer: make(chan struct{})}
	second := r.another(t, func(o *options) {
		slow.Provider = o.Accounts["sandbox"].Provider
		o.Accounts = map[string]gateway.Account{"sandbox": {Provider: slow}}
	})
	checked := make(chan error, 1)
	go func() {
		_, err := second.Recheck(t.Context(), id, byTest)
		checked <- err
	}()
	<-slow.asked
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSucceeded))
	before := r.attempt(t, id)
	close(slow.answer)
	require.NoError(t, <-checked)
	after := r.attempt(t, id)
	after.ReadAt = before.ReadAt
	require.Equal(t, before.Attempt, after.Attempt)
}

// lagging returns how a payment stood when its lookup began.
type lagging struct {
	gateway.Provider

	asked, answer chan struct{}
}

func (p *lagging) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	out, err := p.Provider.Lookup(ctx, id)
	close(p.asked)
	<-p.answer
	return out, err
}

// Reconciler, webhook and a client's retry work on one attempt at once (killbill
// #338), in two processes; a conflict in the database never reaches any of them
// (medusa #2948, #4798).
func recheckBesideWebhookAndRetry(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	second := r.another(t, nil)
	for round := range 25 {
		order := payment.OrderID(fmt.Sprintf("A-%d", round))
		first := r.paid(t, order, "tok_500_charged")
		require.Equal(t, unknown, standingOf(first.Attempt))
		check := func(s *service) func() {
			return func() {
				if _, err := s.Recheck(t.Context(), first.ID, byTest); err != nil && !errors.Is(err, payment.ErrBusy) {
					t.Error(err)
				}
			}
		}
		retry := func(s *service) func() {
			return func() {
				if _, err := try(t.Context(), s, order, "first-key", "tok_500_charged"); err != nil {
					t.Error(err)
				}
			}
		}
		hear := func(s *service) func() {
			return func() {
				if _, err := s.Intake(t.Context(), received(nil, event(webhooks.KindSucceeded, first.ID.String()))); err != nil {
					t.Error(err)
				}
			}
		}
		race(check(r.service), check(second), retry(r.service), retry(second), hear(r.service), hear(second))
		a := r.attempt(t, first.ID)
		require.Equal(t, succeeded, standingOf(a.Attempt))
		require.EqualValues(t, price, a.Captured)
		require.Empty(t, r.discrepancies(t, a.ID))
		require.Equal(t, "payment_attempt.succeeded", r.updates(t, a.ID)[0])
		r.audit(t, order)
	}
	require.Len(t, r.ledger(t), 25)
}

// A check of an attempt that its webhook has decided changes nothing.
func recheckFinalAttempt(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	r.say(t, id, webhooks.KindSucceeded)
	before := r.attempt(t, id)
	v := r.recheck(t, id)
	require.Equal(t, before.Fence, v.Fence)
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Empty(t, due)
}
