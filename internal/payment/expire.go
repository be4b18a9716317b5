package payment

import (
	"cmp"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// Lives are how long attempts of an account may stay where they are before they
// are given up, see docs/how-it-works.md, "Expiry". Zero means the default.
type Lives struct {
	// AwaitingCustomer counts from the pay, 1 h by default.
	AwaitingCustomer time.Duration
	// Authorized counts from the authorisation, 7 days by default.
	Authorized time.Duration
	// Slow is for what the provider is still working at (a bank debit), from the
	// pay, 14 days by default. A refund that takes longer is not given up: a person
	// is asked.
	Slow time.Duration
}

const day = 24 * time.Hour

func (l Lives) slow() time.Duration { return cmp.Or(l.Slow, 14*day) }

// outlived reports whether an attempt has stayed too long where the provider has
// just said that it is. It is never a matter of time alone: without an answer it
// is false. The stage does not count, since an attempt that awaited the customer
// may be with a bank by now.
func (l Lives) outlived(a Attempt, said fsm.News, now time.Time) bool {
	switch {
	case a.State.Final():
		return false
	case said == fsm.NewsProcessing:
		return now.Sub(a.CreatedAt) > l.slow()
	case a.State == fsm.Authorized && (said == fsm.NewsAuthorized || said == fsm.NewsActionRequired):
		return now.Sub(a.UpdatedAt) > cmp.Or(l.Authorized, 7*day)
	case said == fsm.NewsActionRequired:
		return now.Sub(a.CreatedAt) > cmp.Or(l.AwaitingCustomer, time.Hour)
	}
	return false
}

// expire marks an attempt that has outlived its stage to be cancelled at the
// provider; it fails when the provider says that it is over. Where that can't be
// asked for, or was refused, a person is asked at the schedule's end.
func (s *Service) expire(b *batch, c *Change, n News) {
	a, account := &c.Attempt, s.opts.Accounts[c.Attempt.Account]
	if a.Intent.Kind != IntentNone || n.Cause.Kind == CauseCall || !account.Lives.outlived(*a, n.News, b.now()) {
		return
	}
	refused := a.Failure != nil // it was given up before, see giveUp
	if s.overdue(*a, n, b.now()) && (refused || !account.Provider.Capabilities().Cancel) {
		b.uncancelled(c)
	}
	if account.Provider.Capabilities().Cancel {
		giveUp(a, News{Failure: NewFailure("expired", "")}, b.now())
	}
}

// uncancelled asks a person about what is to end and does not.
func (b *batch) uncancelled(c *Change) {
	b.open(c, NeedsReview, "This payment should have ended long ago, and the provider does not cancel it: look it up in its dashboard, then resolve it as paid or not paid.")
	b.latest().About = aboutExpiry
}
