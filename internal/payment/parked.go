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

// RetryParked tries parked events whose time has come, at most limit of them,
// and returns how many there were. Those that say too little are fetched.
func (s *Service) RetryParked(ctx context.Context, limit int) (int, error) {
	var events []StoredEvent
	err := s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		b := s.newBatch(tx)
		var err error
		if events, err = tx.EventsDue(ctx, limit); err != nil || len(events) == 0 {
			return err
		}
		var arrivals []*arrival
		for _, e := range events {
			arrivals = append(arrivals, &arrival{Received: e.Received})
		}
		found, err := b.find(ctx, arrivals)
		if err != nil {
			return err
		}
		if err := b.loadRefunds(ctx, found.refunded(arrivals)...); err != nil {
			return err
		}
		for i := range events {
			events[i].Tries++
			found.judge(b, s, &events[i])
			if events[i].Tries == parkReview && events[i].NextTryAt != nil {
				b.discrepancies = append(b.discrepancies, unmatched(events[i], b.now()))
			}
		}
		if err := tx.EventsSettle(ctx, events); err != nil {
			return err
		}
		return b.save(ctx)
	})
	switch {
	case err == nil:
		err = s.fetchAll(ctx, events)
	case !errors.Is(err, ErrUnavailable):
		err = errors.Join(err, s.putBack(ctx))
	}
	return len(events), err
}

// putBack lets the event that is due first wait for its next try, so that one
// that can't be applied does not hold up the others.
func (s *Service) putBack(ctx context.Context) error {
	return s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		events, err := tx.EventsDue(ctx, 1)
		if err != nil || len(events) == 0 {
			return err
		}
		events[0].Tries++
		events[0].park(Deferred, tx.Now())
		return tx.EventsSettle(ctx, events)
	})
}

func unmatched(e StoredEvent, at time.Time) Discrepancy {
	d := Discrepancy{
		Kind: UnmatchedEvent, Event: EventKey{e.Account, e.Event.ID}, At: at, Money: moneyOf(e.Event),
		Text: "The provider speaks of a payment that nobody here began. Look it up in its dashboard; money may have to be paid back.",
	}
	switch {
	case e.Event.NeedsFetch:
		d.Kind = NeedsReview
		d.Text = "The provider sent a notice that only a question to it can explain, and it could not be asked. Look the payment up in its dashboard."
	case e.Verdict == Deferred:
		d.Kind = NeedsReview
		d.Text = "The provider told something of a payment that can't be applied as long as the payment stands as it does, such as a refund of what was never taken. Compare with its dashboard."
	}
	return d
}
