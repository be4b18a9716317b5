package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
)

// overseen is a process that shows of each lease whether it was taken after the late money of
// another attempt had been committed.
type overseen struct {
	gateway.Provider

	r *env
	// first is the attempt with money that comes late.
	first payment.AttemptID

	mu sync.Mutex
	// paid has, by attempt, kind and fence of each take, whether the late money was on disk
	// when the attempt's lock was taken.
	paid map[string]bool
	// sent counts the calls that take money, wrong lists the calls that must not have been sent.
	sent  int
	wrong []string
}

func (o *overseen) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	o.takes(ctx, c.Attempt, "charge")
	return o.Provider.Charge(ctx, c)
}

func (o *overseen) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	o.takes(ctx, c.Attempt, "capture")
	return o.Provider.Capture(ctx, c)
}

// takes records a call by the lease that it has.
func (o *overseen) takes(ctx context.Context, id payment.AttemptID, kind string) {
	var fence int64
	err := o.r.db.QueryRow(ctx, "SELECT fence FROM operations WHERE attempt_id = $1 AND kind = $2 ORDER BY number DESC LIMIT 1", id.String(), kind).Scan(&fence)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent++
	if err != nil || o.paid[fmt.Sprint(id, kind, fence)] {
		o.wrong = append(o.wrong, fmt.Sprintf("%s of %s with fence %d: %v", kind, id, fence, err))
	}
}

type overseenTx struct {
	allTx

	o    *overseen
	paid *bool
}

func (t overseenTx) AttemptLock(ctx context.Context, id payment.AttemptID) (payment.Attempt, payment.Order, error) {
	a, order, err := t.allTx.AttemptLock(ctx, id)
	if err != nil {
		return a, order, err
	}
	return a, order, t.o.r.db.QueryRow(ctx, "SELECT amount_captured > 0 FROM payment_attempts WHERE attempt_id = $1", t.o.first.String()).Scan(t.paid)
}

func (t overseenTx) Save(ctx context.Context, w changeset.Writes) error {
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	for _, a := range w.Attempts {
		taken := slices.Clone(a.Begun)
		for _, m := range a.Moved {
			taken = append(taken, m.Operation)
		}
		for _, op := range taken {
			if op.LeaseUntil != nil && op.State == fsm.OperationSent {
				t.o.paid[fmt.Sprint(op.AttemptID, string(op.Kind), op.Fence)] = *t.paid
			}
		}
	}
	return t.allTx.Save(ctx, w)
}

// oversee starts such a process.
func (r *env) oversee(t *testing.T) (*overseen, *service) {
	t.Helper()
	o := &overseen{r: r, Provider: r.opts.Accounts["sandbox"].Provider, paid: map[string]bool{}}
	return o, r.another(t, func(opts *options) {
		opts.Store = spyStore{store: opts.Store, wrap: func(tx allTx) allTx { return overseenTx{tx, o, new(bool)} }}
		opts.Accounts = map[string]gateway.Account{"sandbox": {Provider: o}}
	})
}

// A late success in one process, and a confirm of the other attempt, or a recheck that would
// send its lost call again, in another: nothing that takes money is sent under a lease that was
// taken after the late success was on disk, whichever is first, and no two wait for each other.
func lateSuccessStopsSiblingsAtOnce(t *testing.T) {
	t.Parallel()
	var lost atomic.Bool
	p := &spy{charge: func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		if lost.Load() {
			return gateway.Outcome{}, errNoAnswer
		}
		return send()
	}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	stopped := 0
	for round := 0; round < 60 || stopped == 0 && round < 600; round++ {
		order := payment.OrderID(fmt.Sprintf("A-%d", round))
		first := r.paid(t, order, "tok_decline").ID
		lost.Store(round%2 == 1)
		second := r.payAgain(t, order, "tok_success", payment.CaptureManual)
		lost.Store(false)
		o, other := r.oversee(t)
		o.first = first
		race(func() { r.say(t, first, webhooks.KindSucceeded) }, func() {
			_, err := other.Confirm(t.Context(), customer, request("confirm", "key-of-"+string(order), ""), commands.Confirm{AttemptID: second.ID})
			may(t, err, payment.ErrOrderPaid, payment.ErrBusy, payment.ErrNotCapturable)
		}, func() {
			_, err := other.Recheck(t.Context(), second.ID, byTest)
			may(t, err, payment.ErrBusy)
		})
		require.Empty(t, o.wrong, "round %d", round)
		require.EqualValues(t, price, r.attempt(t, first).Held())
		if a := r.attempt(t, second.ID); a.State.Final() {
			require.Equal(t, a.Succeeded(), slices.Contains(r.discrepancies(t, first), "double_success"), "round %d", round)
		} else {
			require.Equal(t, payment.OperationCancel, a.Intent.Kind, "round %d", round)
		}
		if o.sent == 0 {
			stopped++
		}
	}
	require.Positive(t, stopped, "at times the late success is first")
	r.noDeadlock(t)
}

// may requires an error to be nil or one of the allowed errors.
func may(t *testing.T, err error, allowed ...error) {
	t.Helper()
	for _, one := range allowed {
		if err == nil || errors.Is(err, one) {
			return
		}
	}
	t.Error(err)
}

// noDeadlock requires PostgreSQL to have undone nothing because of one. It ends all other
// sessions, which then have reported theirs.
func (r *env) noDeadlock(t *testing.T) {
	t.Helper()
	store, ok := r.store.(*postgres.Store)
	require.True(t, ok)
	store.Close()
	r.db.Close()
	conn, err := pgx.Connect(t.Context(), r.dsn)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	count := func(sql string) (n int) {
		require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&n))
		return n
	}
	require.Eventually(t, func() bool {
		return count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()") == 1
	}, waitFor, tick)
	require.Zero(t, count("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"))
}

// While a transaction decides about the order's live attempt, the late success of another attempt is neither committed
// nor acknowledged. That transaction may be about to send a call that takes money, and must be seen.
func lateSuccessWaitsForLockedSiblings(t *testing.T) {
	t.Parallel()
	tries := make(chan struct{}, 1000)
	store := &failing{}
	r := newEnv(t, setup{silent: true, store: store.on})
	first := r.paid(t, "A-1", "tok_decline").ID
	slow := r.freeze(t, false)
	r.order(t, "A-2")
	answered := slow.pay(t, "A-2", "tok_success")
	require.Equal(t, fsm.Applied, r.say(t, answered, webhooks.KindFailed))
	beside := map[payment.AttemptID]payment.AttemptID{
		first: r.payAgain(t, "A-1", "tok_success", payment.CaptureManual).ID, answered: r.payAgain(t, "A-2", "tok_success", payment.CaptureManual).ID,
	}
	told := make(chan fsm.Verdict, 1)
	require.NoError(t, r.store.InTx(t.Context(), func(ctx context.Context, tx runner.Tx) error {
		for _, second := range beside {
			if _, _, err := tx.AttemptLock(ctx, second); err != nil {
				return err
			}
		}
		store.before = func() error {
			select {
			case tries <- struct{}{}:
			default:
			}
			return nil
		}
		go func() {
			verdicts, err := r.Intake(t.Context(), received(nil, event(webhooks.KindSucceeded, first.String())))
			if err != nil {
				t.Error(err)
			}
			told <- slices.Concat(verdicts, []fsm.Verdict{""})[0]
		}()
		for range 4 { // two tries, each without and then left out
			<-tries
		}
		require.Empty(t, told)
		require.Zero(t, r.attempt(t, first).Held())
		go slow.wake(0, 0)
		require.Eventually(t, func() bool {
			return rows[int](t, r, "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")[0] > 0
		}, waitFor, tick)
		require.Zero(t, r.attempt(t, answered).Held())
		return nil
	}))
	require.Equal(t, fsm.Conflict, <-told)
	require.Eventually(t, func() bool { return r.attempt(t, answered).Held() > 0 }, waitFor, tick)
	for late, second := range beside {
		require.EqualValues(t, price, r.attempt(t, late).Held())
		require.Equal(t, payment.OperationCancel, r.attempt(t, second).Intent.Kind)
		require.ErrorIs(t, r.confirm(t, second, "key-of-"+second.String()), payment.ErrOrderPaid)
	}
}
