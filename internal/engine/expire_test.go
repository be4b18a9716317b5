package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestExpire(t *testing.T) {
	t.Parallel()
	t.Run("looks_up_first", expireLooksUpFirst)
	t.Run("paid_meanwhile", expirePaidMeanwhile)
	t.Run("uncancellable_needs_review", expireUncancellableNeedsReview)
	t.Run("after_a_refused_capture", expireAfterARefusedCapture)
	t.Run("soft_failure_not_cancelled", expireSoftFailureNotCancelled)
	t.Run("without_a_lookup_needs_review", expireWithoutALookupNeedsReview)
	t.Run("hold_outlives_failed_lookups", expireHoldOutlivesFailedLookups)
	t.Run("late_authorization", expireLateAuthorization)
	t.Run("held_back_counts_no_check", expireHeldBackCountsNoCheck)
	t.Run("held_back_command", expireHeldBackCommand)
}

// answering is a provider with lookups and cancels that the test chooses.
type answering struct {
	gateway.Provider

	lookup           func() (gateway.Outcome, error)
	cancel           func() (gateway.Outcome, error)
	can              func(*payment.Capabilities)
	lookups, cancels atomic.Int32
	// key is the key of the last cancellation.
	key atomic.Pointer[string]
}

func (p *answering) on(of gateway.Provider) gateway.Provider {
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

func (p *answering) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	p.lookups.Add(1)
	if p.lookup == nil {
		return p.Provider.Lookup(ctx, id)
	}
	o, err := p.lookup()
	o.ProviderPaymentID = id
	return o, err
}

func (p *answering) Cancel(ctx context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	p.cancels.Add(1)
	p.key.Store(&c.IdempotencyKey)
	if p.cancel == nil {
		return p.Provider.Cancel(ctx, c)
	}
	o, err := p.cancel()
	o.ProviderPaymentID = c.ProviderPaymentID
	return o, err
}

func says(news fsm.Event) func() (gateway.Outcome, error) {
	return func() (gateway.Outcome, error) { return gateway.Outcome{Event: news}, nil }
}

// longAgo makes an attempt older, with the time of its last change.
func (r *env) longAgo(t *testing.T, id payment.AttemptID, by time.Duration) {
	t.Helper()
	r.exec(t, "WITH a AS (UPDATE payment_attempts SET created_at = created_at - $2::interval, updated_at = updated_at - $2::interval WHERE attempt_id = $1) UPDATE operations SET created_at = created_at - $2::interval, first_sent_at = first_sent_at - $2::interval WHERE attempt_id = $1", id.String(), by)
}

var expired = standing{"failed", "final", "expired"}

// tried makes an attempt that the provider has and has not decided.
func (r *env) tried(t *testing.T, token string, capture payment.CaptureMode) payment.AttemptID {
	t.Helper()
	r.order(t, "A-1")
	p, err := r.Pay(t.Context(), customer, request("pay A-1", "first-key", token), commands.Pay{OrderID: "A-1", Details: gateway.Details{Token: token}, Capture: capture})
	require.NoError(t, err)
	require.False(t, p.State.Final())
	return p.ID
}

// Before an attempt expires it is looked up, and the result counts (pay-connector #2178). A payment that is not over at
// the provider is cancelled there first.
func expireLooksUpFirst(t *testing.T) {
	t.Parallel()
	const hour, day = time.Hour, 24 * time.Hour
	short := payment.MaxAge{AwaitingCustomer: time.Minute, Authorized: time.Minute, Slow: time.Minute}
	for name, c := range map[string]struct {
		token     string
		capture   payment.CaptureMode
		lives     payment.MaxAge
		age       time.Duration
		said      fsm.Event
		end       standing
		cancelled int32
	}{
		"awaiting the customer, in time":         {"tok_redirect", payment.CaptureAutomatic, payment.MaxAge{}, hour - time.Minute, "", awaiting, 0},
		"awaiting the customer for too long":     {"tok_redirect", payment.CaptureAutomatic, payment.MaxAge{}, hour + time.Minute, "", expired, 1},
		"a voucher that is valid for days":       {"tok_voucher", payment.CaptureAutomatic, payment.MaxAge{}, 2 * hour, "", awaiting, 0},
		"a shorter life":                         {"tok_redirect", payment.CaptureAutomatic, short, 2 * time.Minute, "", expired, 1},
		"authorised, in time":                    {"tok_success", payment.CaptureManual, payment.MaxAge{}, 7*day - hour, "", standing{"pending", "authorized", ""}, 0},
		"authorised for too long":                {"tok_success", payment.CaptureManual, payment.MaxAge{}, 7*day + hour, "", expired, 1},
		"a slow method, in time":                 {"tok_never", payment.CaptureAutomatic, payment.MaxAge{}, 14*day - hour, "", requested, 0},
		"a slow method for too long":             {"tok_never", payment.CaptureAutomatic, payment.MaxAge{}, 14*day + hour, "", expired, 1},
		"the customer acted: with the bank now":  {"tok_redirect", payment.CaptureAutomatic, payment.MaxAge{}, 2 * hour, fsm.EventProcessing, awaiting, 0},
		"the bank sent the customer away again":  {"tok_never", payment.CaptureAutomatic, payment.MaxAge{}, 2 * hour, fsm.EventActionRequired, expired, 1},
		"paid meanwhile: adopted":                {"tok_redirect", payment.CaptureAutomatic, payment.MaxAge{}, 2 * hour, fsm.EventSucceeded, succeeded, 0},
		"failed meanwhile: adopted":              {"tok_redirect", payment.CaptureAutomatic, payment.MaxAge{}, 2 * hour, fsm.EventFailed, standing{"failed", "final", "provider_rejected"}, 0},
		"the provider does not know, years long": {"tok_redirect", payment.CaptureAutomatic, payment.MaxAge{}, 1000 * day, fsm.EventUnknown, awaiting, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &answering{}
			r := newEnv(t, setup{silent: true, provider: p.on, change: func(o *options) {
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
			require.Equal(t, c.end, standingOf(r.attempt(t, id).Attempt))
			require.Equal(t, c.cancelled, p.cancels.Load())
			require.Empty(t, r.discrepancies(t, id))
		})
	}
}

// The customer pays in the moment of the expiry: the provider refuses to cancel and reports the
// payment as paid.
func expirePaidMeanwhile(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.order(t, "A-1")
	p := r.pay(t, "A-1", "first-key", "tok_redirect")
	r.longAgo(t, p.ID, 2*time.Hour)
	r.recheck(t, p.ID)
	approve(t, p.NextAction.URL)
	require.Equal(t, succeeded, standingOf(r.recheck(t, p.ID).Attempt))
	require.Nil(t, r.attempt(t, p.ID).Failure)
	r.audit(t, "A-1")
}

// A payment that its provider can't cancel, or refuses to, is looked up further; it needs review
// at the schedule's end.
func expireUncancellableNeedsReview(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*answering{
		"can't": {can: func(c *payment.Capabilities) { c.Cancels = payment.CancelsNone }},
		"refuses to": {cancel: func() (gateway.Outcome, error) {
			return gateway.Outcome{Event: fsm.EventActionRequired, Refused: true}, nil
		}},
		"never answers": {cancel: func() (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, setup{silent: true, provider: p.on})
			id := r.tried(t, "tok_redirect", payment.CaptureAutomatic)
			r.longAgo(t, id, 20*time.Hour)
			for range 2 {
				require.Equal(t, awaiting.status, standingOf(r.recheck(t, id).Attempt).status)
			}
			require.Empty(t, r.discrepancies(t, id), "the schedule is not over")
			for range 25 {
				r.everyOperation(t, id)
			}
			require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
			a := r.attempt(t, id)
			if !a.NextCheckAt.After(a.ReadAt) { // the cancel is on disk and not carried out yet
				r.recheck(t, id)
				a = r.attempt(t, id)
			}
			require.Equal(t, "pending", standingOf(a.Attempt).status)
			require.Greater(t, a.NextCheckAt.Sub(a.ReadAt), 20*time.Hour, "asked daily, not at once again")
		})
	}
}

// A refused capture is no refused cancel: one is sent first, on a schedule of its own.
func expireAfterARefusedCapture(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]func() (gateway.Outcome, error){
		"it is cancelled":  says(fsm.EventFailed),
		"its call is lost": func() (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &answering{cancel: says}
			r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider {
				return decliningCapture{p.on(of), gateway.Outcome{Event: fsm.EventAuthorized, Refused: true}}
			}})
			id := r.held(t, "A-1").ID
			require.ErrorIs(t, r.confirm(t, id, "confirm-key"), payment.ErrNotCapturable)
			r.longAgo(t, id, 8*24*time.Hour)
			r.exec(t, "UPDATE operations SET tries = 14 WHERE open AND refund_id IS NULL")
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

// A soft decline without a cancel could still succeed. It is looked up on the schedule, not at once under ever new keys,
// and then needs review.
func expireSoftFailureNotCancelled(t *testing.T) {
	t.Parallel()
	refuses := func() (gateway.Outcome, error) {
		return gateway.Outcome{Event: fsm.EventSoftFailed, Refused: true}, nil
	}
	begun := map[string]func(*testing.T, *env) payment.AttemptID{
		"a payment": func(t *testing.T, r *env) payment.AttemptID {
			t.Helper()
			id := r.tried(t, "tok_redirect", payment.CaptureAutomatic)
			require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSoftFailed))
			return id
		},
		"a capture": func(t *testing.T, r *env) payment.AttemptID {
			t.Helper()
			id := r.held(t, "A-1").ID
			_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
			require.ErrorIs(t, err, payment.ErrNotCapturable)
			return id
		},
	}
	for name, begin := range begun {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &answering{lookup: says(fsm.EventSoftFailed), cancel: refuses}
			r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider {
				return decliningCapture{p.on(of), gateway.Outcome{Event: fsm.EventSoftFailed, Refused: true}}
			}})
			id := begin(t, r)
			require.Equal(t, []payment.AttemptID{id}, r.due(t))
			asked := r.attempt(t, id).ReadAt
			r.recheck(t, id)
			require.EqualValues(t, 1, p.cancels.Load())
			require.Greater(t, r.attempt(t, id).NextCheckAt.Sub(asked), 9*time.Second, "not at once again")
			require.Empty(t, r.discrepancies(t, id), "the schedule is not over")
			for range 14 {
				asked = r.attempt(t, id).ReadAt
				r.everyOperation(t, id)
			}
			require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
			a := r.attempt(t, id)
			if !a.NextCheckAt.After(a.ReadAt) { // the cancel is on disk and not carried out yet
				asked = a.ReadAt
				r.recheck(t, id)
				a = r.attempt(t, id)
			}
			require.Equal(t, "pending", standingOf(a.Attempt).status)
			require.Greater(t, a.NextCheckAt.Sub(asked), 9*time.Second, "not at once again")
			require.Empty(t, r.verify(t))
		})
	}
}

// An attempt that can't be looked up any more does not wait for ever.
func expireWithoutALookupNeedsReview(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.tried(t, "tok_never", payment.CaptureAutomatic)
	without := r.another(t, func(o *options) { o.Accounts = nil })
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
	require.Equal(t, requested, standingOf(r.attempt(t, id).Attempt))
}

// A hold may live longer than any bank is at work: one lookup without a response is no end of
// it.
func expireHoldOutlivesFailedLookups(t *testing.T) {
	t.Parallel()
	p := &answering{lookup: func() (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }}
	r := newEnv(t, setup{silent: true, provider: p.on, change: func(o *options) {
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
		r.exec(t, "UPDATE operations SET tries = 20 WHERE open AND refund_id IS NULL")
		r.recheck(t, id)
		require.ElementsMatch(t, c.opens, r.discrepancies(t, id))
	}
}

// The life of a hold begins with it, however old its attempt is by then.
func expireLateAuthorization(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	r.exec(t, "WITH a AS (UPDATE payment_attempts SET created_at = created_at - interval '8 days' WHERE attempt_id = $1) UPDATE operations SET created_at = created_at - interval '8 days', first_sent_at = first_sent_at - interval '8 days' WHERE attempt_id = $1", id.String())
	require.Equal(t, "authorized", r.recheck(t, id).Stage())
	require.Equal(t, payment.OperationKind(""), r.attempt(t, id).Intent.Kind)
}

// Lookups that were held back are no checks: an outage does not use the schedule up.
func expireHeldBackCountsNoCheck(t *testing.T) {
	t.Parallel()
	held := func() (gateway.Outcome, error) { return gateway.Outcome{}, gateway.ErrThrottled }
	p := &answering{lookup: held}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.tried(t, "tok_never", payment.CaptureAutomatic)
	for range 20 {
		r.recheck(t, id)
	}
	a := r.attempt(t, id)
	require.Zero(t, a.Checks)
	require.Less(t, a.NextCheckAt.Sub(a.ReadAt), 15*time.Second)
	require.Empty(t, r.discrepancies(t, id))
}

// Nor does an outage end the schedule of a command at once, which is new, of a payment that is
// old.
func expireHeldBackCommand(t *testing.T) {
	t.Parallel()
	held := func() (gateway.Outcome, error) { return gateway.Outcome{}, errHeldBack }
	p := &answering{lookup: held, cancel: held}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.held(t, "A-1").ID
	r.longAgo(t, id, 3*24*time.Hour)
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	for _, by := range []string{"0", "1 day"} {
		r.exec(t, "UPDATE operations SET created_at = created_at - $1::interval, first_sent_at = first_sent_at - $1::interval WHERE kind IN ('capture', 'cancel')", by)
		r.recheck(t, id)
		require.Empty(t, r.discrepancies(t, id))
	}
	r.exec(t, "UPDATE operations SET created_at = created_at - interval '2 days', first_sent_at = first_sent_at - interval '2 days' WHERE kind IN ('capture', 'cancel')")
	r.recheck(t, id)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id), "an outage without an end is seen")
}
