package payment_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// answering is a provider whose questions and cancellations are answered by hand.
type answering struct {
	payment.Provider

	lookup           func() (payment.Outcome, error)
	cancel           func() (payment.Outcome, error)
	can              func(*payment.Capabilities)
	lookups, cancels atomic.Int32
	// key is that of the last cancellation.
	key atomic.Pointer[string]
}

func (p *answering) on(of payment.Provider) payment.Provider {
	p.Provider = of
	return p
}

func (p *answering) Capabilities() payment.Capabilities {
	c := p.Provider.Capabilities()
	if p.can != nil {
		p.can(&c)
	}
	return c
}

func (p *answering) Lookup(ctx context.Context, id string) (payment.Outcome, error) {
	p.lookups.Add(1)
	if p.lookup == nil {
		return p.Provider.Lookup(ctx, id)
	}
	o, err := p.lookup()
	o.ProviderPaymentID = id
	return o, err
}

func (p *answering) Cancel(ctx context.Context, c payment.Cancel) (payment.Outcome, error) {
	p.cancels.Add(1)
	p.key.Store(&c.IdempotencyKey)
	if p.cancel == nil {
		return p.Provider.Cancel(ctx, c)
	}
	o, err := p.cancel()
	o.ProviderPaymentID = c.ProviderPaymentID
	return o, err
}

func says(news fsm.News) func() (payment.Outcome, error) {
	return func() (payment.Outcome, error) { return payment.Outcome{News: news}, nil }
}

// longAgo makes an attempt older, with the time of its last change.
func (r *rig) longAgo(t *testing.T, id payment.AttemptID, by time.Duration) {
	t.Helper()
	r.exec(t, "UPDATE payment_attempts SET created_at = created_at - $2::interval, updated_at = updated_at - $2::interval WHERE attempt_id = $1", id.String(), by)
}

var expired = standing{"failed", "final", "expired"}

// tried is an attempt that the provider has and has not decided.
func (r *rig) tried(t *testing.T, token string, capture payment.CaptureMode) payment.AttemptID {
	t.Helper()
	r.order(t, "A-1")
	p, err := r.Pay(t.Context(), customer, request("pay A-1", "first-key", token), payment.Pay{OrderID: "A-1", Token: token, Capture: capture})
	require.NoError(t, err)
	require.False(t, p.State.Final())
	return p.ID
}

// Before expiring, ask the provider; adopt its answer (pay-connector #2178). What
// is not over there is cancelled there first.
func TestExpiryAsksFirst(t *testing.T) {
	t.Parallel()
	const hour, day = time.Hour, 24 * time.Hour
	short := payment.Lives{AwaitingCustomer: time.Minute, Authorized: time.Minute, Slow: time.Minute}
	for name, c := range map[string]struct {
		token     string
		capture   payment.CaptureMode
		lives     payment.Lives
		age       time.Duration
		said      fsm.News
		end       standing
		cancelled int32
	}{
		"awaiting the customer, in time":         {"tok_redirect", payment.CaptureAutomatic, payment.Lives{}, hour - time.Minute, "", awaiting, 0},
		"awaiting the customer for too long":     {"tok_redirect", payment.CaptureAutomatic, payment.Lives{}, hour + time.Minute, "", expired, 1},
		"a shorter life":                         {"tok_redirect", payment.CaptureAutomatic, short, 2 * time.Minute, "", expired, 1},
		"authorised, in time":                    {"tok_success", payment.CaptureManual, payment.Lives{}, 7*day - hour, "", standing{"pending", "authorized", ""}, 0},
		"authorised for too long":                {"tok_success", payment.CaptureManual, payment.Lives{}, 7*day + hour, "", expired, 1},
		"a slow method, in time":                 {"tok_never", payment.CaptureAutomatic, payment.Lives{}, 14*day - hour, "", requested, 0},
		"a slow method for too long":             {"tok_never", payment.CaptureAutomatic, payment.Lives{}, 14*day + hour, "", expired, 1},
		"the customer acted: with the bank now":  {"tok_redirect", payment.CaptureAutomatic, payment.Lives{}, 2 * hour, fsm.NewsProcessing, awaiting, 0},
		"the bank sent the customer away again":  {"tok_never", payment.CaptureAutomatic, payment.Lives{}, 2 * hour, fsm.NewsActionRequired, expired, 1},
		"paid meanwhile: adopted":                {"tok_redirect", payment.CaptureAutomatic, payment.Lives{}, 2 * hour, fsm.NewsSucceeded, succeeded, 0},
		"failed meanwhile: adopted":              {"tok_redirect", payment.CaptureAutomatic, payment.Lives{}, 2 * hour, fsm.NewsFailed, standing{"failed", "final", "provider_rejected"}, 0},
		"the provider does not know, years long": {"tok_redirect", payment.CaptureAutomatic, payment.Lives{}, 1000 * day, fsm.NewsUnknown, awaiting, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &answering{}
			r := newRig(t, setup{silent: true, provider: p.on, change: func(o *payment.Options) {
				account := o.Accounts["sandbox"]
				account.Lives = c.lives
				o.Accounts["sandbox"] = account
			}})
			id := r.tried(t, c.token, c.capture)
			if c.said != "" {
				p.lookup = says(c.said)
			}
			r.longAgo(t, id, c.age)
			v := r.recheck(t, id)
			require.Zero(t, p.cancels.Load(), "not in the same breath: the wish is on disk first")
			if c.cancelled > 0 {
				require.Equal(t, "pending", standingOf(v.Attempt).status, "it fails when the provider says so")
				due, err := r.Due(t.Context(), 10)
				require.NoError(t, err)
				require.Equal(t, []payment.AttemptID{id}, due, "at once")
				r.recheck(t, id)
			}
			require.Equal(t, c.end, standingOf(r.attempt(t, id)))
			require.Equal(t, c.cancelled, p.cancels.Load())
			require.Empty(t, r.discrepancies(t, id))
		})
	}
}

// The customer pays in the moment of the expiry: the provider refuses to cancel
// and says that it is paid.
func TestPaidInTheMomentOfTheExpiry(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	r.order(t, "A-1")
	p := r.pay(t, "A-1", "first-key", "tok_redirect")
	r.longAgo(t, p.ID, 2*time.Hour)
	r.recheck(t, p.ID)
	approve(t, p.NextActionURL)
	require.Equal(t, succeeded, standingOf(r.recheck(t, p.ID).Attempt))
	require.Nil(t, r.attempt(t, p.ID).Failure)
	r.audit(t, "A-1")
}

// A provider that can't cancel, or refuses to, goes on being asked; a person is
// asked at the schedule's end.
func TestWhatCanNotBeCancelledAsksAPerson(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*answering{
		"can't": {can: func(c *payment.Capabilities) { c.Cancel = false }},
		"refuses to": {cancel: func() (payment.Outcome, error) {
			return payment.Outcome{News: fsm.NewsActionRequired, Refused: true}, nil
		}},
		"never answers": {cancel: func() (payment.Outcome, error) { return payment.Outcome{}, errNoAnswer }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{silent: true, provider: p.on})
			id := r.tried(t, "tok_redirect", payment.CaptureAutomatic)
			r.longAgo(t, id, 2*time.Hour)
			for range 2 {
				require.Equal(t, awaiting.status, standingOf(r.recheck(t, id).Attempt).status)
			}
			require.Empty(t, r.discrepancies(t, id), "the schedule is not over")
			for range 25 {
				r.recheck(t, id)
			}
			require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
			a := r.attempt(t, id)
			if !a.NextCheckAt.After(a.ReadAt) { // the wish is on disk and not carried out yet
				r.recheck(t, id)
				a = r.attempt(t, id)
			}
			require.Equal(t, "pending", standingOf(a).status)
			require.Greater(t, a.NextCheckAt.Sub(a.ReadAt), 20*time.Hour, "asked daily, not at once again")
		})
	}
}

// That a capture was refused says nothing of a cancellation: one is asked for first, on
// a schedule of its own.
func TestARefusedCaptureIsNoRefusedCancellation(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]func() (payment.Outcome, error){
		"it is cancelled":  says(fsm.NewsFailed),
		"its call is lost": func() (payment.Outcome, error) { return payment.Outcome{}, errNoAnswer },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &answering{cancel: says}
			r := newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider {
				return decliningCapture{p.on(of), payment.Outcome{News: fsm.NewsAuthorized, Refused: true}}
			}})
			id := r.held(t, "A-1").ID
			require.ErrorIs(t, r.confirm(t, id, "confirm-key"), payment.ErrNotCapturable)
			r.longAgo(t, id, 8*24*time.Hour)
			r.exec(t, "UPDATE payment_attempts SET checks = 14")
			for range 2 {
				r.recheck(t, id)
			}
			require.EqualValues(t, 1, p.cancels.Load())
			require.Empty(t, r.discrepancies(t, id))
			if a := r.attempt(t, id); !a.Failed() {
				require.Less(t, a.NextCheckAt.Sub(a.ReadAt), time.Hour)
			}
		})
	}
}

// What failed softly and is not cancelled either could still succeed. The provider is
// asked on the schedule, not at once under ever new keys, and then a person is.
func TestASoftFailureThatIsNotCancelledAsksAPerson(t *testing.T) {
	t.Parallel()
	refuses := func() (payment.Outcome, error) { return payment.Outcome{News: fsm.NewsSoftFailed, Refused: true}, nil }
	begun := map[string]func(*testing.T, *rig) payment.AttemptID{
		"a payment": func(t *testing.T, r *rig) payment.AttemptID {
			t.Helper()
			id := r.tried(t, "tok_redirect", payment.CaptureAutomatic)
			require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSoftFailed))
			return id
		},
		"a capture": func(t *testing.T, r *rig) payment.AttemptID {
			t.Helper()
			id := r.held(t, "A-1").ID
			_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), payment.Confirm{AttemptID: id})
			require.ErrorIs(t, err, payment.ErrNotCapturable)
			return id
		},
	}
	for name, begin := range begun {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &answering{lookup: says(fsm.NewsSoftFailed), cancel: refuses}
			r := newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider {
				return decliningCapture{p.on(of), payment.Outcome{News: fsm.NewsSoftFailed, Refused: true}}
			}})
			id := begin(t, r)
			require.Equal(t, []payment.AttemptID{id}, r.due(t))
			r.recheck(t, id)
			require.EqualValues(t, 1, p.cancels.Load())
			require.Empty(t, r.due(t), "not at once again")
			require.Empty(t, r.discrepancies(t, id), "the schedule is not over")
			for range 14 {
				r.recheck(t, id)
			}
			require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
			require.LessOrEqual(t, p.cancels.Load(), int32(8), "it is looked up in between")
			a := r.attempt(t, id)
			if !a.NextCheckAt.After(a.ReadAt) { // the wish is on disk and not carried out yet
				r.recheck(t, id)
				a = r.attempt(t, id)
			}
			require.Equal(t, "pending", standingOf(a).status)
			require.Greater(t, a.NextCheckAt.Sub(a.ReadAt), 20*time.Hour, "asked daily")
			require.Empty(t, r.verify(t))
		})
	}
}

// An attempt whose provider nobody can ask any more does not wait for ever.
func TestAnAttemptThatNobodyCanAskAboutAsksAPerson(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.tried(t, "tok_never", payment.CaptureAutomatic)
	without := r.another(t, func(o *payment.Options) { o.Accounts = nil })
	ask := func() {
		for range 11 {
			_, err := without.Recheck(t.Context(), id, byTest)
			require.NoError(t, err)
		}
	}
	ask()
	require.Empty(t, r.discrepancies(t, id))
	r.longAgo(t, id, 15*24*time.Hour)
	ask()
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Equal(t, requested, standingOf(r.attempt(t, id)))
}

// A hold may live longer than any bank is at work: one question without an answer is no
// end of it.
func TestAHoldThatMayLiveOnIsNoneThatNobodyCanTellOf(t *testing.T) {
	t.Parallel()
	p := &answering{lookup: func() (payment.Outcome, error) { return payment.Outcome{}, errNoAnswer }}
	r := newRig(t, setup{silent: true, provider: p.on, change: func(o *payment.Options) {
		account := o.Accounts["sandbox"]
		account.Lives.Authorized = 30 * 24 * time.Hour
		o.Accounts["sandbox"] = account
	}})
	id := r.held(t, "A-1").ID
	for _, c := range []struct {
		days  int
		opens []string
	}{{20, nil}, {11, []string{"needs_review"}}} {
		r.longAgo(t, id, time.Duration(c.days)*24*time.Hour)
		r.exec(t, "UPDATE payment_attempts SET checks = 20")
		r.recheck(t, id)
		require.ElementsMatch(t, c.opens, r.discrepancies(t, id))
	}
}

// The life of a hold begins with it, however old its attempt is by then.
func TestALateAuthorisationHasItsWholeLife(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	r.exec(t, "UPDATE payment_attempts SET created_at = created_at - interval '8 days' WHERE attempt_id = $1", id.String())
	require.Equal(t, "authorized", r.recheck(t, id).Stage())
	require.Equal(t, payment.IntentNone, r.attempt(t, id).Intent.Kind)
}

// Questions that were held back are no checks: an outage does not use the
// schedule up.
func TestWhatWasHeldBackIsNoCheck(t *testing.T) {
	t.Parallel()
	held := func() (payment.Outcome, error) { return payment.Outcome{}, payment.ErrHeldBack }
	p := &answering{lookup: held}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.tried(t, "tok_never", payment.CaptureAutomatic)
	for range 20 {
		r.recheck(t, id)
	}
	a := r.attempt(t, id)
	require.Zero(t, a.Checks)
	require.Less(t, a.NextCheckAt.Sub(a.ReadAt), 15*time.Second)
	require.Empty(t, r.discrepancies(t, id))
}

// Nor does it end the schedule of a command at once, which is new, of a payment that is
// old.
func TestACommandThatWasHeldBackIsFollowedUpFirst(t *testing.T) {
	t.Parallel()
	held := func() (payment.Outcome, error) { return payment.Outcome{}, errHeldBack }
	p := &answering{lookup: held, cancel: held}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.held(t, "A-1").ID
	r.longAgo(t, id, 3*24*time.Hour)
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	for _, by := range []string{"0", "1 day"} {
		r.exec(t, "UPDATE payment_attempts SET intent_at = intent_at - $1::interval", by)
		r.recheck(t, id)
		require.Empty(t, r.discrepancies(t, id))
	}
	r.exec(t, "UPDATE payment_attempts SET intent_at = intent_at - interval '2 days'")
	r.recheck(t, id)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id), "an outage without an end is seen")
}
