package changeset

import (
	"context"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// ApplyEvent applies a stored event to the attempt that it names. An event that must be fetched is due at once instead:
// only the provider's report of the fetch counts. An event that arrives before its refund or attempt is parked.
func (s *Changeset) ApplyEvent(c *Change, e *payment.StoredEvent) {
	if e.Event.NeedsFetch {
		now := s.Now()
		e.Verdict, e.NextTryAt = payment.VerdictDeferred, &now
		return
	}
	r, ok := payment.ReportOfEvent(e.Event, c.Attempt.Money.Currency)
	if !ok {
		e.Park(payment.VerdictDeferred, s.Now())
		return
	}
	r.Releases = s.ends(c)
	verdict := s.applyOrDefer(c, r, e.Overdue())
	if verdict == payment.VerdictDeferred || verdict == payment.Ambiguous {
		e.Park(payment.VerdictDeferred, s.Now())
		return
	}
	c.About(e)
	e.Verdict, e.NextTryAt = verdict, nil
}

// ApplyOtherMode gives a verdict to an event of test money at an account of real money, or the other way round. It moves
// nothing. Each payment with reported money gets a discrepancy.
func (s *Changeset) ApplyOtherMode(c *Change, e *payment.StoredEvent) {
	e.Verdict, e.NextTryAt = payment.Ignored, nil
	r, ok := payment.ReportOfEvent(e.Event, c.Attempt.Money.Currency)
	if !ok || r.Refund == nil && len(r.Movements) == 0 {
		return
	}
	c.About(e)
	e.Verdict = s.Apply(c, r)
}

// About records that an event is about the change's attempt.
func (c *Change) About(e *payment.StoredEvent) {
	e.OrderID, e.AttemptID, e.Erased = c.Attempt.OrderID, c.Attempt.ID, c.Attempt.UserID.Erased()
}

// ends returns the holds that a webhook's failure ends. After an earlier failure several holds may have come late, and
// each shows the same amount. So a webhook ends no hold that can be looked up, until the provider has accepted the
// cancel.
func (s *Changeset) ends(c *Change) payment.HoldEnd {
	cancel := c.Attempt.OpenCancel()
	switch {
	case s.AccountOf(c.Attempt).Provider == nil:
		return payment.HoldsAll // it can't be looked up
	case c.Attempt.Failed() && !s.capabilities(c.Attempt).Blind() && (cancel == nil || cancel.State != fsm.OperationAccepted):
		return payment.HoldsNone
	}
	return payment.HoldsBefore
}

// applyOrDefer applies a report, unless its money must have been captured before and that capture is not reported yet.
// An overdue report is recorded nevertheless.
func (s *Changeset) applyOrDefer(c *Change, r payment.Report, overdue bool) fsm.Verdict {
	if payment.RefundBeforeCapture(r, &c.Attempt) && !overdue {
		return payment.VerdictDeferred
	}
	return s.Apply(c, r)
}

// LoadFor reads the data that the events need for the changeset's attempts: refunds, movements and disputes.
func (s *Changeset) LoadFor(ctx context.Context, events []payment.StoredEvent, ids []payment.AttemptID) error {
	ofRefund := slices.ContainsFunc(events, func(e payment.StoredEvent) bool { return payment.IsRefundEvent(e.Event.Kind) })
	if ofRefund {
		if err := s.LoadRefunds(ctx, ids...); err != nil {
			return err
		}
	}
	inParts := slices.ContainsFunc(ids, func(id payment.AttemptID) bool {
		c := s.changes[id]
		return c != nil && c.Attempt.Capture == payment.CaptureSeveral
	})
	var named Named
	for _, e := range events {
		named = named.With(NamesOf(e.ReceivedEvent, inParts))
	}
	return s.LoadNamed(ctx, named)
}

// releaseParked applies the parked events that a new name or the end of a refund sets free, or has
// the worker try them now.
func (s *Changeset) releaseParked(ctx context.Context) error {
	if s.makeDue {
		return s.due(ctx)
	}
	if err := s.unpark(ctx); err != nil {
		return err
	}
	return s.unparkRefunds(ctx)
}

func (s *Changeset) due(ctx context.Context) error {
	due := slices.DeleteFunc(s.names.parked, func(e payment.StoredEvent) bool { return s.ownerOf(e) == nil })
	for _, c := range s.refunds.settled {
		parked, err := s.parkedOf(ctx, c)
		if err != nil {
			return err
		}
		for _, e := range parked {
			if !slices.ContainsFunc(due, func(o payment.StoredEvent) bool { return o.ID == e.ID }) {
				due = append(due, e)
			}
		}
	}
	for i := range due {
		due[i].Due(s.Now())
	}
	return s.tx.EventsSettle(ctx, due)
}

// unpark applies the parked events with a name that an attempt has just gained, or makes their fetch due now. Each event
// may bring the name of the next one.
func (s *Changeset) unpark(ctx context.Context) error {
	tried := map[payment.EventID]bool{}
	for {
		var freed []payment.StoredEvent
		for _, e := range s.names.parked {
			if !tried[e.ID] && s.ownerOf(e) != nil {
				tried[e.ID] = true
				freed = append(freed, e)
			}
		}
		if len(freed) == 0 {
			return nil
		}
		s.freed = true
		if err := s.LoadFor(ctx, freed, slices.Clone(s.order)); err != nil {
			return err
		}
		for i := range freed {
			s.ApplyEvent(s.ownerOf(freed[i]), &freed[i])
		}
		if err := s.names.reserveNames(ctx, s); err != nil {
			return err
		}
		if err := s.tx.EventsSettle(ctx, freed); err != nil {
			return err
		}
	}
}

// ownerOf is the change of the attempt that has just gained a name of an event; nil if there is none.
func (s *Changeset) ownerOf(e payment.StoredEvent) *Change {
	for _, id := range s.order {
		c := s.changes[id]
		if c.Attempt.Account != e.Account {
			continue
		}
		if slices.ContainsFunc(e.Event.References, func(ref string) bool {
			return slices.Contains(c.names, ref) || ref == c.Attempt.ID.String()
		}) {
			return c
		}
	}
	return nil
}

// unparkRefunds applies the events that waited for a refund to be named or to end, or for
// the capture before it. Each may bring the next one's.
func (s *Changeset) unparkRefunds(ctx context.Context) error {
	for len(s.refunds.settled) > 0 {
		c := s.refunds.settled[0]
		s.refunds.settled = s.refunds.settled[1:]
		parked, err := s.parkedOf(ctx, c)
		if err != nil || len(parked) == 0 {
			if err != nil {
				return err
			}
			continue
		}
		s.freed = true
		if err := s.LoadFor(ctx, parked, []payment.AttemptID{c.Attempt.ID}); err != nil {
			return err
		}
		var freed []payment.StoredEvent
		for _, e := range parked {
			if !payment.IsRefundEvent(e.Event.Kind) {
				continue
			}
			if s.ApplyEvent(c, &e); e.NextTryAt == nil || e.Event.NeedsFetch {
				freed = append(freed, e)
			}
		}
		if err := s.tx.EventsSettle(ctx, freed); err != nil {
			return err
		}
	}
	return nil
}

// parkedOf locks the readable parked events of a changed attempt.
func (s *Changeset) parkedOf(ctx context.Context, c *Change) ([]payment.StoredEvent, error) {
	parked, err := s.tx.EventsParkedOf(ctx, c.Attempt, c.names)
	if err != nil {
		return nil, err
	}
	return s.Readable(ctx, parked)
}

// Readable returns the locked events that can be read. Each other event is quarantined with a discrepancy: an event that
// another version has written must not hold up the rest.
func (s *Changeset) Readable(ctx context.Context, events []payment.StoredEvent) ([]payment.StoredEvent, error) {
	var fine, apart []payment.StoredEvent
	for _, e := range events {
		if e.Unreadable == nil {
			fine = append(fine, e)
			continue
		}
		e.NextTryAt = nil
		apart = append(apart, e)
		s.Open(payment.Discrepancy{
			Kind: payment.NeedsReview, Event: e.Key(), About: payment.AboutUnreadableEvent, OrderID: e.OrderID,
			Text: "This version can't read the stored event and does not try it again. The event's bytes are kept unchanged. Compare them " +
				"with the provider's dashboard, and replay the event with a version that can read it.",
		})
	}
	if len(apart) == 0 {
		return fine, nil
	}
	return fine, s.tx.EventsSettle(ctx, apart)
}
