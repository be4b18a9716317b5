package intake

import (
	"context"

	"github.com/paylatch/paylatch/internal/changeset"
	"github.com/paylatch/paylatch/internal/inbound"
)

// foreignGrowth is the factor between the ages of an unmatched event without a mark of ours at two consecutive tries:
// after 1 s, 10 s, 100 s … Another system at the account may have a hundred events for each of ours, and each try writes. When an attempt
// gains the name, its commit applies the event anyway.
const foreignGrowth = 10

// stays decides about a parked event after a try; names are all names of its payment. An unmatched event without a mark
// of ours becomes foreign once its account's time has passed. It is tried then at the latest. Every other event is sent
// to review after a while.
func stays(s *changeset.Changeset, e *inbound.StoredEvent, names []string) {
	rule := s.Accounts.Get(e.Account).Foreign
	if e.Verdict != inbound.Unmatched || rule.After == 0 || e.Marked(names) {
		sendToReview(s, e)
		return
	}
	if end := e.At.Add(rule.After); s.Now().Before(end) {
		wait := max(inbound.ParkFirst, (foreignGrowth-1)*s.Now().Sub(e.At))
		next := s.Now().Add(min(wait, inbound.ParkLast, end.Sub(s.Now())))
		e.NextTryAt = &next
		return
	}
	if rule.Review {
		s.Open(unmatched(*e))
	}
	e.Verdict, e.NextTryAt = inbound.Foreign, nil
}

// mayBeForeign reports whether an event that must be fetched may still become foreign instead of being sent to review.
// It may if the provider has responded with no payment that is known here.
func mayBeForeign(s *changeset.Changeset, e *inbound.StoredEvent) bool {
	rule := s.Accounts.Get(e.Account).Foreign
	return e.Verdict == inbound.Unmatched && s.Now().Before(e.At.Add(rule.After))
}

// becameForeign passes the accounts of events that have just become foreign to Foreign.
func (in *Inbox) becameForeign(events []inbound.StoredEvent) {
	if in.Foreign == nil {
		return
	}
	for _, e := range events {
		if e.Verdict == inbound.Foreign {
			in.Foreign(e.Account)
		}
	}
}

// ForeignLastDay counts the foreign events that came in the last day, by account.
func (in *Inbox) ForeignLastDay(ctx context.Context) (map[string]int64, error) {
	return in.Store.ForeignEvents(ctx)
}
