package payment

import (
	"fmt"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// replay derives the attempt from its log by the same function that wrote it, and
// compares each version, and the last one with the row.
func (e *examination) replay() {
	if len(e.Log) == 0 {
		e.differs("log_is_there", "there is no log of version 1 to %d", e.Attempt.Version)
		return
	}
	a := e.newborn()
	for i, t := range e.Log {
		if t.Version != i+1 {
			e.differs("versions_without_gaps", "version %d of the log follows %d", t.Version, i)
		}
		if t.From != a.State {
			e.differs("log_is_unbroken", "version %d goes on from %s; the one before it ended in %s", t.Version, t.From, a.State)
		}
		a.State = t.From
		if i > 0 {
			e.again(&a, t)
		}
		if got := a.facts(); got != t.Facts || t.To != a.State {
			e.differs("log_replays", "version %d: %s in %s leads to %s with %s; the log says %s with %s", t.Version, t.News, t.From, a.State, got, t.To, t.Facts)
		}
		a.State, a.Version = t.To, t.Version
		a.ProviderPaymentID, a.NextActionURL = t.Facts.ProviderPaymentID, t.Facts.NextActionURL
		a.Authorized, a.Captured, a.Refunded = t.Facts.Authorized, t.Facts.Captured, t.Facts.Refunded
		a.Reversed, a.Disputed, a.LastMovement = t.Facts.Reversed, t.Facts.Disputed, t.LastMovement
	}
	e.compare(a)
}

// newborn is the attempt as commit 1 inserted it.
func (e *examination) newborn() Attempt {
	return Attempt{
		ID: e.Attempt.ID, OrderID: e.Attempt.OrderID, Account: e.Attempt.Account, Money: e.Attempt.Money, Capture: e.Attempt.Capture,
		State: fsm.Requested, CreatedAt: e.Log[0].At, UpdatedAt: e.Log[0].At,
	}
}

// again applies to an attempt what one line of the log says happened.
func (e *examination) again(a *Attempt, t Transition) {
	if t.News == newsRefunded {
		a.Refunded, a.UpdatedAt = t.Facts.Refunded, t.At
		return
	}
	money, odd := told(*a, t)
	if odd && !e.opened(AmountMismatch, CurrencyMismatch) {
		e.differs("mismatch_is_seen", "version %d: %s moved nothing, and no discrepancy says why", t.Version, t.News)
	}
	a.Intent = Intent{}
	advance(a, News{
		News: t.News, ProviderPaymentID: t.Facts.ProviderPaymentID, NextActionURL: t.Facts.NextActionURL, Money: money, Cause: t.Cause,
		rows: e.since(a.LastMovement, t.LastMovement),
	}, t.At)
	a.UpdatedAt = t.At
}

// told is the money that news must have spoken of for the log to be what it is:
// the log keeps what the attempt was afterwards. Odd news would have moved the
// attempt and did not, since it spoke of other money.
func told(a Attempt, t Transition) (money *Money, odd bool) {
	var was, is int64
	if t.News == fsm.NewsSucceeded && t.Cause.Kind == CausePerson {
		return &Money{t.Facts.Captured, a.Money.Currency}, false
	}
	switch t.News {
	case fsm.NewsAuthorized:
		was, is = a.Authorized, t.Facts.Authorized
	case fsm.NewsSucceeded:
		was, is = a.Captured, t.Facts.Captured
	case fsm.NewsUnknown, fsm.NewsReversed, fsm.NewsProcessing, fsm.NewsActionRequired, fsm.NewsSoftFailed, fsm.NewsFailed, fsm.NewsDisputed:
		return nil, false
	}
	step, err := fsm.Next(a.State, t.News)
	odd = err == nil && step.Moved() && t.From == t.To
	switch {
	case is != was:
		return &Money{is, a.Money.Currency}, odd
	case t.From == t.To:
		return &Money{is, "another"}, odd
	}
	return nil, false
}

// compare holds what the log makes of the attempt against the row.
func (e *examination) compare(a Attempt) {
	row := &e.Attempt
	if a.State != row.State {
		e.differs("row_follows_log", "the log ends in %s, the attempt is %s", a.State, row.State)
	}
	if want, got := a.facts(), row.facts(); a.State == row.State && want != got {
		e.differs("row_follows_log", "the log ends with %s, the attempt has %s", want, got)
	}
	if a.Version != row.Version {
		e.differs("row_follows_log", "the log ends with version %d, the attempt is at %d", a.Version, row.Version)
	}
	if !a.CreatedAt.Equal(row.CreatedAt) || !e.Log[len(e.Log)-1].At.Equal(row.UpdatedAt) {
		e.differs("times_follow_log", "the log lasts from %s to %s, the attempt from %s to %s", a.CreatedAt, e.Log[len(e.Log)-1].At, row.CreatedAt, row.UpdatedAt)
	}
	if at := e.finalized(); row.State.Final() && (row.FinalizedAt == nil || !at.Equal(*row.FinalizedAt)) {
		e.differs("times_follow_log", "the log says that it was final at %s, the attempt at %v", at, row.FinalizedAt)
	}
	if row.Failed() && row.Failure == nil || row.Succeeded() && row.Failure != nil {
		e.differs("failure_has_reason", "the attempt is %s, and its failure is %v", row.State, row.Failure)
	}
}

// finalized is when the log says that the attempt was final.
func (e *examination) finalized() (at time.Time) {
	for _, t := range e.Log {
		if t.To.Final() && !t.From.Final() {
			at = t.At
		}
	}
	return at
}

// String shows amounts as a person compares them.
func (f Facts) String() string {
	return fmt.Sprintf("%q authorised %d captured %d reversed %d disputed %d refunded %d",
		f.ProviderPaymentID, f.Authorized, f.Captured, f.Reversed, f.Disputed, f.Refunded)
}
