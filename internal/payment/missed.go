package payment

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// missedFor is how long a name is looked for again: as long as a transaction
	// may take.
	missedFor = 10 * time.Second
	// missedEvery bounds how often, missedMost how many.
	missedEvery = 500 * time.Millisecond
	missedMost  = 1024
)

// missed are names that parked events were looked for by a moment ago, when no
// attempt had them. Who gave one to an attempt at that same moment found the events
// locked and went on without them; they would wait for their next try, which may be
// an hour away. So these names are looked for again until whoever was at it is done.
// Where there are more of them than can be looked for, as with an account that many
// share, that is left to the next try.
type missed struct {
	mu     sync.Mutex
	until  map[Reference]time.Time
	looked time.Time
}

func (m *missed) add(events []*arrival, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.until == nil {
		m.until = map[Reference]time.Time{}
	}
	for _, name := range namesOf(events, (*arrival).names) {
		if len(m.until) < missedMost {
			m.until[name] = now.Add(missedFor)
		}
	}
}

// due lists the names to look for now.
func (m *missed) due(now time.Time) []Reference {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Sub(m.looked) < missedEvery {
		return nil
	}
	m.looked = now
	names := sorted(slices.Collect(maps.Keys(m.until)))
	maps.DeleteFunc(m.until, func(_ Reference, end time.Time) bool { return end.Before(now) })
	return names
}

// forget ends the search for the names of events that will be tried.
func (m *missed) forget(events []StoredEvent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range events {
		for _, name := range e.Event.References {
			delete(m.until, Reference{e.Account, name})
		}
	}
}

// lookAgain makes parked events due whose names were missed and are known now.
func (s *Service) lookAgain(ctx context.Context) error {
	names := s.missed.due(s.now())
	if len(names) == 0 {
		return nil
	}
	var events []StoredEvent
	err := s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		events = nil
		owners, err := tx.ReferencesFind(ctx, names)
		if err != nil || len(owners) == 0 {
			return err
		}
		if events, err = tx.EventsParked(ctx, sorted(slices.Collect(maps.Keys(owners)))); err != nil {
			return err
		}
		for i := range events {
			now := tx.Now()
			events[i].NextTryAt = &now
		}
		return tx.EventsSettle(ctx, events)
	})
	if err == nil {
		s.missed.forget(events)
	}
	return err
}
