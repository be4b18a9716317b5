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
	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// held is a payment whose money is authorised and not taken.
func (r *rig) held(t *testing.T, order payment.OrderID) payment.Reply {
	t.Helper()
	r.order(t, order)
	p, err := r.Pay(t.Context(), customer, request("pay "+string(order), "first-key", "m"), payment.Pay{
		OrderID: order, Token: "tok_success", Capture: payment.CaptureManual,
	})
	require.NoError(t, err)
	require.Equal(t, "authorized", p.Stage())
	return p
}

// Capture and cancel pressed twice reach the provider once (open-mercato #4036).
func TestConfirmPressedTwiceTakesTheMoneyOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	second := r.another(t, nil)
	for round := range 10 {
		order := payment.OrderID(fmt.Sprintf("A-%d", round))
		p := r.held(t, order)
		half := int64(500)
		race(times(8, func(i int) {
			s := []*payment.Service{r.Service, second}[i%2]
			_, err := s.Confirm(t.Context(), customer, request("confirm", fmt.Sprintf("key-of-%s", order), ""), payment.Confirm{AttemptID: p.ID, Amount: &half})
			if err != nil && !errors.Is(err, payment.ErrBusy) && !errors.Is(err, idempotency.ErrInProgress) {
				t.Error(err)
			}
		})...)
		a := r.attempt(t, p.ID)
		require.Equal(t, succeeded, standingOf(a))
		require.Equal(t, half, a.Captured)
		r.audit(t, order)
	}
	require.Len(t, r.ledger(t), 10)
}

func TestConfirmAgainstCancelEndsInOneOfThem(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	second := r.another(t, nil)
	for round := range 20 {
		order := payment.OrderID(fmt.Sprintf("A-%d", round))
		p := r.held(t, order)
		race(func() {
			_, _ = r.Confirm(t.Context(), customer, request("confirm", "confirm-key-"+string(order), ""), payment.Confirm{AttemptID: p.ID})
		}, func() {
			_, _ = second.Cancel(t.Context(), customer, request("cancel", "cancel-key-"+string(order), ""), p.ID)
		})
		a := r.attempt(t, p.ID)
		require.True(t, a.State.Final(), a.State)
		r.audit(t, order)
	}
}

// A capture whose answer was lost is not given up while it may still arrive: with
// its number gone the next one would be another capture.
func TestACaptureThatWasLostIsGivenUpLate(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	deaf := r.another(t, func(o *payment.Options) {
		o.Accounts = map[string]payment.Account{"sandbox": {Provider: lostCapture{o.Accounts["sandbox"].Provider}}}
	})
	_, err := deaf.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), payment.Confirm{AttemptID: id})
	require.NoError(t, err)
	for _, c := range []struct {
		age  time.Duration
		want payment.IntentKind
	}{{9 * time.Minute, payment.IntentCapture}, {2 * time.Minute, payment.IntentCapture}, {5 * time.Minute, payment.IntentNone}} {
		r.exec(t, "UPDATE payment_attempts SET intent_at = intent_at - $1::interval", c.age)
		_, err := deaf.Recheck(t.Context(), id, byTest)
		require.NoError(t, err)
		require.Equal(t, c.want, r.attempt(t, id).Intent.Kind)
	}
	require.Equal(t, 1, r.attempt(t, id).Intent.Number)
	require.Empty(t, r.ledger(t))
	_, err = r.Confirm(t.Context(), customer, request("confirm", "other-key", ""), payment.Confirm{AttemptID: id})
	require.NoError(t, err)
	r.audit(t, "A-1")
}

// Some providers accept a capture and carry it out hours later: that the payment is
// still authorised does not say that there was none.
func TestACaptureThatMayNotShowIsNotGivenUp(t *testing.T) {
	t.Parallel()
	slow := &answering{can: func(c *payment.Capabilities) { c.CaptureUnseen = true }}
	r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider { return slow.on(lostCapture{p}) }})
	id := r.held(t, "A-1").ID
	_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), payment.Confirm{AttemptID: id})
	require.NoError(t, err)
	r.exec(t, "UPDATE payment_attempts SET intent_at = intent_at - interval '1 day'")
	r.recheck(t, id)
	require.Equal(t, payment.Intent{Kind: payment.IntentCapture, Amount: price, At: r.attempt(t, id).Intent.At}, r.attempt(t, id).Intent)
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id)))
}

// Somebody captured in the provider's dashboard: the confirm that the provider
// therefore refuses has what it wanted.
func TestAConfirmOfWhatIsCapturedAlreadyIsMet(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider { return capturedByHand{p} }})
	id := r.held(t, "A-1").ID
	for range 2 {
		p, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), payment.Confirm{AttemptID: id})
		require.NoError(t, err)
		require.Equal(t, succeeded, standingOf(p.Attempt))
	}
	require.Len(t, r.ledger(t), 1)
}

// capturedByHand is a provider where somebody is a moment faster.
type capturedByHand struct{ payment.Provider }

func (p capturedByHand) Capture(ctx context.Context, c payment.Capture) (payment.Outcome, error) {
	byHand := c
	byHand.IdempotencyKey = "by hand"
	if _, err := p.Provider.Capture(ctx, byHand); err != nil {
		return payment.Outcome{}, err
	}
	return p.Provider.Capture(ctx, c)
}

// A command whose call is lost is followed up soon, though the attempt itself is
// old and asked about once a day.
func TestALostCommandIsFollowedUpSoon(t *testing.T) {
	t.Parallel()
	lost := func(p payment.Provider) payment.Provider {
		deaf := &answering{cancel: func() (payment.Outcome, error) { return payment.Outcome{}, errNoAnswer }}
		return deaf.on(lostCapture{p})
	}
	for name, command := range map[string]func(r *rig, id payment.AttemptID) error{
		"capture": func(r *rig, id payment.AttemptID) error {
			_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), payment.Confirm{AttemptID: id})
			return err
		},
		"cancel": func(r *rig, id payment.AttemptID) error {
			_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
			return err
		},
		"cancel the order": func(r *rig, _ payment.AttemptID) error {
			_, _, err := r.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
			return err
		},
		"expire": func(r *rig, id payment.AttemptID) error {
			r.longAgo(t, id, 8*24*time.Hour)
			r.recheck(t, id)
			r.recheck(t, id)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{silent: true, provider: lost})
			id := r.held(t, "A-1").ID
			r.exec(t, "UPDATE payment_attempts SET checks = 9")
			require.NoError(t, command(r, id))
			a := r.attempt(t, id)
			require.NotEqual(t, payment.IntentNone, a.Intent.Kind)
			require.LessOrEqual(t, a.NextCheckAt.Sub(a.ReadAt), time.Minute)
		})
	}
}

// A provider is told for whom it charges, and whether all that it holds is to be
// taken: some take a part in another way.
func TestWhatAProviderIsTold(t *testing.T) {
	t.Parallel()
	told := &listener{}
	r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider {
		told.Provider = p
		return told
	}})
	half, whole := int64(500), int64(price)
	for order, c := range map[payment.OrderID]struct {
		amount *int64
		whole  bool
	}{"A-1": {nil, true}, "A-2": {&whole, true}, "A-3": {&half, false}} {
		p := r.held(t, order)
		require.Equal(t, "u1", told.charge.Customer)
		_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-"+string(order), ""), payment.Confirm{AttemptID: p.ID, Amount: c.amount})
		require.NoError(t, err)
		require.Equal(t, c.whole, told.capture.Whole, order)
		r.audit(t, order)
	}
}

// listener keeps the last of what it is asked for.
type listener struct {
	payment.Provider

	charge  payment.Charge
	capture payment.Capture
}

func (l *listener) Charge(ctx context.Context, c payment.Charge) (payment.Outcome, error) {
	l.charge = c
	return l.Provider.Charge(ctx, c)
}

func (l *listener) Capture(ctx context.Context, c payment.Capture) (payment.Outcome, error) {
	l.capture = c
	return l.Provider.Capture(ctx, c)
}

// lostCapture is a provider that captures never reach.
type lostCapture struct{ payment.Provider }

func (lostCapture) Capture(context.Context, payment.Capture) (payment.Outcome, error) {
	return payment.Outcome{}, errNoAnswer
}

// A refund runner that was overtaken before it sent anything fails nothing: the
// other may have paid the money back.
func TestAnOvertakenRefundsNothingSentFailsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	asleep, thaw := make(chan struct{}), make(chan struct{})
	var woken atomic.Bool
	slow := r.another(t, func(o *payment.Options) {
		p := &slowRefund{Provider: o.Accounts["sandbox"].Provider, asleep: asleep, thaw: thaw}
		o.Accounts = map[string]payment.Account{"sandbox": {Provider: p}}
		o.Now = func() time.Time {
			if woken.Load() {
				return time.Now().Add(lease)
			}
			return time.Now()
		}
	})
	merchant := payment.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}
	answer := make(chan payment.Refunded, 1)
	go func() {
		got, err := slow.Refund(t.Context(), merchant, request("refunds", "refund-key", ""), payment.CreateRefund{AttemptID: id})
		if err != nil {
			t.Error(err)
		}
		answer <- got
	}()
	<-asleep
	r.exec(t, "UPDATE refunds SET lease_until = now(), next_check_at = now()")
	due, err := r.DueRefunds(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, due, 1)
	blind := r.another(t, func(o *payment.Options) {
		p := &lostRefund{o.Accounts["sandbox"].Provider}
		o.Accounts = map[string]payment.Account{"sandbox": {Provider: p}}
	})
	pending, err := blind.RecheckRefund(t.Context(), due[0], byTest)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundPending, pending.State)
	woken.Store(true)
	close(thaw)
	got := <-answer
	require.Equal(t, fsm.RefundPending, got.State, "the money may be on its way")
	_, err = r.RecheckRefund(t.Context(), due[0], byTest)
	require.NoError(t, err)
	require.Zero(t, r.attempt(t, id).Held())
	require.Len(t, r.ledger(t), 2)
}

// slowRefund freezes before it sends a refund; lostRefund loses the answer.
type (
	slowRefund struct {
		payment.Provider

		asleep, thaw chan struct{}
	}
	lostRefund struct{ payment.Provider }
)

func (p *slowRefund) Refund(ctx context.Context, c payment.RefundCall) (payment.RefundOutcome, error) {
	p.asleep <- struct{}{}
	<-p.thaw
	return p.Provider.Refund(ctx, c)
}

func (p *lostRefund) Refund(ctx context.Context, c payment.RefundCall) (payment.RefundOutcome, error) {
	_, _ = p.Provider.Refund(ctx, c)
	return payment.RefundOutcome{}, errNoAnswer
}

// A command on an attempt whose account is gone leaves nothing behind.
func TestACommandWithoutAProviderLeavesNoIntent(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	done := r.paid(t, "A-2", "tok_success").ID
	without := r.another(t, func(o *payment.Options) { o.Accounts = nil })
	for name, command := range map[string]func(s *payment.Service) error{
		"refund": func(s *payment.Service) error {
			merchant := payment.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}
			_, err := s.Refund(t.Context(), merchant, request("refunds", "refund-key", ""), payment.CreateRefund{AttemptID: done})
			return err
		},
		"cancel the order": func(s *payment.Service) error {
			_, _, err := s.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
			return err
		},
		"cancel": func(s *payment.Service) error {
			_, err := s.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
			return err
		},
	} {
		var invalid *payment.ValidationError
		require.ErrorAs(t, command(without), &invalid, name)
		a := r.attempt(t, id)
		require.Equal(t, payment.IntentNone, a.Intent.Kind, name)
		require.Nil(t, a.LeaseUntil, name)
		require.Empty(t, rows[string](t, r, "SELECT key FROM idempotency_keys WHERE key IN ('cancel-key', 'refund-key')"), "the key was not used up")
	}
	require.Empty(t, rows[string](t, r, "SELECT refund_id::text FROM refunds"))
	require.Empty(t, rows[string](t, r, "SELECT order_id FROM orders WHERE cancel_requested_at IS NOT NULL"))
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
}

// A cancellation may learn by a question what became of a payment whose answer was
// lost: that the provider never got it, how it stands there, or, where the
// cancellation is not answered either, that it is paid.
func TestACancellationThatOnlyAsksIsCarriedOut(t *testing.T) {
	t.Parallel()
	lost := func(arrives bool) func(context.Context, payment.Charge, func() (payment.Outcome, error)) (payment.Outcome, error) {
		return func(_ context.Context, _ payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
			if arrives {
				_, _ = send()
			}
			return payment.Outcome{}, errNoAnswer
		}
	}
	for name, c := range map[string]struct {
		arrives bool
		token   string
		end     standing
	}{
		"it never arrived": {false, "tok_success", standing{"failed", "final", "not_started"}},
		"it is open there": {true, "tok_never", standing{"pending", "requested", ""}},
		"it is paid there": {true, "tok_success", succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tap := &tapped{charge: lost(c.arrives)}
			deaf := &answering{cancel: func() (payment.Outcome, error) { return payment.Outcome{}, errNoAnswer }}
			r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider { return deaf.on(tap.on(p)) }})
			id := r.paid(t, "A-1", c.token).ID
			require.Equal(t, unknown, standingOf(r.attempt(t, id)))
			r.age(t, id, time.Hour)
			p, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
			require.NoError(t, err)
			require.Equal(t, c.end, standingOf(p.Attempt))
			require.Contains(t, rows[string](t, r, "SELECT cause_id FROM attempt_transitions WHERE cause = 'check'"), "cancel")
			r.audit(t, "A-1")
		})
	}
}

// All calls of one operation together stay within the lease.
func TestTwoCallsFitIntoOneLease(t *testing.T) {
	t.Parallel()
	limits := make(chan time.Duration, 2)
	limit := func(ctx context.Context) {
		end, ok := ctx.Deadline()
		require.True(t, ok)
		limits <- time.Until(end)
	}
	clock := &atomic.Int64{}
	p := &tapped{charge: func(ctx context.Context, _ payment.Charge, _ func() (payment.Outcome, error)) (payment.Outcome, error) {
		limit(ctx)
		clock.Store(int64(20 * time.Second))
		return payment.Outcome{}, errNoAnswer
	}}
	found := func(of payment.Provider) payment.Provider { return finding{p.on(of), limit} }
	r := newRig(t, setup{silent: true, provider: found, change: func(o *payment.Options) {
		o.ProviderTimeout = 20 * time.Second
		o.Now = func() time.Time { return time.Now().Add(time.Duration(clock.Load())) }
	}})
	id := r.paid(t, "A-1", "tok_success").ID
	<-limits
	clock.Store(0)
	r.recheck(t, id)
	require.InDelta(t, 17, (<-limits).Seconds(), 3)
	require.InDelta(t, 7, (<-limits).Seconds(), 3, "what is left of the lease")
}

// finding shows the context of a look by reference.
type finding struct {
	payment.Provider

	limit func(context.Context)
}

func (f finding) Find(ctx context.Context, id payment.AttemptID) (payment.Outcome, error) {
	f.limit(ctx)
	return f.Provider.Find(ctx, id)
}

// sleepyCapture captures and then sleeps until it is woken.
type sleepyCapture struct {
	payment.Provider

	asleep, thaw chan struct{}
}

func (p sleepyCapture) Capture(ctx context.Context, c payment.Capture) (payment.Outcome, error) {
	out, err := p.Provider.Capture(ctx, c)
	p.asleep <- struct{}{}
	<-p.thaw
	return out, err
}

// A key is answered once: the runner whose key another has answered meanwhile says so.
func TestAnOvertakenCommandIsAnsweredAsARepeat(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	sleepy := sleepyCapture{r.opts.Accounts["sandbox"].Provider, make(chan struct{}), make(chan struct{})}
	slow := r.another(t, func(o *payment.Options) { o.Accounts = map[string]payment.Account{"sandbox": {Provider: sleepy}} })
	confirm := func(s *payment.Service) payment.Reply {
		reply, err := s.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), payment.Confirm{AttemptID: id})
		if err != nil {
			t.Error(err)
		}
		return reply
	}
	first := make(chan payment.Reply, 1)
	go func() { first <- confirm(slow) }()
	<-sleepy.asleep
	r.age(t, id, lease)
	r.exec(t, "UPDATE idempotency_keys SET lease_until = lease_until - $1::interval", lease)
	second := confirm(r.Service)
	require.Equal(t, idempotency.Created, second.Result)
	require.True(t, second.TookOver)
	close(sleepy.thaw)
	overtaken := <-first
	require.Equal(t, idempotency.Reused, overtaken.Result)
	require.False(t, overtaken.TookOver)
	require.Equal(t, "final", overtaken.Stage())
	r.audit(t, "A-1")
}
