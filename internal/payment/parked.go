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
	// reviewAfter is how long these first tries take.
	reviewAfter = parkFirst<<parkReview - parkFirst
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

// unasked puts off an event that is to be fetched: a try is what has asked somebody.
// It waits as long again as it has waited, as it would after tries.
func (e *StoredEvent) unasked(now time.Time) {
	at := now.Add(min(max(now.Sub(e.At), parkFirst), parkLast))
	e.Tries, e.NextTryAt = e.Tries-1, &at
}

// RetryParked tries parked events whose time has come, at most limit of them, and
// returns those that were, also where others can't be. Those that need it are then to
// be fetched, one by one: of one that is not fetched this counts as no try.
func (s *Service) RetryParked(ctx context.Context, limit int) ([]StoredEvent, error) {
	if err := s.lookAgain(ctx); err != nil {
		return nil, err
	}
	events, err := s.tryTogether(ctx, limit)
	switch {
	case rejected(err):
		tried, failed := s.trySingly(ctx, len(events))
		return tried, errors.Join(err, failed)
	case err != nil:
		return nil, err
	}
	return events, nil
}

// tryTogether tries the first of the events that are due in one transaction. It returns
// them, whatever became of that.
func (s *Service) tryTogether(ctx context.Context, limit int) (events []StoredEvent, err error) {
	var unknown []*arrival
	err = s.inBatch(ctx, func(ctx context.Context, b *batch) (err error) {
		events, unknown, err = s.tryDue(ctx, b, limit)
		return err
	})
	s.missed.add(unknown, s.now())
	return events, err
}

// trySingly tries the first n of the events that are due, each by itself. The odd ones
// are put back, and are in nobody's way.
func (s *Service) trySingly(ctx context.Context, n int) (tried []StoredEvent, err error) {
	for range n {
		one, err := s.tryTogether(ctx, 1)
		if rejected(err) && len(one) == 1 {
			err = s.putBack(ctx, one[0].ID)
			one = nil
		}
		if err != nil {
			return tried, err
		}
		tried = append(tried, one...)
	}
	return tried, nil
}

// tryDue tries the events that are due. It returns them, and those of them whose
// names nobody has.
func (s *Service) tryDue(ctx context.Context, b *batch, limit int) (events []StoredEvent, unknown []*arrival, err error) {
	due, err := b.tx.EventsDue(ctx, limit)
	if err != nil || len(due) == 0 {
		return nil, nil, err
	}
	if events, err = b.readable(ctx, due); err != nil {
		return due, nil, err
	}
	unknown, err = s.tryReadable(ctx, b, events)
	return due, unknown, err
}

// tryReadable tries events and returns those whose names nobody has.
func (s *Service) tryReadable(ctx context.Context, b *batch, events []StoredEvent) (unknown []*arrival, err error) {
	var arrivals []*arrival
	for _, e := range events {
		arrivals = append(arrivals, &arrival{Received: e.Received})
	}
	found, err := b.find(ctx, arrivals)
	if err != nil {
		return nil, err
	}
	if err := b.load(ctx, found, arrivals); err != nil {
		return nil, err
	}
	for i := range events {
		e := &events[i]
		long := e.NextTryAt.Sub(e.At) >= reviewAfter
		e.Tries++
		switch {
		case !found.judge(b, e):
			e.again(b.now())
		case e.NextTryAt != nil && s.canAsk(e.Received):
			if e.unasked(b.now()); long {
				b.discrepancies = append(b.discrepancies, unmatched(*e, b.now()))
			}
		default:
			b.review(e)
		}
		if !found.has(e.Account, e.Event.References) {
			unknown = append(unknown, arrivals[i])
		}
	}
	if err := b.tx.EventsSettle(ctx, events); err != nil {
		return nil, err
	}
	return unknown, b.save(ctx)
}

// review asks a person about an event that has been tried for a while and waits.
func (b *batch) review(e *StoredEvent) {
	if e.Tries == parkReview && e.NextTryAt != nil {
		b.discrepancies = append(b.discrepancies, unmatched(*e, b.now()))
	}
}

// putBack lets an event that is due, and can't be applied, wait for its next try.
func (s *Service) putBack(ctx context.Context, id EventID) error {
	return s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		e, err := tx.EventLock(ctx, id)
		if err != nil || e.NextTryAt == nil || e.NextTryAt.After(tx.Now()) {
			return err
		}
		e.Tries++
		e.park(Deferred, tx.Now())
		if err := tx.EventsSettle(ctx, []StoredEvent{e}); err != nil || e.Tries != parkReview {
			return err
		}
		d := unmatched(e, tx.Now())
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
	case e.Event.SecretIndex < 0 && e.Event.NeedsFetch:
		return unsigned(e, d)
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

// unsigned is what a person is asked in the place of d about a notice that anybody may
// have made up, any number of times: not about each, and by what its provider says alone.
func unsigned(e StoredEvent, d Discrepancy) Discrepancy {
	d.Event.ID, d.Money = "", nil
	if e.Verdict == Unmatched {
		d.About = "payment " + e.Event.ProviderPaymentID
		d.Text = "A notice that nobody signed speaks of the payment " + e.Event.ProviderPaymentID +
			", which the provider knows and nobody here began. Look it up in its dashboard; money may have to be paid back."
		return d
	}
	d.Kind, d.About = NeedsReview, "unsigned notices"
	d.Text = "Notices of this account that nobody signed have waited for long, and its provider could not be asked about them, or gave no answer that could be applied. " +
		"Anybody may have made them up. See whether its dashboard knows of payments that are missing here, and why it can't be asked."
	return d
}
