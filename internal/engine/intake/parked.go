package intake

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// putOff puts off an event of a locked attempt. Locks are short, so this was no try.
func putOff(e *payment.StoredEvent, now time.Time) {
	at := now.Add(payment.ParkFirst)
	e.Tries, e.NextTryAt = e.Tries-1, &at
}

// unasked postpones an event that must be fetched, since only a call to the provider counts as a try. The event waits as
// long again as it has waited, as after tries.
func unasked(e *payment.StoredEvent, now time.Time) {
	at := now.Add(min(max(now.Sub(e.At), payment.ParkFirst), payment.ParkLast))
	e.Tries, e.NextTryAt = e.Tries-1, &at
}

// RetryParked tries at most limit due parked events, and returns the tried events, even where others can't be tried. The
// caller must then fetch the events that need it, one by one. An event that is not fetched has used no try.
func (in *Inbox) RetryParked(ctx context.Context, limit int) ([]payment.StoredEvent, error) {
	if err := in.lookAgain(ctx); err != nil {
		return nil, err
	}
	events, err := in.tryTogether(ctx, limit)
	switch {
	case changeset.Rejected(err):
		tried, failed := in.trySingly(ctx, len(events))
		return tried, errors.Join(err, failed)
	case err != nil:
		return nil, err
	}
	return events, nil
}

// tryTogether tries the first due events in one transaction. It returns the events with any outcome.
func (in *Inbox) tryTogether(ctx context.Context, limit int) (events []payment.StoredEvent, err error) {
	var unknown []*arrival
	var readable []payment.StoredEvent
	since := tracing.Mark(ctx)
	err = changeset.Run(ctx, in.Store.InEventTx, in.Rules, func(ctx context.Context, s *changeset.Changeset, tx Tx) error {
		unknown, readable = nil, nil
		var err error
		if events, err = tx.EventsDue(ctx, limit); err != nil || len(events) == 0 {
			return err
		}
		if readable, err = s.Readable(ctx, events); err != nil {
			return err
		}
		unknown, err = in.try(ctx, s, tx, readable)
		return err
	})
	in.missed.add(unknown, in.Now())
	if err == nil {
		in.becameForeign(readable)
		for _, e := range readable {
			appliedOf(e).traced(ctx, "webhook retried", since, tracing.Context{})
		}
	}
	return events, err
}

// trySingly tries the first n due events, each in its own transaction. Poison messages are requeued and block no other
// event.
func (in *Inbox) trySingly(ctx context.Context, n int) (tried []payment.StoredEvent, err error) {
	for range n {
		one, err := in.tryTogether(ctx, 1)
		if changeset.Rejected(err) && len(one) == 1 {
			err = in.requeue(ctx, one[0].ID)
			one = nil
		}
		if err != nil {
			return tried, err
		}
		tried = append(tried, one...)
	}
	return tried, nil
}

// try tries events and returns the events whose names no attempt has.
func (in *Inbox) try(ctx context.Context, s *changeset.Changeset, tx Tx, events []payment.StoredEvent) (unknown []*arrival, err error) {
	var arrivals []*arrival
	for _, e := range events {
		arrivals = append(arrivals, &arrival{ReceivedEvent: e.ReceivedEvent})
	}
	f, err := find(ctx, tx, s, arrivals)
	if err != nil {
		return nil, err
	}
	if err := f.load(ctx, s, arrivals); err != nil {
		return nil, err
	}
	for i := range events {
		e := &events[i]
		long := e.NextTryAt.Sub(e.At) >= payment.ReviewAfter
		e.Tries++
		switch {
		case !f.judge(s, e):
			putOff(e, s.Now())
		case e.NextTryAt != nil && in.canAsk(e.ReceivedEvent):
			if unasked(e, s.Now()); long && !mayBeForeign(s, e) {
				s.Open(unmatched(*e))
			}
		case e.Event.NeedsFetch: // all its names are known after the fetch
			sendToReview(s, e)
		default:
			stays(s, e, e.Event.References)
		}
		if !f.has(e.Account, e.Event.References) {
			unknown = append(unknown, arrivals[i])
		}
	}
	if err := tx.EventsSettle(ctx, events); err != nil {
		return nil, err
	}
	return unknown, s.Save(ctx)
}

// sendToReview opens a discrepancy for an event that has been tried for a while and waits.
func sendToReview(s *changeset.Changeset, e *payment.StoredEvent) {
	if e.Tries == payment.ParkReview && e.NextTryAt != nil {
		s.Open(unmatched(*e))
	}
}

// requeue lets an event that is due, and can't be applied, wait for its next try.
func (in *Inbox) requeue(ctx context.Context, id payment.EventID) error {
	return in.Store.InEventTx(ctx, func(ctx context.Context, tx Tx) error {
		e, err := tx.EventLock(ctx, id)
		if err != nil || e.NextTryAt == nil || e.NextTryAt.After(tx.Now()) {
			return err
		}
		s := changeset.New(tx, in.Rules)
		e.Tries++
		e.Park(payment.VerdictDeferred, tx.Now())
		if err := tx.EventsSettle(ctx, []payment.StoredEvent{e}); err != nil {
			return err
		}
		if e.Tries == payment.ParkReview {
			d := unmatched(e)
			d.Money = nil // the amount may be the value that can't be stored
			s.Open(d)
		}
		return s.Save(ctx)
	})
}

// unmatched is the discrepancy of an event that has waited in vain.
func unmatched(e payment.StoredEvent) payment.Discrepancy {
	d := payment.Discrepancy{
		Kind: payment.UnmatchedEvent, Event: e.Key(), Money: payment.EventMoney(e.Event),
		Text: "The provider reports a payment that was not made through paylatch. Look it up in the provider's dashboard; you may have to refund it.",
	}
	switch {
	case e.Event.SecretIndex < 0 && e.Event.NeedsFetch:
		return unsigned(e, d)
	case e.Verdict == payment.VerdictUnmatched:
	case e.Event.NeedsFetch:
		d.Kind, d.About = payment.NeedsReview, payment.AboutEventNotApplied
		d.Text = "The provider sent a notice that needs a lookup, and the lookup gave no usable result. Look up the payment in the provider's dashboard."
	default:
		d.Kind, d.About = payment.NeedsReview, payment.AboutEventNotApplied
		d.Text = "The provider reported something that can't be applied to the payment's present state, such as a refund of money that was never captured. Compare the payment with the provider's dashboard."
	}
	return d
}

// unsigned replaces the discrepancy d of an unsigned notice. A notice may be forged any number of times, so the notices
// share one discrepancy. It shows only the facts that the provider's response proves.
func unsigned(e payment.StoredEvent, d payment.Discrepancy) payment.Discrepancy {
	d.Event.ID, d.Money = "", nil
	if e.Verdict == payment.VerdictUnmatched {
		d.AboutID = e.Event.ProviderPaymentID
		d.Text = "An unsigned notice names the payment " + e.Event.ProviderPaymentID +
			", which the provider has and which was not made through paylatch. Look it up in the provider's dashboard; you may have to refund it."
		return d
	}
	d.Kind, d.About = payment.NeedsReview, payment.AboutUnsignedNotices
	d.Text = "Unsigned notices for this account have waited for a long time: paylatch could not ask the provider about them, or got no " +
		"usable result. The notices may be forged. Check whether the provider's dashboard has payments that are missing " +
		"here, and why paylatch can't ask the provider."
	return d
}
