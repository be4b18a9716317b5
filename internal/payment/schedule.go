package payment

import (
	"cmp"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// The schedule decides when operations are due: the backoff between tries, the give-up
// threshold, and how long an attempt may stay unfinished.

// backoff is how long after a response the next lookup is due, in multiples of the first delay. By
// default 10 s, 30 s, 1 m, 2 m, 5 m, 15 m, 1 h, 6 h, 24 h, then daily.
var backoff = [...]int{1, 3, 6, 12, 30, 90, 360, 2160, 8640} //nolint:gochecknoglobals // a table

// GiveUpLeases is how many leases must have passed since an operation could last have been sent,
// before a consistent "not found" counts as proof.
const GiveUpLeases = 10

// Schedule is when operations are due.
type Schedule struct {
	// First is the first delay, of which the later ones are multiples.
	First time.Duration
	// Lease is how long a runner may have an operation.
	Lease time.Duration
}

// Delay is how long to wait after so many tries.
func (s Schedule) Delay(tries int) time.Duration {
	return time.Duration(backoff[min(tries, len(backoff)-1)]) * s.First
}

// agesToWait bounds the wait for the next try, in ages of the operation. The schedule alone never waits so long.
const agesToWait = 5

// Next returns when an operation that was tried now is due again. Tries beside the schedule, such as lookups that a page asks for, count
// as tries, but don't delay the next try much: the wait is at most agesToWait times as long as the time since the beginning.
func (s Schedule) Next(op *Operation, began, now time.Time) time.Time {
	return now.Add(min(s.Delay(op.Tries), max(s.First, agesToWait*now.Sub(began))))
}

// Began is when the tries of an operation began. A cancel may take the place of another one.
func (a *Attempt) Began(op *Operation) time.Time {
	if op.Kind == OperationCancel {
		return a.CreatedAt
	}
	return op.CreatedAt
}

// LastTried computes when an open operation was last tried from the time when it is due again: the reverse of Next. The result is zero for
// an operation that was not tried, and in the future for an operation that waits for something else.
func (s Schedule) LastTried(op *Operation, began time.Time) time.Time {
	if op.Tries == 0 || op.NextAt == nil {
		return time.Time{}
	}
	next := *op.NextAt
	return next.Add(-min(s.Delay(op.Tries), max(s.First, next.Sub(began)*agesToWait/(agesToWait+1))))
}

// GivenUp reports whether the give-up threshold is passed: after so many tries, or, while calls are
// held back and none can be made, so long a time. Then a discrepancy is opened, and lookups go on
// daily.
func (s Schedule) GivenUp(tries int, heldBack bool, after time.Duration) bool {
	whole := s.First * time.Duration(backoff[len(backoff)-1])
	for _, multiple := range backoff {
		whole += s.First * time.Duration(multiple)
	}
	return tries > len(backoff) || heldBack && after > whole
}

// NeverArrived reports whether an operation is so old that a consistent "not found" proves
// that it never reached the provider: nothing of it was sent for so long. A cancel request
// ends the sending, too.
func (s Schedule) NeverArrived(op *Operation, can Capabilities, cancelled, now time.Time) bool {
	if op.FirstSentAt == nil {
		return op.Sends == 0
	}
	last := op.FirstSentAt.Add(can.Resendable())
	if !cancelled.IsZero() && cancelled.Before(last) {
		last = cancelled
	}
	return now.Sub(last) > GiveUpLeases*s.Lease
}

// Unpayable reports whether a charge without a response is over: it is not sent again, a lookup by our reference has had
// the time to find it, and nobody can pay any more what it may have made.
func (s Schedule) Unpayable(charge *Operation, can Capabilities, now time.Time) bool {
	if charge.UnpaidAt == nil || charge.FirstSentAt == nil {
		return false
	}
	wait := can.Resendable()
	if can.Finds() {
		wait = max(wait, can.FindLag) + GiveUpLeases*s.Lease
	}
	return now.Sub(*charge.FirstSentAt) >= wait && !now.Before(*charge.UnpaidAt)
}

// MaxAge are how long attempts of an account may stay where they are before they are
// cancelled. Zero means the default.
type MaxAge struct {
	// AwaitingCustomer counts from the pay, 1 h by default.
	AwaitingCustomer time.Duration
	// Authorized counts from the authorisation, 7 days by default.
	Authorized time.Duration
	// Slow is for what the provider is still working at (a bank debit), from the pay, 14 days by
	// default. A refund that takes longer is not cancelled: a discrepancy is opened.
	Slow time.Duration
}

const day = 24 * time.Hour

// SlowLife returns Slow, or 14 days if Slow is not set.
func (l MaxAge) SlowLife() time.Duration { return cmp.Or(l.Slow, 14*day) }

// Outlived reports whether an attempt has stayed too long where the provider has just reported it
// to be. Time alone never suffices: without a report it is false. The attempt's own stage does not
// count, since one that awaited the customer may be with a bank by now. If the attempt or its
// voucher states until when the customer can pay, that time counts.
func (l MaxAge) Outlived(a Attempt, says fsm.Event, now time.Time) bool {
	switch {
	case a.State.Final():
		return false
	case says == fsm.EventProcessing:
		return now.Sub(a.CreatedAt) > l.SlowLife()
	case a.State == fsm.Authorized && (says == fsm.EventAuthorized || says == fsm.EventActionRequired):
		return now.Sub(a.UpdatedAt) > cmp.Or(l.Authorized, 7*day)
	case says == fsm.EventActionRequired, (says == fsm.EventSoftFailed || says == fsm.EventFailed) && a.DeclinedOnPage():
		return a.ExpiresAt == nil && now.Sub(a.CreatedAt) > cmp.Or(l.AwaitingCustomer, time.Hour) && !a.voucherValid(now)
	}
	return false
}

// voucherValid reports whether the customer has a voucher that can still be paid.
func (a *Attempt) voucherValid(now time.Time) bool {
	return a.NextAction != nil && a.NextAction.Type == ActionDisplay && now.Before(a.NextAction.ExpiresAt)
}

// LastTry is the last try of the schedule before its daily ones.
const LastTry = len(backoff) - 1
