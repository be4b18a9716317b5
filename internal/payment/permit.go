package payment

import (
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// May money move now? Only this file decides it, and PermitRefund for refunds. It decides for a new pay, for a command
// before it is on disk, for each take of an operation, and when a provider's server requests permission before it takes
// a payment. The attempt is locked during the decision. The order and its other attempts are read by a later statement
// than the lock.
//
// Two facts turn the decision into a no: the cancellation of the order, and a report of money that another attempt
// holds. Both are written under the lock of the order's live attempt. So the permit needs no lock on the order.

// ResendWindow is how long after its first send an operation that takes or refunds money may be
// sent again, at the most: the customer may still be at the page.
const ResendWindow = 10 * time.Minute

// CompletionLife is how long after the pay an approved payment may be completed. A customer expects the charge within
// minutes, and not after an outage of hours.
const CompletionLife = time.Hour

// Resendable is how long an operation may be sent again: within the window, and as long as the
// provider keeps its idempotency key.
func (c Capabilities) Resendable() time.Duration { return min(ResendWindow, c.KeyLife) }

// Withheld is why no money may be taken for an attempt of the order any more: ErrOrderCancelled, or
// ErrOrderPaid if another attempt holds money; nil if it may.
func (o Order) Withheld(id AttemptID) error {
	switch {
	case o.CancelRequestedAt != nil:
		return ErrOrderCancelled
	case o.Accepted != nil:
		return ErrOrderPaid
	}
	for i := range o.Attempts {
		if o.Attempts[i].ID != id && o.Attempts[i].HoldsMoney() {
			return ErrOrderPaid
		}
	}
	return nil
}

// TakesPay returns nil if a new attempt may be made. Otherwise it returns the reason: ErrOrderPaid, which may be a
// LateMoneyError, ErrOrderCancelled or an InProgressError.
func (o Order) TakesPay() error {
	live := o.Live()
	switch {
	case live != nil && live.Succeeded(), o.Accepted != nil:
		return ErrOrderPaid
	case o.CancelRequestedAt != nil:
		return ErrOrderCancelled
	case live != nil:
		return &InProgressError{Attempt: *live}
	case o.HoldsMoney():
		return o.LateMoney()
	}
	for i := range o.Attempts {
		if o.Attempts[i].MayHold() {
			return &InProgressError{Attempt: o.Attempts[i]}
		}
	}
	return nil
}

// Decision is the permitted action for an operation that is due.
type Decision string

// The decisions.
const (
	// Send permits to send it.
	Send Decision = "send"
	// Ask permits only to look up its outcome.
	Ask Decision = "ask"
	// Withdraw closes it: it was not sent, and must not be sent any more.
	Withdraw Decision = "withdraw"
	// Wait leaves it until another operation's lease ends.
	Wait Decision = "wait"
	// Close ends it: the attempt has reached its target state, or can't reach it any more.
	Close Decision = "close"
)

// Permit decides about an operation of an attempt, read under the attempt's lock, and with the order as it is now. It
// never sends a refund.
func (a *Attempt) Permit(op *Operation, o Order, can Capabilities, now time.Time) Decision {
	if other := a.LeasedOperation(now); other != nil && other.Name() != op.Name() {
		return Wait
	}
	switch {
	case op.Kind == OperationCancel && op.Payment != "":
		return a.permitSecond(op)
	case op.Kind == OperationCancel:
		return a.permitCancel(op, can)
	case a.received(op, can):
		return Ask
	case a.State.Final() && (op.Kind != OperationCapture || a.Rest() == 0):
		return Close
	case op.Kind == OperationCheck:
		return Ask
	}
	return a.permitTake(op, o, can, now)
}

// permitTake decides about operations that take or hold the customer's money.
func (a *Attempt) permitTake(op *Operation, o Order, can Capabilities, now time.Time) Decision {
	withheld := o.Withheld(a.ID) != nil || a.OpenCancel() != nil
	switch {
	case withheld && op.Sends == 0:
		return Withdraw
	case withheld, !a.sendable(op, can, now):
		return Ask
	}
	return Send
}

// sendable reports whether an operation that takes money may be sent, for the first time or again.
// The only capture of a hold may be sent again at a provider without idempotency keys, too: the hold that it takes is
// there once.
func (a *Attempt) sendable(op *Operation, can Capabilities, now time.Time) bool {
	switch op.Kind {
	case OperationCharge:
		return a.Unreported() && !op.incomplete() && op.chargeable(can, op.Age(now))
	case OperationComplete:
		if op.Carries() {
			return !op.incomplete() && op.Age(now) < can.Resendable()
		}
		return now.Sub(a.CreatedAt) < CompletionLife && (op.Sends == 0 || op.Age(now) < can.Resendable())
	case OperationCapture:
		switch {
		case op.incomplete():
			return false
		case a.Capture != CaptureSeveral || op.Sends == 0:
			return op.Age(now) < ResendWindow
		case can.Resend == ResendUnfound: // the adapter looks for it first
			return op.ProviderRef == "" && op.chargeable(can, op.Age(now))
		}
		return op.Age(now) < can.Resendable()
	case OperationCancel, OperationRefund, OperationCheck:
	}
	return false
}

// chargeable reports whether a charge may be sent at its age. With ResendUnfound it may be sent a second time, and never a
// third: nothing shows how long ago the second send was.
func (o *Operation) chargeable(can Capabilities, age time.Duration) bool {
	if can.Resend == ResendUnfound && o.Sends > 0 {
		return o.Sends == 1 && age >= can.FindLag && age < ResendWindow
	}
	return age < can.Resendable()
}

// permitCancel decides about a cancel. It may be sent any number of times under its one key. The runner looks up the
// payment first if it has no name or has failed: its hold may be gone.
func (a *Attempt) permitCancel(op *Operation, can Capabilities) Decision {
	switch {
	case a.Succeeded() && a.Rest() == 0, a.Failed() && !a.Unreleased() && op.Sends > 0:
		return Close
	case op.State == fsm.OperationAccepted && can.Blind():
		return Ask // it was received, and can't be looked up
	}
	return Send
}

// permitSecond decides about the cancel of one payment beside the acting payment. It must not have taken money.
func (a *Attempt) permitSecond(op *Operation) Decision {
	if p := a.Payment(op.Payment); p == nil || !p.State.Live() && p.OnHold() == 0 {
		return Close
	}
	return Send
}

// TakesApproval reports whether an approval that a lookup has shown must be completed: once, within minutes of the pay,
// and not for an external payment.
func (a *Attempt) TakesApproval(now time.Time) bool {
	completed := slices.ContainsFunc(a.Operations, func(o Operation) bool { return o.Kind == OperationComplete && !o.Carries() })
	return a.Origin == OriginPaylatch && !completed && now.Sub(a.CreatedAt) < CompletionLife
}

// TakesCompletion reports whether a provider that inquires may take the payment now: its order
// withholds nothing, no cancel is open, and its money is neither held nor captured.
func (a *Attempt) TakesCompletion(o Order) bool {
	return o.Withheld(a.ID) == nil && !a.HoldsMoney() && a.State != fsm.Authorized && a.OpenCancel() == nil
}
