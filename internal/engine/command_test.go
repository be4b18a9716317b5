package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	t.Run("account_is_gone", commandAccountIsGone)
	t.Run("lost_is_due_soon", commandLostIsDueSoon)
	t.Run("calls_fit_into_the_lease", commandCallsFitIntoTheLease)
	t.Run("overtaken_is_a_repeat", commandOvertakenIsARepeat)
	t.Run("overtaken_refund_not_sent", commandOvertakenRefundNotSent)
}

// held makes a payment with money that is authorized and not captured.
func (r *env) held(t *testing.T, order payment.OrderID) commands.Reply {
	t.Helper()
	r.order(t, order)
	p, err := r.Pay(t.Context(), customer, request("pay "+string(order), "first-key", "m"), commands.Pay{
		OrderID: order, Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureManual,
	})
	require.NoError(t, err)
	require.Equal(t, "authorized", p.Stage())
	return p
}

// A command with a lost call is due soon, though the attempt itself is old and checked once a
// day.
func commandLostIsDueSoon(t *testing.T) {
	t.Parallel()
	lost := func(p gateway.Provider) gateway.Provider {
		deaf := &answering{cancel: func() (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }}
		return deaf.on(lostCapture{p})
	}
	for name, command := range map[string]func(r *env, id payment.AttemptID) error{
		"capture": func(r *env, id payment.AttemptID) error {
			_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
			return err
		},
		"cancel": func(r *env, id payment.AttemptID) error {
			_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
			return err
		},
		"cancel the order": func(r *env, _ payment.AttemptID) error {
			_, _, err := r.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
			return err
		},
		"expire": func(r *env, id payment.AttemptID) error {
			r.longAgo(t, id, 8*24*time.Hour)
			r.recheck(t, id)
			r.recheck(t, id)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, setup{silent: true, provider: lost})
			id := r.held(t, "A-1").ID
			r.exec(t, "UPDATE operations SET tries = 9 WHERE open AND refund_id IS NULL")
			require.NoError(t, command(r, id))
			a := r.attempt(t, id)
			require.NotEqual(t, payment.OperationKind(""), a.Intent.Kind)
			require.LessOrEqual(t, a.NextCheckAt.Sub(a.ReadAt), time.Minute)
		})
	}
}

// A refund's runner that was overtaken before it sent anything fails nothing: the other one may
// have made the refund.
func commandOvertakenRefundNotSent(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	asleep, thaw := make(chan struct{}), make(chan struct{})
	var woken atomic.Bool
	slow := r.another(t, func(o *options) {
		p := &slowRefund{Provider: o.Accounts["sandbox"].Provider, asleep: asleep, thaw: thaw}
		o.Accounts = map[string]gateway.Account{"sandbox": {Provider: p}}
		o.Now = func() time.Time {
			if woken.Load() {
				return time.Now().Add(lease)
			}
			return time.Now()
		}
	})
	merchant := authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}
	answer := make(chan commands.RefundReply, 1)
	go func() {
		got, err := slow.Refund(t.Context(), merchant, request("refunds", "refund-key", ""), commands.CreateRefund{AttemptID: id})
		if err != nil {
			t.Error(err)
		}
		answer <- got
	}()
	<-asleep
	r.exec(t, "UPDATE operations SET lease_until = now(), next_at = now() WHERE kind = 'refund' AND open")
	due, err := r.DueRefunds(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, due, 1)
	blind := r.another(t, func(o *options) {
		p := &lostRefund{o.Accounts["sandbox"].Provider}
		o.Accounts = map[string]gateway.Account{"sandbox": {Provider: p}}
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

// slowRefund freezes before it sends a refund; lostRefund loses the response.
type (
	slowRefund struct {
		gateway.Provider

		asleep, thaw chan struct{}
	}
	lostRefund struct{ gateway.Provider }
)

func (p *slowRefund) Refund(ctx context.Context, c gateway.RefundCall) (gateway.RefundOutcome, error) {
	p.asleep <- struct{}{}
	<-p.thaw
	return p.Provider.Refund(ctx, c)
}

func (p *lostRefund) Refund(ctx context.Context, c gateway.RefundCall) (gateway.RefundOutcome, error) {
	_, _ = p.Provider.Refund(ctx, c)
	return gateway.RefundOutcome{}, errNoAnswer
}

// A command on an attempt of an account that is gone leaves nothing behind.
func commandAccountIsGone(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	done := r.paid(t, "A-2", "tok_success").ID
	without := r.another(t, func(o *options) { o.Accounts = nil })
	for name, command := range map[string]func(s *service) error{
		"refund": func(s *service) error {
			merchant := authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}
			_, err := s.Refund(t.Context(), merchant, request("refunds", "refund-key", ""), commands.CreateRefund{AttemptID: done})
			return err
		},
		"cancel the order": func(s *service) error {
			_, _, err := s.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
			return err
		},
		"cancel": func(s *service) error {
			_, err := s.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
			return err
		},
	} {
		var invalid *payment.ValidationError
		require.ErrorAs(t, command(without), &invalid, name)
		a := r.attempt(t, id)
		require.Equal(t, payment.OperationKind(""), a.Intent.Kind, name)
		require.Nil(t, a.LeaseUntil, name)
		require.Empty(t, rows[string](t, r, "SELECT key FROM idempotency_keys WHERE key IN ('cancel-key', 'refund-key')"), "the key was not used up")
	}
	require.Empty(t, rows[string](t, r, "SELECT refund_id::text FROM refunds"))
	require.Empty(t, rows[string](t, r, "SELECT order_id FROM orders WHERE cancel_requested_at IS NOT NULL"))
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
}

// All calls of one operation together stay within the lease.
func commandCallsFitIntoTheLease(t *testing.T) {
	t.Parallel()
	limits := make(chan time.Duration, 2)
	limit := func(ctx context.Context) {
		end, ok := ctx.Deadline()
		require.True(t, ok)
		limits <- time.Until(end)
	}
	clock := &atomic.Int64{}
	p := &spy{charge: func(ctx context.Context, _ gateway.Charge, _ func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		limit(ctx)
		clock.Store(int64(6 * time.Minute))
		return gateway.Outcome{}, errNoAnswer
	}}
	found := func(of gateway.Provider) gateway.Provider { return finding{p.on(of), limit} }
	r := newEnv(t, setup{silent: true, provider: found, change: func(o *options) {
		o.ProviderTimeout, o.Lease = 6*time.Minute, 10*time.Minute
		o.Now = func() time.Time { return time.Now().Add(time.Duration(clock.Load())) }
	}})
	id := r.paid(t, "A-1", "tok_success").ID
	<-limits
	clock.Store(0)
	began := time.Now()
	r.recheck(t, id)
	took := time.Since(began)
	for _, left := range []time.Duration{6 * time.Minute, 4 * time.Minute} { // the limit of a call, and what is left of the lease
		limit := <-limits
		require.LessOrEqual(t, limit, left)
		require.GreaterOrEqual(t, limit, left-took)
	}
}

// finding shows the context of a lookup by reference.
type finding struct {
	gateway.Provider

	limit func(context.Context)
}

func (f finding) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	f.limit(ctx)
	return f.Provider.Find(ctx, id)
}

// sleepyCapture captures and then sleeps until it is woken.
type sleepyCapture struct {
	gateway.Provider

	asleep, thaw chan struct{}
}

func (p sleepyCapture) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	out, err := p.Provider.Capture(ctx, c)
	p.asleep <- struct{}{}
	<-p.thaw
	return out, err
}

// A key has one response: a runner that another one has overtaken with its key reports a repeat.
func commandOvertakenIsARepeat(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	sleepy := sleepyCapture{r.opts.Accounts["sandbox"].Provider, make(chan struct{}), make(chan struct{})}
	slow := r.another(t, func(o *options) { o.Accounts = map[string]gateway.Account{"sandbox": {Provider: sleepy}} })
	confirm := func(s *service) commands.Reply {
		reply, err := s.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
		if err != nil {
			t.Error(err)
		}
		return reply
	}
	first := make(chan commands.Reply, 1)
	go func() { first <- confirm(slow) }()
	<-sleepy.asleep
	r.age(t, id, lease)
	r.exec(t, "UPDATE idempotency_keys SET lease_until = lease_until - $1::interval", lease)
	second := confirm(r.service)
	require.Equal(t, idempotency.Created, second.Result)
	require.True(t, second.TookOver)
	close(sleepy.thaw)
	overtaken := <-first
	require.Equal(t, idempotency.Reused, overtaken.Result)
	require.False(t, overtaken.TookOver)
	require.Equal(t, "final", overtaken.Stage())
	r.audit(t, "A-1")
}
