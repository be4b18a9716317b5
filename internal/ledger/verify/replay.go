package verify

import (
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// replay derives the attempt from its log: the states by the state machine over its reports,
// the sums by the numbers of its movements. It compares each version, and the last one with
// the row.
func (e *examination) replay() {
	if len(e.Log) == 0 {
		e.differs("log_is_there", "there is no log of version 1 to %d", e.Attempt.Version)
		return
	}
	a := payment.Attempt{Money: e.Attempt.Money, State: e.Attempt.Origin.First()}
	for i, t := range e.Log {
		if t.Version != i+1 {
			e.differs("versions_without_gaps", "version %d of the log follows %d", t.Version, i)
		}
		if t.From != a.State {
			e.differs("log_is_unbroken", "version %d starts from %s; the previous version ended in %s", t.Version, t.From, a.State)
		}
		if i > 0 {
			e.step(t)
		}
		a.State = t.To
		e.count(&a, t.LastMovement)
		facts := t.Facts
		if a.Authorized != facts.Authorized || a.Captured != facts.Captured || a.Refunded != facts.Refunded || a.Disputed != facts.Disputed || a.ForeignMoney != facts.ForeignMoney {
			e.differs("log_sums", "version %d: movements 1 to %d make %s; the log has %s", t.Version, t.LastMovement, sums(a.Facts()), sums(facts))
		}
	}
	e.compare(e.Log[len(e.Log)-1])
}

// count adds the movements up to a number.
func (e *examination) count(a *payment.Attempt, last int) {
	for _, m := range e.Attempt.Movements {
		if m.Number > a.LastMovement && m.Number <= last {
			a.Movements = append(a.Movements, m)
			a.Count(m)
		}
	}
	a.LastMovement = last
}

// step checks that the report of one version leads to its state. A report that conflicts with the attempt's order changes no
// state, and has a discrepancy.
func (e *examination) step(t payment.Transition) {
	step, err := fsm.Next(t.From, t.Event)
	switch {
	case err != nil:
		e.differs("log_replays", "version %d: %v", t.Version, err)
	case step.To == t.To:
	case t.From == t.To && e.opened(payment.AmountMismatch, payment.CurrencyMismatch):
	case t.From == t.To && t.From == fsm.Authorized && (t.Event == fsm.EventFailed || t.Event == fsm.EventProcessing):
		// It was the failure of a transaction beside another transaction that holds the money.
	default:
		e.differs("log_replays", "version %d: %s in %s leads to %s; the log has %s", t.Version, t.Event, t.From, step.To, t.To)
	}
}

// compare holds the last version of the log against the row.
func (e *examination) compare(last payment.Transition) {
	row := &e.Attempt
	if got := row.Facts(); last.Facts != got || last.LastMovement != row.LastMovement {
		e.differs("row_follows_log", "the log ends with %s, the attempt has %s", sums(last.Facts), sums(got))
	}
	if last.Version != row.Version {
		e.differs("row_follows_log", "the log ends with version %d, the attempt is at %d", last.Version, row.Version)
	}
	if !e.Log[0].At.Equal(row.CreatedAt) || !last.At.Equal(row.UpdatedAt) {
		e.differs("times_follow_log", "the log lasts from %s to %s, the attempt from %s to %s", e.Log[0].At, last.At, row.CreatedAt, row.UpdatedAt)
	}
	if at := e.finalized(); row.State.Final() && (row.FinalizedAt == nil || !at.Equal(*row.FinalizedAt)) {
		e.differs("times_follow_log", "the log has the final time %s, the attempt has %v", at, row.FinalizedAt)
	}
	if row.Failed() && row.Failure == nil || row.Succeeded() && row.Failure != nil {
		e.differs("failure_has_reason", "the attempt is %s, and its failure is %v", row.State, row.Failure)
	}
}

// finalized is when the log has that the attempt became final.
func (e *examination) finalized() (at time.Time) {
	for _, t := range e.Log {
		if t.To.Final() && !t.From.Final() {
			at = t.At
		}
	}
	return at
}
