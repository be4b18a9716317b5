package worker_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/worker"
	"github.com/paylatch/paylatch/webhooks"
)

// inbox holds parked events that are due each time until they are fetched. takes sets the response time of an account's
// provider.
type inbox struct {
	takes map[string]time.Duration
	// broken is the error of a fetch, odd the error of a try.
	broken, odd error

	mu      sync.Mutex
	due     []payment.StoredEvent
	asked   map[payment.EventID]int
	asking  map[string]int
	most    map[string]int
	fetched map[string]int
}

func newInbox(takes map[string]time.Duration, each int) *inbox {
	b := &inbox{takes: takes, asked: map[payment.EventID]int{}, asking: map[string]int{}, most: map[string]int{}, fetched: map[string]int{}}
	for account := range takes {
		for range each {
			e := payment.StoredEvent{ID: payment.EventID(uuid.Must(uuid.NewV7()))}
			e.Account, e.Event = account, webhooks.Event{NeedsFetch: true}
			b.due = append(b.due, e)
		}
	}
	return b
}

func (b *inbox) RetryParked(_ context.Context, limit int) ([]payment.StoredEvent, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	tried := append([]payment.StoredEvent(nil), b.due[:min(limit, len(b.due))]...)
	plain := payment.StoredEvent{ID: payment.EventID(uuid.Must(uuid.NewV7()))}
	return append(tried, plain), b.odd
}

func (b *inbox) Fetch(ctx context.Context, e payment.StoredEvent) error {
	b.mu.Lock()
	b.asked[e.ID]++
	b.asking[e.Account]++
	b.most[e.Account] = max(b.most[e.Account], b.asking[e.Account])
	b.mu.Unlock()
	timer := time.NewTimer(b.takes[e.Account])
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		<-time.After(time.Second) // which it takes to give up
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asking[e.Account]--
	if ctx.Err() == nil {
		b.fetched[e.Account]++
		for i := range b.due {
			if b.due[i].ID == e.ID {
				b.due = append(b.due[:i:i], b.due[i+1:]...)
				break
			}
		}
	}
	return b.broken
}

// told is a copy of the counts by account.
func (b *inbox) told(counts map[string]int) map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(counts)
}

// A slow provider gets a few lookups at a time, each once, and the events of the others are fetched meanwhile. No work
// goes on after the end.
func TestASlowProviderHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newInbox(map[string]time.Duration{"slow": 10 * time.Second, "quick": 10 * time.Millisecond}, 20)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- worker.New(zerolog.Nop(), worker.RetryParked(b)).Run(ctx) }()

		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, map[string]int{"quick": 20}, b.told(b.fetched))
		require.Equal(t, map[string]int{"quick": 4, "slow": 4}, b.told(b.most))

		time.Sleep(20 * time.Second)
		synctest.Wait()
		require.Equal(t, map[string]int{"quick": 20, "slow": 8}, b.told(b.fetched))

		cancel()
		require.NoError(t, <-done)
		require.Zero(t, b.told(b.asking)["slow"])
		require.Equal(t, 4, b.most["slow"])
		for _, times := range b.asked {
			require.Equal(t, 1, times, "though each was due again and again")
		}
		require.Len(t, b.asked, 32, "who waited was not asked about after the end")
	})
}

func TestAFetchThatFailsIsAFailureOfItsLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newInbox(map[string]time.Duration{"sandbox": time.Millisecond}, 1)
		b.broken = errors.New("storage gone")
		loop := worker.RetryParked(b)
		more, err := loop.Do(t.Context())
		require.NoError(t, err)
		require.False(t, more)
		loop.Rest()
		_, err = loop.Do(t.Context())
		require.ErrorIs(t, err, b.broken)
		_, err = loop.Do(t.Context())
		require.NoError(t, err, "told once")
	})
}

// An event may be due again and again, its account as busy as it was.
func TestWhatIsDueAgainIsFetchedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newInbox(map[string]time.Duration{"sandbox": time.Millisecond}, 1)
		due := b.due
		loop := worker.RetryParked(b)
		for times := range 6 {
			b.due = due
			_, err := loop.Do(t.Context())
			require.NoError(t, err)
			loop.Rest()
			require.Equal(t, times+1, b.asked[due[0].ID])
		}
	})
}

func TestAPortionOfParkedEventsIsFollowedByTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newInbox(map[string]time.Duration{"sandbox": time.Millisecond}, 63)
		loop := worker.RetryParked(b)
		for _, want := range []bool{true, false} {
			more, err := loop.Do(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, more)
			loop.Rest()
		}
	})
}

// If some events can't be tried, the tried ones are fetched nevertheless.
func TestEventsThatCouldNotBeTriedHoldUpNoFetch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newInbox(map[string]time.Duration{"sandbox": time.Millisecond}, 1)
		b.odd = errors.New("this one fails")
		loop := worker.RetryParked(b)
		_, err := loop.Do(t.Context())
		require.ErrorIs(t, err, b.odd)
		loop.Rest()
		require.Equal(t, map[string]int{"sandbox": 1}, b.fetched)
	})
}
