package intake

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
)

const (
	// missedFor is how long a name is looked for again: as long as a transaction
	// may take.
	missedFor = 10 * time.Second
	// missedEvery is the shortest pause between two lookups; missedMost is the most names that are kept.
	missedEvery = 500 * time.Millisecond
	missedMost  = 1024
)

// missed are names that parked events had and no attempt was found by, a moment ago. A transaction that gave one of the
// names to an attempt at that moment found the events locked and skipped them. They would wait for their next try, which
// may be an hour away, or never comes if they became foreign. So these names are looked for again until such a
// transaction has ended. If there are too many of them, the rest is left to the next try.
type missed struct {
	mu     sync.Mutex
	until  map[payment.Reference]time.Time
	looked time.Time
}

func (m *missed) add(events []*arrival, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.until == nil {
		m.until = map[payment.Reference]time.Time{}
	}
	for _, name := range referencesOf(events, names) {
		if len(m.until) < missedMost {
			m.until[name] = now.Add(missedFor)
		}
	}
}

// due lists the names to look for now.
func (m *missed) due(now time.Time) []payment.Reference {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Sub(m.looked) < missedEvery {
		return nil
	}
	m.looked = now
	names := changeset.Sorted(slices.Collect(maps.Keys(m.until)))
	maps.DeleteFunc(m.until, func(_ payment.Reference, end time.Time) bool { return end.Before(now) })
	return names
}

// forget ends the search for the names of events that will be tried.
func (m *missed) forget(events []payment.StoredEvent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range events {
		for _, name := range e.Event.References {
			delete(m.until, payment.Reference{Account: e.Account, Name: name})
		}
	}
}

// lookAgain makes parked events due with names that were missed and have an owner now.
func (in *Inbox) lookAgain(ctx context.Context) error {
	names := in.missed.due(in.Now())
	if len(names) == 0 {
		return nil
	}
	var events []payment.StoredEvent
	err := in.Store.InEventTx(ctx, func(ctx context.Context, tx Tx) error {
		events = nil
		owners, err := tx.ReferencesFind(ctx, names)
		if err != nil || len(owners) == 0 {
			return err
		}
		if events, err = tx.EventsParked(ctx, changeset.Sorted(slices.Collect(maps.Keys(owners)))); err != nil {
			return err
		}
		for i := range events {
			events[i].Due(tx.Now())
		}
		return tx.EventsSettle(ctx, events)
	})
	if err == nil {
		in.missed.forget(events)
	}
	return err
}
