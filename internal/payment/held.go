package payment

import (
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// foreignTaken notes money that was taken in another currency. Told again, it is nothing
// new, even if it was given back meanwhile.
func foreignTaken(a *Attempt, m Money) {
	if a.Foreign.Currency == "" {
		a.Foreign.Currency = m.Currency
	}
	if a.Foreign.Currency == m.Currency {
		a.Foreign.Minor = max(a.Foreign.Minor, m.Minor)
	}
}

// foreignReturned notes that such money was given back, as one amount: parts of it are
// not added up, since one may be told of twice.
func foreignReturned(a *Attempt, m Money) {
	if a.Foreign.Currency == m.Currency {
		a.ForeignReturned = max(a.ForeignReturned, min(m.Minor, a.Foreign.Minor))
	}
}

// mismatched keeps what news in another currency says of money.
func mismatched(a *Attempt, n News, now time.Time) {
	switch {
	case n.News == fsm.NewsSucceeded:
		foreignTaken(a, *n.Money)
	case n.News == fsm.NewsAuthorized && a.Failed():
		a.HoldToldAt = &now
		doubtFailure(a, now)
	}
}

// overSince notes when a failed attempt was over: no hold that was told of before is
// there any more. Some providers give whole seconds.
func overSince(a *Attempt, at time.Time) {
	if a.HoldToldAt != nil && !at.Before(a.HoldToldAt.Truncate(time.Second)) {
		a.HoldToldAt = nil
	}
}

// aboutHold is what a discrepancy is about that asks for a hold to be given up.
const aboutHold = "hold"

// settlesHeld reports whether a person who resolves a discrepancy without moving the
// attempt says that what it holds beside its payment is settled.
func (d Discrepancy) settlesHeld() bool {
	return d.Kind == CurrencyMismatch && d.OfPayment() || d.Kind == NeedsReview && d.About == aboutHold
}

// settleHeld ends what a discrepancy was about, now that a person has settled it.
func settleHeld(a *Attempt, d Discrepancy) {
	switch {
	case d.Kind == NeedsReview:
		a.HoldToldAt = nil
	case d.Money != nil:
		foreignReturned(a, *d.Money)
	}
}
