package intake

import (
	"context"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
)

// foreignGrowth is the factor between the ages of an unmatched event without a mark of ours at two consecutive tries:
// after 1 s, 10 s, 100 s … Another system at the account may have a hundred events for each of ours, and each try writes. When an attempt
// gains the name, its commit applies the event anyway.
const foreignGrowth = 10

// stays decides about a parked event after a try; names are all names of its payment. An unmatched event without a mark
// of ours becomes foreign once its account's time has passed. It is tried then at the latest. Every other event is sent
// to review after a while.
func stays(s *changeset.Changeset, e *payment.StoredEvent, names []string) {
	rule := s.Accounts.Get(e.Account).Foreign
	if e.Verdict != payment.VerdictUnmatched || rule.After == 0 || e.Marked(names) {
		sendToReview(s, e)
		return
	}
	if end := e.At.Add(rule.After); s.Now().Before(end) {
		wait := max(payment.ParkFirst, (foreignGrowth-1)*s.Now().Sub(e.At))
		next := s.Now().Add(min(wait, payment.ParkLast, end.Sub(s.Now())))
		e.NextTryAt = &next
		return
	}
	if rule.Review {
		s.Open(unmatched(*e))
	}
	e.Verdict, e.NextTryAt = payment.VerdictForeign, nil
}

// mayBeForeign reports whether an event that must be fetched may still become foreign instead of being sent to review.
// It may if the provider has responded with no payment that is known here.
func mayBeForeign(s *changeset.Changeset, e *payment.StoredEvent) bool {
	rule := s.Accounts.Get(e.Account).Foreign
	return e.Verdict == payment.VerdictUnmatched && s.Now().Before(e.At.Add(rule.After))
}

// becameForeign passes the accounts of events that have just become foreign to Foreign.
func (in *Inbox) becameForeign(events []payment.StoredEvent) {
	if in.Foreign == nil {
		return
	}
	for _, e := range events {
		if e.Verdict == payment.VerdictForeign {
			in.Foreign(e.Account)
		}
	}
}

// ForeignLastDay counts the foreign events that came in the last day, by account.
func (in *Inbox) ForeignLastDay(ctx context.Context) (map[string]int64, error) {
	return in.Store.ForeignEvents(ctx)
}
