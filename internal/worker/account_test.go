package worker_test

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/worker"
)

// places are two accounts: one whose provider answers in 500 ms, with 64 attempts due,
// and one with a single attempt due.
type places struct {
	payment.View

	began time.Time
	quick payment.AttemptID

	mu     sync.Mutex
	due    map[string][]payment.AttemptID
	waited time.Duration
}

func newPlaces() *places {
	p := &places{began: time.Now(), due: map[string][]payment.AttemptID{}, quick: payment.AttemptID(uuid.Must(uuid.NewV7()))}
	for range 64 {
		p.due["slow"] = append(p.due["slow"], payment.AttemptID(uuid.Must(uuid.NewV7())))
	}
	p.due["swift"] = []payment.AttemptID{p.quick}
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

func (p *places) Due(_ context.Context, account string, limit int) ([]payment.AttemptID, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	due := p.due[account][:min(limit, len(p.due[account]))]
	p.due[account] = p.due[account][len(due):]
	return due, nil
}

func (p *places) Recheck(_ context.Context, id payment.AttemptID, _ payment.Cause) (payment.View, error) {
	if id == p.quick {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.waited = time.Since(p.began)
		return p.View, nil
	}
	time.Sleep(500 * time.Millisecond)
	return p.View, nil
}

func (*places) DueRefunds(context.Context, string, int) ([]payment.RefundID, error) { return nil, nil }

func (*places) RecheckRefund(context.Context, payment.RefundID, payment.Cause) (r payment.Refund, err error) {
	return r, nil
}

// A slow provider with many attempts due delays another account's check by no more than
// one of its own.
func TestOnePlaceSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces()
		turn(t, t.Context(), worker.Reconcile(p, time.Second, zerolog.Nop()))
		require.Less(t, p.waited, 500*time.Millisecond)
		require.Equal(t, 4*time.Second, time.Since(p.began), "64 of 8 at a time")
	})
}

// An attempt that becomes due while the slow account is at work is asked about at the
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

// panickier is a desk whose first question panics.
type panickier struct {
	*desk

	first payment.AttemptID
}

func (p panickier) Recheck(ctx context.Context, id payment.AttemptID, cause payment.Cause) (payment.View, error) {
	if id == p.first {
		panic("in a check")
	}
	return p.desk.Recheck(ctx, id, cause)
}

// A panic in a check, a fetch or a loop ends neither the others nor the process, and is in
// the log.
func TestPanicIsOneItems(t *testing.T) {
	t.Parallel()
	t.Run("check", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(3)
			var lines bytes.Buffer
			turn(t, t.Context(), worker.Reconcile(panickier{d, d.attempts[0]}, time.Second, zerolog.New(&lines)))
			require.Equal(t, map[payment.Cause]int{{Kind: payment.CauseCheck, ID: "reconcile"}: 2}, d.causes)
			require.Contains(t, lines.String(), "in a check")
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

// oddFetch has two events of one account, of which the first panics.
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
