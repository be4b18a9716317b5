package verify

import (
	"slices"

	"github.com/paylatch/paylatch/internal/payment"
)

// disputes checks that each dispute of the stored events exists, that its state is that of its last event, and that a
// discrepancy was opened for each open dispute.
func (e *examination) disputes() {
	told := e.toldOfDisputes()
	for _, d := range e.Disputes {
		e.standsAsTold(d, told[d.ProviderDisputeID])
		delete(told, d.ProviderDisputeID)
		if d.Account != e.Attempt.Account {
			e.differs("dispute_of_account", "dispute %s is of account %s, the attempt of %s", d.ID, d.Account, e.Attempt.Account)
		}
		if d.UpdatedAt.Before(d.OpenedAt) || d.ClosedAt != nil && (d.ClosedAt.Before(d.OpenedAt) || d.ClosedAt.After(d.UpdatedAt)) {
			e.differs("dispute_times", "dispute %s was opened at %s, changed at %s and closed at %v", d.ID, d.OpenedAt, d.UpdatedAt, d.ClosedAt)
		}
		seen := e.opened(payment.Disputed, payment.PaymentReversed, payment.CurrencyMismatch)
		if !d.State.Closed() && !seen {
			e.differs("dispute_is_seen", "dispute %s is %s, and no discrepancy reports it", d.ID, d.State)
		}
	}
	for id := range told {
		if !e.openedAbout(payment.AboutSharedReference, payment.AboutClaim, payment.AboutOtherPayee) { // it is another attempt's, or of no payment of ours
			e.differs("event_has_dispute", "an event of dispute %s was applied; there is no such dispute", id)
		}
	}
}

// toldOfDisputes returns the dispute reports of the attempt's stored events by the provider's id of the dispute. A report from a
// lookup is not stored.
func (e *examination) toldOfDisputes() map[string][]payment.DisputeReport {
	told := map[string][]payment.DisputeReport{}
	for _, s := range e.Events {
		lookedUp := s.Event.NeedsFetch && !payment.EventCountsBeside(s.Event)
		if s.Unreadable != nil || notApplied(s.Verdict) || s.Verdict == payment.VerdictDuplicate || lookedUp {
			continue
		}
		report, _ := payment.ReportOfEvent(s.Event, e.Attempt.Money.Currency)
		for _, t := range report.Disputes {
			told[t.ProviderID] = append(told[t.ProviderID], t)
		}
	}
	return told
}

// standsAsTold compares a dispute with its reports that have a time. Its state may be later, by a lookup, by an event that is
// deleted by now, or by a report without a time.
func (e *examination) standsAsTold(d payment.Dispute, told []payment.DisputeReport) {
	undated := func(t payment.DisputeReport) bool { return t.At.IsZero() }
	movedOn := slices.ContainsFunc(told, undated)
	want := payment.NewDispute(e.Attempt, d.ProviderDisputeID)
	for _, t := range told {
		if !undated(t) {
			payment.AdvanceDispute(&want, t, d.UpdatedAt)
		}
	}
	switch {
	case want.Version == 0, d.StatusAt.After(want.StatusAt):
	case d.StatusAt.Before(want.StatusAt):
		e.differs("dispute_follows_reports", "dispute %s has the report time %s, but its last report is of %s", d.ID, d.StatusAt, want.StatusAt)
	case d.State != want.State && !movedOn:
		e.differs("dispute_follows_reports", "dispute %s is %s, and was reported %s", d.ID, d.State, want.State)
	}
}

// rounds checks that the money that disputes took and returned is recorded, by all reports of each dispute.
func (e *examination) rounds() {
	of := map[string][]payment.DisputeMove{}
	for _, m := range e.Moves {
		of[m.Dispute] = append(of[m.Dispute], m)
	}
	for _, m := range e.Attempt.Movements {
		if m.Dispute != "" && of[m.Dispute] == nil {
			e.differs("dispute_moves_are_kept", "movement %d belongs to dispute %s, which has no stored report", m.Number, m.Dispute)
		}
	}
	for id, moves := range of {
		if took, gave := e.Attempt.DisputeLacks(id, moves); took != 0 || gave != 0 {
			e.differs("dispute_sums", "dispute %s took %d and returned %d more than the recorded movements", id, took, gave)
		}
	}
}
