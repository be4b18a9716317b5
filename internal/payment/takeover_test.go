package payment_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	provider "github.com/paylatch/paylatch/internal/provider/sandbox"
	"github.com/paylatch/paylatch/webhooks"
)

// frozen is a process that stands still around its call to the provider.
type frozen struct {
	*payment.Service

	// asleep gets the attempt when it freezes; thaw wakes it.
	asleep chan payment.AttemptID
	thaw   chan struct{}
	// written counts the bytes that it sent to the provider.
	written atomic.Int64
	clock   atomic.Pointer[time.Time]
	answer  chan payment.Reply
}

// freeze starts a process that freezes before or after its call.
func (r *rig) freeze(t *testing.T, before bool) *frozen {
	t.Helper()
	f := &frozen{asleep: make(chan payment.AttemptID, 1), thaw: make(chan struct{}), answer: make(chan payment.Reply, 1)}
	transport := &http.Transport{DialContext: f.dial}
	t.Cleanup(transport.CloseIdleConnections)
	p := &tapped{Provider: provider.New(r.box, &http.Client{Transport: transport})}
	p.charge = func(_ context.Context, c payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
		if before {
			f.sleep(c.Attempt)
			return send()
		}
		defer f.sleep(c.Attempt)
		return send()
	}
	f.Service = r.another(t, func(o *payment.Options) {
		o.Now = f.now
		o.Accounts = map[string]payment.Account{"sandbox": {Provider: p}}
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
		p, err := try(t.Context(), f.Service, order, "first-key", token)
		if err != nil {
			t.Error(err)
		}
		f.answer <- p
	}()
	return <-f.asleep
}

// wake lets the process go on, its clocks having moved, and returns its answer.
func (f *frozen) wake(wall, monotonic time.Duration) payment.Reply {
	now := shifted(time.Now(), wall, monotonic)
	f.clock.Store(&now)
	close(f.thaw)
	return <-f.answer
}

// A process frozen past its lease: another takes over, by the client's retry or
// by the reconciler, and when it wakes it sends nothing, by whichever clock it
// can tell. Its idea that nothing was sent fails nothing.
func TestAFrozenProcessSendsNothingWhenItWakes(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
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
		require.Equal(t, succeeded, standingOf(before))
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
func TestAnOvertakenRunnersNothingSentFailsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
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
	blind := r.another(t, func(o *payment.Options) {
		p := &tapped{Provider: o.Accounts["sandbox"].Provider, can: func(c *payment.Capabilities) { c.Find = false }}
		o.Accounts = map[string]payment.Account{"sandbox": {Provider: p}}
	})
	_, err := blind.Recheck(t.Context(), id, byTest)
	require.NoError(t, err)
	answer = third.wake(lease, lease)
	require.Equal(t, unknown, standingOf(answer.Attempt), "money may have moved")
	r.audit(t, "A-2")
}

// What a provider answered is a fact, whoever brings it and however late; the
// lease and the schedule stay the new runner's.
func TestAnOvertakenRunnersOutcomeIsAppliedAllTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
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
		require.Equal(t, want, standingOf(r.attempt(t, id)))
		r.audit(t, order)
	}
	require.Len(t, r.ledger(t), 1)
}

// The process dies between commit 1 and the call, or between the call and commit
// 2; the person presses pay again.
func TestADeathAroundTheCallIsResumed(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	for _, sent := range []bool{false, true} {
		order := payment.OrderID(fmt.Sprintf("A-%t", sent))
		r.order(t, order)
		mortal := r.another(t, func(o *payment.Options) {
			p := &tapped{Provider: o.Accounts["sandbox"].Provider}
			p.charge = func(_ context.Context, _ payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
				if sent {
					_, _ = send()
				}
				panic("killed")
			}
			o.Accounts = map[string]payment.Account{"sandbox": {Provider: p}}
		})
		require.PanicsWithValue(t, "killed", func() { _, _ = try(t.Context(), mortal, order, "first-key", "tok_success") })
		o, err := r.store.Order(t.Context(), order)
		require.NoError(t, err)
		id := o.Attempts[0].ID
		_, err = try(t.Context(), r.Service, order, "second-key", "tok_success")
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

// While its runner may be alive, a retry waits and then answers with the pending
// attempt: it sends nothing.
func TestARetryWithinTheLeaseSendsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true, change: func(o *payment.Options) { o.Wait = 300 * time.Millisecond }})
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

// Commit 2 fails for good: the caller is told that the storage is gone, and what
// the provider did is found again with the same key.
func TestAnOutcomeThatCouldNotBeStoredIsFoundAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	r.order(t, "A-1")
	var sent atomic.Bool
	broken := r.another(t, func(o *payment.Options) {
		p := &tapped{Provider: o.Accounts["sandbox"].Provider}
		p.charge = func(_ context.Context, _ payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
			defer sent.Store(true)
			return send()
		}
		o.Accounts = map[string]payment.Account{"sandbox": {Provider: p}}
		o.Store = &failing{Store: o.Store, before: func() error {
			if sent.Load() {
				return fmt.Errorf("%w: gone", payment.ErrUnavailable)
			}
			return nil
		}}
	})
	_, err := try(t.Context(), broken, "A-1", "first-key", "tok_success")
	require.ErrorIs(t, err, payment.ErrUnavailable)
	require.Len(t, r.ledger(t), 1)
	o, err := r.store.Order(t.Context(), "A-1")
	require.NoError(t, err)
	require.Equal(t, requested, standingOf(o.Attempts[0]))
	r.age(t, o.Attempts[0].ID, lease)
	again := r.pay(t, "A-1", "first-key", "tok_success")
	require.Equal(t, succeeded, standingOf(again.Attempt))
	r.audit(t, "A-1")
}

// Commit 2 took place but nobody learnt of it: it is done again without harm.
func TestACommitInDoubtIsDoneAgain(t *testing.T) {
	t.Parallel()
	var lose atomic.Int32
	s := &failing{after: func() error {
		if lose.Add(-1) == 0 {
			return fmt.Errorf("%w: connection reset", payment.ErrUnavailable)
		}
		return nil
	}}
	r := newRig(t, setup{silent: true, store: s.on})
	r.order(t, "A-1")
	lose.Store(2)
	paid := r.pay(t, "A-1", "first-key", "tok_success")
	require.Equal(t, succeeded, standingOf(paid.Attempt))
	require.Equal(t, 2, paid.Version)
	require.Equal(t, []string{"payment_attempt.succeeded"}, r.news(t, paid.ID))
	r.audit(t, "A-1")
}

// From commit 1 on the caller's going away no longer counts.
func TestACallerWhoGoesAwayDoesNotStopThePayment(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := &tapped{charge: func(ctx context.Context, _ payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
		cancel()
		if ctx.Err() != nil {
			return payment.Outcome{}, errors.New("the caller's end reached the call")
		}
		return send()
	}}
	r := newRig(t, setup{silent: true, provider: p.on})
	r.order(t, "A-1")
	paid, err := try(ctx, r.Service, "A-1", "first-key", "tok_success")
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(paid.Attempt))
}

// A check while the attempt's webhook decides it changes nothing that it said.
func TestAFinalAttemptIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	r.say(t, id, webhooks.KindSucceeded)
	before := r.attempt(t, id)
	v := r.recheck(t, id)
	require.Equal(t, before.Fence, v.Fence)
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Empty(t, due)
}

// A try behind somebody's lock lasts as long as a statement may: ten of them would be
// far longer than a caller was told to wait.
func TestTheAnswerOfAProviderIsNotStoredForMinutes(t *testing.T) {
	t.Parallel()
	var now atomic.Pointer[time.Time]
	var tries atomic.Int32
	store := &failing{before: func() error {
		at := now.Load()
		if at == nil {
			return nil
		}
		later := at.Add(5 * time.Second)
		now.Store(&later)
		tries.Add(1)
		return payment.ErrUnavailable
	}}
	r := newRig(t, setup{silent: true})
	r.order(t, "A-1")
	tap := &tapped{charge: func(_ context.Context, _ payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
		start := time.Now()
		now.Store(&start)
		return send()
	}}
	stuck := r.another(t, func(o *payment.Options) {
		o.Store = store.on(o.Store)
		o.Accounts = map[string]payment.Account{"sandbox": {Provider: tap.on(o.Accounts["sandbox"].Provider)}}
		o.Now = func() time.Time {
			if at := now.Load(); at != nil {
				return *at
			}
			return time.Now()
		}
	})
	_, err := try(t.Context(), stuck, "A-1", "first-key", "tok_success")
	require.ErrorIs(t, err, payment.ErrUnavailable)
	require.LessOrEqual(t, tries.Load(), int32(3), "one that is shared, and those that are begun within five seconds")
	require.Len(t, r.ledger(t), 1)
}
