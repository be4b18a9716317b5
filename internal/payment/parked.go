package payment

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// How a parked event is tried again: after 1 s, 2 s, 4 s … 1 h, a person is
// asked, and hourly from then on for as long as a provider may still be late.
const (
	parkFirst  = time.Second
	parkLast   = time.Hour
	parkReview = 12
	parkTries  = parkReview + 30*24
)

// park keeps an event to be tried again.
func (e *StoredEvent) park(verdict fsm.Verdict, now time.Time) {
	e.Verdict = verdict
	e.NextTryAt = nil
	if e.Tries < parkTries {
		at := now.Add(min(parkFirst<<min(e.Tries, parkReview), parkLast))
		e.NextTryAt = &at
	}
}

// again puts off an event whose attempt is locked. Locks are short, so this was no
// try.
func (e *StoredEvent) again(now time.Time) {
	at := now.Add(parkFirst)
	e.Tries, e.NextTryAt = e.Tries-1, &at
}

// RetryParked tries parked events whose time has come, at most limit of them, and
// returns them. Those that need it are then to be fetched, one by one.
func (s *Service) RetryParked(ctx context.Context, limit int) ([]StoredEvent, error) {
	if err := s.lookAgain(ctx); err != nil {
		return nil, err
	}
	var events []StoredEvent
	var unknown []*arrival
	err := s.inBatch(ctx, func(ctx context.Context, b *batch) (err error) {
		events, unknown, err = s.tryDue(ctx, b, limit)
		return err
	})
	s.missed.add(unknown, s.now())
	if err != nil && !errors.Is(err, ErrUnavailable) {
		err = errors.Join(err, s.putBack(ctx))
	}
	return events, err
}

// tryDue tries the events that are due. It returns them, and those of them whose
// names nobody has.
func (s *Service) tryDue(ctx context.Context, b *batch, limit int) (events []StoredEvent, unknown []*arrival, err error) {
	if events, err = b.tx.EventsDue(ctx, limit); err != nil || len(events) == 0 {
		return nil, nil, err
	}
	var arrivals []*arrival
	for _, e := range events {
		arrivals = append(arrivals, &arrival{Received: e.Received})
	}
	found, err := b.find(ctx, arrivals)
	if err != nil {
		return events, nil, err
	}
	if err := b.loadRefunds(ctx, found.refunded(arrivals)...); err != nil {
		return events, nil, err
	}
	for i := range events {
		e := &events[i]
		e.Tries++
		if !found.judge(b, e) {
			e.again(b.now())
		}
		if !found.has(e.Account, e.Event.References) {
			unknown = append(unknown, arrivals[i])
		}
		if e.Tries == parkReview && e.NextTryAt != nil {
			b.discrepancies = append(b.discrepancies, unmatched(*e, b.now()))
		}
	}
	if err := b.tx.EventsSettle(ctx, events); err != nil {
		return events, nil, err
	}
	return events, unknown, b.save(ctx)
}

// putBack lets the event that is due first wait for its next try, so that one
// that can't be applied does not hold up the others.
func (s *Service) putBack(ctx context.Context) error {
	return s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		events, err := tx.EventsDue(ctx, 1)
		if err != nil || len(events) == 0 {
			return err
		}
		e := &events[0]
		e.Tries++
		e.park(Deferred, tx.Now())
		if err := tx.EventsSettle(ctx, events); err != nil || e.Tries != parkReview {
			return err
		}
		d := unmatched(*e, tx.Now())
		d.Money = nil // it may be what is not taken
		return tx.DiscrepanciesOpen(ctx, []Discrepancy{d})
	})
}

func unmatched(e StoredEvent, at time.Time) Discrepancy {
	d := Discrepancy{
		Kind: UnmatchedEvent, Event: EventKey{e.Account, e.Event.ID}, At: at, Money: moneyOf(e.Event),
		Text: "The provider speaks of a payment that nobody here began. Look it up in its dashboard; money may have to be paid back.",
	}
	switch {
	case e.Verdict == Unmatched:
	case e.Event.NeedsFetch:
		d.Kind = NeedsReview
		d.Text = "The provider sent a notice that only a question to it can explain, and it gave no answer that could be applied. Look the payment up in its dashboard."
	default:
		d.Kind = NeedsReview
		d.Text = "The provider told something of a payment that can't be applied as long as the payment stands as it does, such as a refund of what was never taken. Compare with its dashboard."
	}
	return d
}
