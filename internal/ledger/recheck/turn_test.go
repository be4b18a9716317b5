package recheck_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/recheck"
	"github.com/paylatch/paylatch/internal/payment"
)

const day = 24 * time.Hour

func TestTurn(t *testing.T) {
	t.Parallel()
	t.Run("each_age_once", turnEachAgeOnce)
	t.Run("which_attempts", turnWhichAttempts)
	t.Run("old_database", turnOldDatabase)
	t.Run("one_process_at_a_time", turnOneProcessAtATime)
	t.Run("budget", turnBudget)
	t.Run("due_operations_first", turnDueOperationsFirst)
	t.Run("held_back", turnHeldBack)
	t.Run("one_that_fails", turnOneThatFails)
	t.Run("provider_is_gone", turnProviderIsGone)
	t.Run("killed", turnKilled)
	t.Run("stopped", turnStopped)
	t.Run("overtaken", turnOvertaken)
	t.Run("slow_provider", turnSlowProvider)
}

// past pays an order and has the attempt begun so long ago. Attempts of one test get ages that differ.
func (r *env) past(t *testing.T, order payment.OrderID, says fsm.Event, ago time.Duration) payment.Attempt {
	t.Helper()
	return r.aged(t, r.pay(t, order, says), payment.AttemptID(payment.OnlyCell.NewIDAt(time.Now().Add(-ago))))
}

// many makes attempts that began an age ago, oldest first.
func (r *env) many(t *testing.T, n int) (all []payment.Attempt) {
	t.Helper()
	for i := range n {
		all = append(all, r.past(t, payment.OrderID(fmt.Sprintf("A-%d", i)), fsm.EventSucceeded, day+time.Duration(n-i)*time.Minute))
	}
	return all
}

func (r *env) turn(t *testing.T) {
	t.Helper()
	r.again(t)
	require.NoError(t, r.rechecker(r.Runner).Turn(t.Context(), account))
}

// begun is an env with cursors.
func begun(t *testing.T) *env {
	t.Helper()
	r := newEnv(t)
	r.turn(t)
	_, err := r.db.Exec(t.Context(), "UPDATE final_cursors SET after = $1", payment.OnlyCell.NewIDAt(time.Now().Add(-400*day)))
	require.NoError(t, err)
	return r
}

// The schedule finds a refund and a chargeback with lost webhooks, at the first age that comes.
func turnEachAgeOnce(t *testing.T) {
	t.Parallel()
	r := begun(t)
	a := r.past(t, "A-1", fsm.EventSucceeded, day-time.Minute)
	r.turn(t)
	require.Zero(t, r.asked(), "it is too young")
	for i, age := range []time.Duration{day, 7 * day, 30 * day, 120 * day} {
		for _, days := range []int{1, 7, 30, 120} { // as they were two minutes ago
			_, err := r.db.Exec(t.Context(), "UPDATE final_cursors SET after = $1 WHERE horizon_days = $2",
				payment.OnlyCell.NewIDAt(time.Now().Add(-time.Duration(days)*day-2*time.Minute)), days)
			require.NoError(t, err)
		}
		a = r.aged(t, a, payment.AttemptID(payment.OnlyCell.NewIDAt(time.Now().Add(-age-time.Minute))))
		if i == 0 {
			r.refund(a.ProviderPaymentID, "re_1", "", 700)
		} else {
			r.chargeBack(a.ProviderPaymentID, 100)
		}
		for range 2 {
			r.turn(t)
			require.Equal(t, i+1, r.counted[recheck.Changed])
			require.Zero(t, r.counted[recheck.Unchanged])
		}
		now := r.attempt(t, a.ID)
		require.EqualValues(t, 700, now.Refunded)
		require.EqualValues(t, i*100, now.Disputed)
	}
	require.Equal(t, 4, r.asked())
	require.ErrorIs(t, r.refunds(t.Context(), a.ID, "refund-1", 1000), payment.ErrRefundExceeds)
	r.requireVerified(t)
}

// Pending attempts, and attempts without a possible change at the provider, are left out. So are accounts without
// lookups.
func turnWhichAttempts(t *testing.T) {
	t.Parallel()
	r := begun(t)
	require.Equal(t, []string{account}, r.rechecker(r.Runner).Lookups())
	paid := r.past(t, "A-1", fsm.EventSucceeded, day+5*time.Minute)
	late := r.past(t, "A-2", fsm.EventFailed, day+4*time.Minute)
	for i, change := range []string{
		"provider_payment_id = ''",
		"status = 'pending', stage = 'requested', finalized_at = NULL",
		"account = 'webhooks only'",
	} {
		other := r.past(t, payment.OrderID(fmt.Sprintf("B-%d", i)), fsm.EventFailed, day+time.Duration(3-i)*time.Minute)
		_, err := r.db.Exec(t.Context(), "ALTER TABLE payment_attempts DISABLE TRIGGER ALL; UPDATE payment_attempts SET "+change+" WHERE attempt_id = '"+other.ID.String()+"'")
		require.NoError(t, err)
	}
	r.succeed(late.ProviderPaymentID)
	r.turn(t)
	require.Equal(t, []string{paid.ProviderPaymentID, late.ProviderPaymentID}, r.lookups)
	require.Equal(t, []string{"late_success"}, rows[string](t, r, "SELECT kind FROM discrepancies"))
	r.blind = true
	require.Empty(t, r.rechecker(r.Runner).Lookups())
}

// The first turn of an account begins a day before each age, not at the beginning.
func turnOldDatabase(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	for i, age := range []time.Duration{day, 7 * day, 30 * day, 120 * day} {
		r.past(t, payment.OrderID(fmt.Sprintf("new-%d", i)), fsm.EventSucceeded, age+23*time.Hour)
		r.past(t, payment.OrderID(fmt.Sprintf("old-%d", i)), fsm.EventSucceeded, age+25*time.Hour)
	}
	require.NoError(t, r.rechecker(r.Runner).Turn(t.Context(), account))
	require.Equal(t, 4, r.asked())
}

// However many processes there are, an account's turn is one's.
func turnOneProcessAtATime(t *testing.T) {
	t.Parallel()
	r := begun(t)
	r.many(t, 30)
	r.again(t)
	var all []func() error
	for range 8 {
		all = append(all, func() error { return r.rechecker(r.Runner).Turn(t.Context(), account) })
	}
	r.race(t, all...)
	require.Equal(t, 30, r.asked())
	require.NoError(t, r.rechecker(r.Runner).Turn(t.Context(), account))
	require.Zero(t, r.asked(), "the next turn begins a minute after this one")
}

func turnBudget(t *testing.T) {
	t.Parallel()
	r := begun(t)
	all := r.many(t, recheck.Budget+7)
	r.turn(t)
	require.Equal(t, recheck.Budget, r.asked())
	r.turn(t)
	require.Equal(t, []string{
		all[recheck.Budget].ProviderPaymentID, all[recheck.Budget+1].ProviderPaymentID, all[recheck.Budget+2].ProviderPaymentID, all[recheck.Budget+3].ProviderPaymentID,
		all[recheck.Budget+4].ProviderPaymentID, all[recheck.Budget+5].ProviderPaymentID, all[recheck.Budget+6].ProviderPaymentID,
	}, r.lookups)
}

// dueFirst is a runner with operations that are due.
type dueFirst struct {
	recheck.Runner
	due int
}

func (d dueFirst) Due(context.Context, string, int) ([]payment.OperationName, error) {
	return make([]payment.OperationName, d.due), nil
}

func turnDueOperationsFirst(t *testing.T) {
	t.Parallel()
	r := begun(t)
	r.many(t, 5)
	for _, tt := range []struct{ due, asked int }{{recheck.Budget, 0}, {recheck.Budget - 2, 2}, {0, 3}} {
		r.again(t)
		require.NoError(t, r.rechecker(dueFirst{r.Runner, tt.due}).Turn(t.Context(), account))
		require.Equal(t, tt.asked, r.asked())
	}
}

// A lookup that was held back ends the turn, and the next one begins with that attempt.
func turnHeldBack(t *testing.T) {
	t.Parallel()
	r := begun(t)
	all := r.many(t, 4)
	held := all[2].ProviderPaymentID
	r.failing(held, fmt.Errorf("%w: %w", gateway.ErrNotSent, gateway.ErrThrottled))
	for range 12 { // more often than a failing attempt is tried
		r.turn(t)
	}
	require.Equal(t, 2+12, r.asked())
	require.Equal(t, map[string]int{recheck.Unchanged: 2, recheck.HeldBack: 12}, r.counted)
	r.failing(held, nil)
	r.turn(t)
	require.Equal(t, []string{held, all[3].ProviderPaymentID}, r.lookups)
}

// An attempt that can't be looked up while others can is tried three times, counted, and passed over.
func turnOneThatFails(t *testing.T) {
	t.Parallel()
	r := begun(t)
	all := r.many(t, 4)
	r.failing(all[1].ProviderPaymentID, errors.New("502"))
	r.failing(all[2].ProviderPaymentID, gateway.ErrNoSuchPayment)
	r.turn(t)
	require.Equal(t, 3+3, r.asked())
	require.Equal(t, map[string]int{recheck.Unchanged: 2, recheck.NotFound: 1, recheck.Failed: 1}, r.counted)
	r.turn(t)
	require.Zero(t, r.asked())
}

// A provider that answers nothing ends the turn after three lookups, and costs one attempt in ten turns at most.
func turnProviderIsGone(t *testing.T) {
	t.Parallel()
	r := begun(t)
	all := r.many(t, 5)
	for _, a := range all {
		r.failing(a.ProviderPaymentID, errors.New("502"))
	}
	for range 9 {
		r.turn(t)
		require.Equal(t, 3, r.asked())
	}
	require.Empty(t, r.counted)
	r.turn(t)
	require.Equal(t, map[string]int{recheck.Failed: 1}, r.counted)
	for _, a := range all {
		r.failing(a.ProviderPaymentID, nil)
	}
	r.asked()
	r.turn(t)
	require.Equal(t, 4, r.asked())
	require.Equal(t, []int{0, 0, 0, 0}, rows[int](t, r, "SELECT misses FROM final_cursors"))
}

// killer is a process that dies in a lookup: nothing of it is written after that.
type killer struct {
	recheck.Runner
	left int
}

func (k *killer) Ask(ctx context.Context, id payment.AttemptID, cause payment.Cause) (payment.View, error) {
	if k.left--; k.left < 0 {
		panic("killed")
	}
	return k.Runner.Ask(ctx, id, cause)
}

// The work of a process that dies is repeated by another process after the turn. It repeats a batch at most, which
// changes nothing.
func turnKilled(t *testing.T) {
	t.Parallel()
	r := begun(t)
	for _, a := range r.many(t, 30) {
		r.chargeBack(a.ProviderPaymentID, 100)
	}
	r.again(t)
	require.PanicsWithValue(t, "killed", func() { _ = r.rechecker(&killer{r.Runner, 27}).Turn(t.Context(), account) })
	require.Equal(t, 27, r.asked())
	require.NoError(t, r.rechecker(r.Runner).Turn(t.Context(), account))
	require.Zero(t, r.asked(), "the turn is that of the process that died")
	r.turn(t)
	require.Equal(t, 10, r.asked(), "seven of them again")
	require.Equal(t, map[string]int{recheck.Changed: 30, recheck.Unchanged: 7}, r.counted)
	require.Equal(t, []int64{100}, rows[int64](t, r, "SELECT DISTINCT amount_disputed FROM payment_attempts"))
	r.requireVerified(t)
}

// A process that is stopped ends the lookup that is under way, begins no other, and keeps how far it got.
func turnStopped(t *testing.T) {
	t.Parallel()
	r := begun(t)
	all := r.many(t, 5)
	ctx, stop := context.WithCancel(t.Context())
	r.hook = func(id string) {
		if id == all[2].ProviderPaymentID {
			stop()
		}
	}
	r.chargeBack(all[2].ProviderPaymentID, 100)
	r.again(t)
	require.NoError(t, r.rechecker(r.Runner).Turn(ctx, account))
	require.EqualValues(t, 100, r.attempt(t, all[2].ID).Disputed)
	require.Equal(t, 3, r.asked())
	r.turn(t)
	require.Equal(t, 2, r.asked())
}

// A process whose turn is over does not move a cursor that another process has moved since.
func turnOvertaken(t *testing.T) {
	t.Parallel()
	r := begun(t)
	all := r.many(t, 5)
	r.hook = func(id string) {
		if id == all[1].ProviderPaymentID {
			r.hook = nil
			r.turn(t)
		}
	}
	r.turn(t)
	require.Equal(t, 5+5, r.asked())
	r.turn(t)
	require.Zero(t, r.asked())
}

// Nothing is begun in the last part of the turn.
func turnSlowProvider(t *testing.T) {
	t.Parallel()
	r := begun(t)
	r.many(t, 5)
	ahead, now := time.Duration(0), time.Now() // no time passes but that of the lookups
	r.now = func() time.Time { return now.Add(ahead) }
	r.hook = func(string) { ahead += 20 * time.Second }
	r.turn(t)
	require.Equal(t, 3, r.asked())
	r.turn(t)
	require.Equal(t, 2, r.asked())
}
