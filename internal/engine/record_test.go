package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	t.Run("storage_gone", recordStorageGone)
	t.Run("commit_in_doubt", recordCommitInDoubt)
	t.Run("caller_gone", recordCallerGone)
	t.Run("gives_up_in_time", recordGivesUpInTime)
	t.Run("short_outage", recordShortOutage)
}

// A storage that is gone for a moment costs a pay its response no more than a commit in doubt.
func recordShortOutage(t *testing.T) {
	t.Parallel()
	var fails atomic.Int32
	s := &failing{before: func() error {
		if fails.Add(-1) >= 0 {
			return payment.ErrUnavailable
		}
		return nil
	}}
	p := &spy{charge: func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		defer fails.Store(4)
		return send()
	}}
	r := newEnv(t, setup{silent: true, store: s.on, provider: p.on, change: func(o *options) { stopped(o) }}) // it is short on a busy machine, too
	require.Equal(t, succeeded, standingOf(r.paid(t, "A-1", "tok_success").Attempt))
	require.EqualValues(t, 1, p.charges.Load())
}

// Commit 2 fails for good. The caller gets the error that the storage is unavailable, and the provider's result is found
// again with the same key.
func recordStorageGone(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.order(t, "A-1")
	var sent atomic.Bool
	broken := r.another(t, func(o *options) {
		p := &spy{Provider: o.Accounts["sandbox"].Provider}
		p.charge = func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
			defer sent.Store(true)
			return send()
		}
		o.Accounts = map[string]gateway.Account{"sandbox": {Provider: p}}
		o.Store = (&failing{before: func() error {
			if sent.Load() {
				return fmt.Errorf("%w: gone", payment.ErrUnavailable)
			}
			return nil
		}}).on(o.Store)
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

// Commit 2 took place and its result was lost: it is done again without harm.
func recordCommitInDoubt(t *testing.T) {
	t.Parallel()
	var lose atomic.Int32
	s := &failing{after: func() error {
		if lose.Add(-1) == 0 {
			return fmt.Errorf("%w: connection reset", payment.ErrUnavailable)
		}
		return nil
	}}
	r := newEnv(t, setup{silent: true, store: s.on})
	r.order(t, "A-1")
	lose.Store(2)
	paid := r.pay(t, "A-1", "first-key", "tok_success")
	require.Equal(t, succeeded, standingOf(paid.Attempt))
	require.Equal(t, 2, paid.Version)
	require.Equal(t, []string{"payment_attempt.succeeded"}, r.updates(t, paid.ID))
	r.audit(t, "A-1")
}

// From commit 1 on the caller's going away no longer counts.
func recordCallerGone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := &spy{charge: func(ctx context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		cancel()
		if ctx.Err() != nil {
			return gateway.Outcome{}, errors.New("the caller's end reached the call")
		}
		return send()
	}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	r.order(t, "A-1")
	paid, err := try(ctx, r.service, "A-1", "first-key", "tok_success")
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(paid.Attempt))
}

// A try that waits for a lock lasts as long as a statement may: ten of them would be far longer
// than a caller is to wait.
func recordGivesUpInTime(t *testing.T) {
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
	r := newEnv(t, setup{silent: true})
	r.order(t, "A-1")
	spied := &spy{charge: func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		start := time.Now()
		now.Store(&start)
		return send()
	}}
	stuck := r.another(t, func(o *options) {
		o.Store = store.on(o.Store)
		o.Accounts = map[string]gateway.Account{"sandbox": {Provider: spied.on(o.Accounts["sandbox"].Provider)}}
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
