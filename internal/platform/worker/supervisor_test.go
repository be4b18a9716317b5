package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/worker"
)

var errGone = errors.New("storage gone")

// outage fails everything that loops do while the storage is gone.
type outage struct {
	gone  atomic.Bool
	turns atomic.Int64
}

func (o *outage) err() error {
	o.turns.Add(1)
	if o.gone.Load() {
		return errGone
	}
	return nil
}

func (o *outage) DueAccounts(context.Context) ([]string, error) { return nil, o.err() }

func (*outage) Due(context.Context, string, int) ([]payment.OperationName, error) { return nil, nil }

func (*outage) Execute(context.Context, payment.OperationName, payment.Cause) (a payment.Attempt, err error) {
	return a, nil
}

func (o *outage) RetryParked(context.Context, int) ([]payment.StoredEvent, error) {
	return nil, o.err()
}

func (*outage) Fetch(context.Context, payment.StoredEvent) error { return nil }
func (o *outage) Flush(context.Context) error                    { return o.err() }

func (o *outage) SaveLastWebhooks(context.Context) error { return o.err() }

func (*outage) Stale(context.Context) ([]intake.StaleAccount, error) { return nil, nil }

func (o *outage) PurgeKeys(context.Context, int) (int, error) { return 0, o.err() }

func (o *outage) Refresh(context.Context) (int, error) { return 0, o.err() }

func (o *outage) Age(context.Context, time.Duration) (bool, error) { return false, o.err() }

func (o *outage) PurgeSessions(context.Context, int) (int, error) { return 0, o.err() }

func (o *outage) PurgeDetails(context.Context, time.Duration, int) (int, error) { return 0, o.err() }

func (o *outage) PurgeRequests(context.Context, time.Duration, int) (int, error) { return 0, o.err() }

// supervise runs loops until the test ends.
func supervise(t *testing.T, loops ...worker.Loop) *worker.Supervisor {
	t.Helper()
	s := worker.New(zerolog.Nop(), loops...)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return s
}

func TestOnlyLoopsThatPaymentsNeedAreUnhealthy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var o outage
		o.gone.Store(true)
		s := supervise(t, worker.Reconcile(&o, time.Second, zerolog.Nop()),
			worker.RetryParked(&o), worker.WriteNotes(&o), worker.Stale(&o, func(map[string]int) {}),
			worker.PurgeKeys(&o, func(int) {}), worker.RefreshDataKeys(&o, zerolog.Nop()), worker.AgeEventBytes(&o, time.Hour), worker.PurgeSessions(&o), worker.PurgeRequests(&o, time.Hour), worker.PurgeDetails(&o))
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"reconcile", "parked"}, s.Unhealthy())

		o.gone.Store(false)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Empty(t, s.Unhealthy())
	})
}

func TestAFailedLoopTriesAgainSoon(t *testing.T) {
	t.Parallel()
	for name, every := range map[string]time.Duration{"a rare one after 5 s": time.Hour, "a frequent one at its turn": time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var o outage
				o.gone.Store(true)
				supervise(t, worker.Reconcile(&o, every, zerolog.Nop()))
				turns := func(d time.Duration) int64 {
					before := o.turns.Load()
					time.Sleep(d)
					synctest.Wait()
					return o.turns.Load() - before
				}
				require.EqualValues(t, 1, turns(every))
				again := min(every, 5*time.Second)
				require.EqualValues(t, 2, turns(2*again))
				o.gone.Store(false)
				require.EqualValues(t, 1, turns(again))
				require.EqualValues(t, 3, turns(3*every), "what works keeps its pace")
			})
		})
	}
}

func TestALoopThatFailsFiveTimesInARowIsUnhealthy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var o outage
		s := supervise(t, worker.Reconcile(&o, time.Second, zerolog.Nop()))
		turns := func(gone bool, times int) {
			o.gone.Store(gone)
			time.Sleep(time.Duration(times) * time.Second)
			synctest.Wait()
		}
		turns(true, 4)
		require.Empty(t, s.Unhealthy())
		turns(false, 1)
		turns(true, 4)
		require.Empty(t, s.Unhealthy(), "not in a row")
		turns(true, 1)
		require.Equal(t, []string{"reconcile"}, s.Unhealthy())
	})
}

// A loop that always has more to do ends as any other does.
func TestABusyLoopEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		turns := 0
		busy := worker.Loop{Name: "busy", Every: time.Second, Do: func(context.Context) (bool, error) {
			if turns++; turns == 3 {
				cancel()
			}
			return turns < 100, nil
		}}
		require.NoError(t, worker.New(zerolog.Nop(), busy).Run(ctx))
		require.Equal(t, 3, turns)
	})
}
