package engine_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	provider "github.com/paylatch/paylatch/internal/provider/sandbox"
)

func TestTakeOver(t *testing.T) {
	t.Parallel()
	t.Run("frozen_process_sends_nothing", takeOverFrozenProcessSendsNothing)
	t.Run("frozen_and_not_overtaken", takeOverFrozenAndNotOvertaken)
	t.Run("not_sent_fails_nothing", takeOverNotSentFailsNothing)
	t.Run("late_result_is_applied", takeOverLateResultIsApplied)
	t.Run("crash_around_the_call", takeOverCrashAroundTheCall)
	t.Run("retry_within_the_lease", takeOverRetryWithinTheLease)
}

// frozen is a process that stands still around its call to the provider.
type frozen struct {
	*service

	// asleep gets the attempt when it freezes; thaw wakes it.
	asleep chan payment.AttemptID
	thaw   chan struct{}
	// written counts the bytes that it sent to the provider.
	written atomic.Int64
	clock   atomic.Pointer[time.Time]
	answer  chan commands.Reply
}

// freeze starts a process that freezes before or after its call.
func (r *env) freeze(t *testing.T, before bool) *frozen {
	t.Helper()
	f := &frozen{asleep: make(chan payment.AttemptID, 1), thaw: make(chan struct{}), answer: make(chan commands.Reply, 1)}
	transport := &http.Transport{DialContext: f.dial}
	t.Cleanup(transport.CloseIdleConnections)
	p := &spy{Provider: provider.New(r.box, "", &http.Client{Transport: transport})}
	p.charge = func(_ context.Context, c gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		if before {
			f.sleep(c.Attempt)
			return send()
		}
		defer f.sleep(c.Attempt)
		return send()
	}
	f.service = r.another(t, func(o *options) {
		o.Now = f.now
		o.Accounts = map[string]gateway.Account{"sandbox": {Provider: p}}
	})
	return f
}

func (f *frozen) sleep(id payment.AttemptID) {
	f.asleep <- id
	<-f.thaw
}

func (f *frozen) now() time.Time {
	if at := f.clock.Load(); at != nil {
		return *at
	}
	return time.Now()
}

func (f *frozen) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	return metered{c, &f.written}, err
}

type metered struct {
	net.Conn

	written *atomic.Int64
}

func (c metered) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

// pay begins a payment and returns its attempt once the process is asleep.
func (f *frozen) pay(t *testing.T, order payment.OrderID, token string) payment.AttemptID {
	t.Helper()
	go func() {
		p, err := try(t.Context(), f.service, order, "first-key", token)
		if err != nil {
			t.Error(err)
		}
		f.answer <- p
	}()
	return <-f.asleep
}

// wake lets the process go on, its clocks having moved, and returns its reply.
func (f *frozen) wake(wall, monotonic time.Duration) commands.Reply {
	now := shifted(time.Now(), wall, monotonic)
	f.clock.Store(&now)
	close(f.thaw)
	return <-f.answer
}

// A process frozen past its lease: another takes over, by the client's retry or by the
// reconciler, and when it wakes it sends nothing, by whichever clock that shows. Its inference
// that nothing was sent fails nothing.
func takeOverFrozenProcessSendsNothing(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	retry := func(order payment.OrderID, _ payment.AttemptID) { r.pay(t, order, "first-key", "tok_success") }
	reconcile := func(_ payment.OrderID, id payment.AttemptID) {
		due, err := r.Due(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, []payment.AttemptID{id}, due)
		r.recheck(t, id)
	}
	for i, c := range []struct {
		takeOver        func(payment.OrderID, payment.AttemptID)
		wall, monotonic time.Duration
	}{{retry, lease, lease}, {retry, lease, 0}, {retry, 0, lease}, {reconcile, lease, lease}} {
		order := payment.OrderID(fmt.Sprintf("A-%d", i))
		r.order(t, order)
		f := r.freeze(t, true)
		id := f.pay(t, order, "tok_success")
		_, err := r.Recheck(t.Context(), id, byTest)
		require.ErrorIs(t, err, payment.ErrBusy, "its lease is alive")
		r.age(t, id, lease)
		c.takeOver(order, id)
		before := r.attempt(t, id)
		require.Equal(t, succeeded, standingOf(before.Attempt))
		require.EqualValues(t, 2, before.Fence)

		answer := f.wake(c.wall, c.monotonic)
		require.Equal(t, succeeded, standingOf(answer.Attempt), "it answers with the truth")
		require.Zero(t, f.written.Load(), "not one byte, case %d", i)
		require.Equal(t, before.Version, r.attempt(t, id).Version)
		r.audit(t, order)
		require.Len(t, r.ledger(t), i+1)
	}
}

// "Nothing was sent" is true of one call of one runner: once another has the
// attempt, it fails nothing, be that one's call under way or its outcome unknown.
func takeOverNotSentFailsNothing(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.order(t, "A-1")
	first := r.freeze(t, true)
	id := first.pay(t, "A-1", "tok_success")
	r.age(t, id, lease)

	second := r.freeze(t, true)
	checked := make(chan payment.View, 1)
	go func() {
		v, err := second.Recheck(t.Context(), id, byTest)
		if err != nil {
			t.Error(err)
		}
		checked <- v
	}()
	<-second.asleep
	held := r.attempt(t, id)
	answer := first.wake(lease, lease)
	require.Equal(t, requested, standingOf(answer.Attempt))
	now := r.attempt(t, id)
	require.Equal(t, held.LeaseUntil, now.LeaseUntil, "the second runner's lease is its own")
	require.Equal(t, held.Fence, now.Fence)
	close(second.thaw)
	v := <-checked
	require.Equal(t, succeeded, standingOf(v.Attempt))
	r.audit(t, "A-1")

	r.order(t, "A-2")
	third := r.freeze(t, true)
	id = third.pay(t, "A-2", "tok_500_charged")
	r.age(t, id, lease)
	blind := r.another(t, func(o *options) {
		p := &spy{Provider: o.Accounts["sandbox"].Provider, can: func(c *payment.Capabilities) { c.Lookup = payment.LookupByID }}
		o.Accounts = map[string]gateway.Account{"sandbox": {Provider: p}}
	})
	_, err := blind.Recheck(t.Context(), id, byTest)
	require.NoError(t, err)
	answer = third.wake(lease, lease)
	require.Equal(t, unknown, standingOf(answer.Attempt), "money may have moved")
	r.audit(t, "A-2")
}

// A provider's result is a fact, from any runner and at any time; the lease and the schedule stay the new runner's.
func takeOverLateResultIsApplied(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	for token, want := range map[string]standing{"tok_success": succeeded, "tok_decline": declined, "tok_never": requested} {
		order := payment.OrderID(token)
		r.order(t, order)
		first := r.freeze(t, false)
		id := first.pay(t, order, token)
		require.Empty(t, r.attempt(t, id).ProviderPaymentID)
		r.age(t, id, lease)
		second := r.freeze(t, true)
		checked := make(chan error, 1)
		go func() {
			_, err := second.Recheck(t.Context(), id, byTest)
			checked <- err
		}()
		<-second.asleep
		held := r.attempt(t, id)
		answer := first.wake(lease, lease)
		require.Equal(t, want, standingOf(answer.Attempt))
		require.NotEmpty(t, answer.ProviderPaymentID)
		if now := r.attempt(t, id); !now.State.Final() {
			require.Equal(t, held.LeaseUntil, now.LeaseUntil)
			require.Equal(t, held.NextCheckAt, now.NextCheckAt)
			require.Equal(t, held.Fence, now.Fence)
		}
		close(second.thaw)
		require.NoError(t, <-checked)
		require.Equal(t, want, standingOf(r.attempt(t, id).Attempt))
		r.audit(t, order)
	}
	require.Len(t, r.ledger(t), 1)
}

// The process dies between commit 1 and the call, or between the call and commit 2; the customer
// pays again.
func takeOverCrashAroundTheCall(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	for _, sent := range []bool{false, true} {
		order := payment.OrderID(fmt.Sprintf("A-%t", sent))
		r.order(t, order)
		mortal := r.another(t, func(o *options) {
			p := &spy{Provider: o.Accounts["sandbox"].Provider}
			p.charge = func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
				if sent {
					_, _ = send()
				}
				panic("killed")
			}
			o.Accounts = map[string]gateway.Account{"sandbox": {Provider: p}}
		})
		require.PanicsWithValue(t, "killed", func() { _, _ = try(t.Context(), mortal, order, "first-key", "tok_success") })
		o, err := r.store.Order(t.Context(), order)
		require.NoError(t, err)
		id := o.Attempts[0].ID
		_, err = try(t.Context(), r.service, order, "second-key", "tok_success")
		var busy *payment.InProgressError
		require.ErrorAs(t, err, &busy, "with a new key: the first is still live")
		require.Equal(t, id, busy.Attempt.ID)
		r.age(t, id, lease)
		again := r.pay(t, order, "first-key", "tok_success")
		require.Equal(t, id, again.ID)
		require.Equal(t, succeeded, standingOf(again.Attempt))
		r.audit(t, order)
	}
	require.Len(t, r.ledger(t), 2)
}

// While its runner may be alive, a retry waits and then returns the pending attempt: it sends
// nothing.
func takeOverRetryWithinTheLease(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, change: func(o *options) { o.Wait = 300 * time.Millisecond }})
	r.order(t, "A-1")
	f := r.freeze(t, true)
	id := f.pay(t, "A-1", "tok_success")
	again := r.pay(t, "A-1", "first-key", "tok_success")
	require.Equal(t, id, again.ID)
	require.Equal(t, requested, standingOf(again.Attempt))
	require.Empty(t, r.ledger(t))
	answer := f.wake(0, 0)
	require.Equal(t, succeeded, standingOf(answer.Attempt))
}

// A process that was frozen past its lease, and was not overtaken, has sent nothing.
func takeOverFrozenAndNotOvertaken(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.order(t, "A-1")
	f := r.freeze(t, true)
	id := f.pay(t, "A-1", "tok_success")
	require.Equal(t, notStarted, standingOf(f.wake(lease, lease).Attempt))
	require.Zero(t, f.written.Load())
	r.audit(t, "A-1")
	require.Equal(t, notStarted, standingOf(r.attempt(t, id).Attempt))
}
