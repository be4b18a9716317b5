package worker_test

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/worker"
)

// places are two accounts. The provider of the first responds in 500 ms, and 64 operations are due. The second has a
// single due operation.
type places struct {
	began time.Time
	quick payment.OperationName

	mu     sync.Mutex
	due    map[string][]payment.OperationName
	waited time.Duration
}

func newPlaces() *places {
	p := &places{began: time.Now(), due: map[string][]payment.OperationName{"slow": newDesk(64).due, "swift": newDesk(1).due}}
	p.quick = p.due["swift"][0]
	return p
}

func (p *places) DueAccounts(context.Context) (accounts []string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for account, due := range p.due {
		if len(due) > 0 {
			accounts = append(accounts, account)
		}
	}
	return accounts, nil
}

func (p *places) Due(_ context.Context, account string, limit int) ([]payment.OperationName, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	due := p.due[account][:min(limit, len(p.due[account]))]
	p.due[account] = p.due[account][len(due):]
	return due, nil
}

func (p *places) Execute(_ context.Context, name payment.OperationName, _ payment.Cause) (a payment.Attempt, err error) {
	if name == p.quick {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.waited = time.Since(p.began)
		return a, nil
	}
	time.Sleep(500 * time.Millisecond)
	return a, nil
}

// A slow provider with many due operations delays another account's operations by no more than one of its own operations
// takes.
func TestOnePlaceSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces()
		turn(t, t.Context(), worker.Reconcile(p, time.Second, zerolog.Nop()))
		require.Less(t, p.waited, 500*time.Millisecond)
		require.Equal(t, 4*time.Second, time.Since(p.began), "64 of 8 at a time")
	})
}

// An operation that becomes due while the slow account is at work is carried out at the
// next turn, not after it.
func TestOnePlaceSlowLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces()
		late := p.due["swift"]
		p.due["swift"] = nil
		loop := worker.Reconcile(p, time.Second, zerolog.Nop())
		_, err := loop.Do(t.Context())
		require.NoError(t, err)
		synctest.Wait()
		p.mu.Lock()
		p.due["swift"] = late
		p.mu.Unlock()
		turn(t, t.Context(), loop)
		require.Less(t, p.waited, 500*time.Millisecond)
	})
}

// panickier is a desk whose first operation panics.
type panickier struct {
	*desk

	first payment.OperationName
}

func (p panickier) Execute(ctx context.Context, name payment.OperationName, cause payment.Cause) (payment.Attempt, error) {
	if name == p.first {
		panic("in an operation")
	}
	return p.desk.Execute(ctx, name, cause)
}

// A panic in an operation, a fetch or a loop ends neither the others nor the process, and is in
// the log.
func TestPanicIsOneItems(t *testing.T) {
	t.Parallel()
	t.Run("operation", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(3)
			var lines bytes.Buffer
			turn(t, t.Context(), worker.Reconcile(panickier{d, d.due[0]}, time.Second, zerolog.New(&lines)))
			require.Equal(t, map[payment.Cause]int{{Kind: payment.CauseCheck, ID: "reconcile"}: 2}, d.causes)
			require.Contains(t, lines.String(), "in an operation")
		})
	})
	t.Run("loop", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			turns := 0
			s := supervise(t, worker.Loop{Name: "odd", Every: time.Second, Essential: true, Do: func(context.Context) (bool, error) {
				turns++
				panic("in a loop")
			}})
			time.Sleep(time.Minute)
			synctest.Wait()
			require.Greater(t, turns, 10)
			require.Equal(t, []string{"odd"}, s.Unhealthy())
		})
	})
	t.Run("fetch", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var o oddFetch
			loop := worker.RetryParked(&o)
			turn(t, t.Context(), loop)
			_, err := loop.Do(t.Context())
			require.ErrorContains(t, err, "in a fetch")
			require.EqualValues(t, 1, o.fetched.Load())
		})
	})
}

// oddFetch has two events of one account. The first panics.
type oddFetch struct {
	outage

	listed  bool
	fetched atomic.Int64
}

func (o *oddFetch) RetryParked(context.Context, int) (events []payment.StoredEvent, _ error) {
	if o.listed {
		return nil, nil
	}
	o.listed = true
	for i := range 2 {
		e := payment.StoredEvent{ID: payment.EventID{byte(i)}}
		e.Event.NeedsFetch = true
		events = append(events, e)
	}
	return events, nil
}

func (o *oddFetch) Fetch(_ context.Context, e payment.StoredEvent) error {
	if e.ID == (payment.EventID{}) {
		panic("in a fetch")
	}
	o.fetched.Add(1)
	return nil
}
