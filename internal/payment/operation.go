package payment

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
)

// OperationKind is the kind of an operation.
type OperationKind string

// The kinds of operations.
const (
	OperationCharge OperationKind = "charge"
	// OperationComplete takes a payment that its customer has approved.
	OperationComplete OperationKind = "complete"
	OperationCapture  OperationKind = "capture"
	OperationCancel   OperationKind = "cancel"
	OperationRefund   OperationKind = "refund"
	// OperationCheck looks up the status of the payment, and moves nothing.
	OperationCheck OperationKind = "check"
)

// Takes reports whether the kind may take or hold a customer's money.
func (k OperationKind) Takes() bool {
	return k == OperationCharge || k == OperationComplete || k == OperationCapture
}

// OperationOrigin is why an operation is wanted.
type OperationOrigin string

// The origins of an operation.
const (
	// OperationOriginRequest operations are of a caller's command.
	OperationOriginRequest OperationOrigin = "request"
	// OperationOriginPolicy operations follow from a report.
	OperationOriginPolicy OperationOrigin = "policy"
	// OperationOriginOrderCancel operations follow from the cancellation of the order.
	OperationOriginOrderCancel OperationOrigin = "order_cancel"
	// OperationOriginExpiry operations end an attempt or a hold that has outlived its stage.
	OperationOriginExpiry OperationOrigin = "expiry"
	// OperationOriginPerson operations were requested by staff.
	OperationOriginPerson OperationOrigin = "person"
	// OperationOriginReconciler operations only look up.
	OperationOriginReconciler OperationOrigin = "reconciler"
)

// Operation is one thing that is wanted from a provider, and its whole life. It is on disk, in
// state sent, before its first byte.
type Operation struct {
	OrderID   OrderID
	AttemptID AttemptID
	Kind      OperationKind
	// Number counts within the attempt and the kind, from 0, and is never reused.
	Number  int
	Account string
	// RefundID is the refund that it is about; zero if there is none.
	RefundID RefundID
	// Payment is the provider's id of the payment to cancel; empty for all payments of the attempt.
	Payment string
	// Amount is the amount to capture or refund, in minor units; 0 for all.
	Amount int64
	Origin OperationOrigin
	// OriginID is the idempotency key of a request, or a person's subject.
	OriginID string

	State fsm.OperationState
	// Sends counts the permits to send, Fence the takes: a fencing token.
	Sends int
	Fence int64
	// LeaseUntil is the end of one runner's lease; nil if there is no lease.
	LeaseUntil *time.Time
	// Tries counts responses, and failures to get one.
	Tries int
	// NextAt is when it is due; nil once it is closed.
	NextAt *time.Time
	// FirstSentAt is the start of the resend window.
	FirstSentAt *time.Time
	// UnpaidAt is when nobody can pay any more what a charge made, unless its response came. It is nil for a charge that
	// may take money without its customer, or at any later time.
	UnpaidAt *time.Time
	// Final is set on the last capture of a hold. Before is the amount that was captured before a capture began.
	Final  bool
	Before int64
	// HasData is set on a capture or refund with members of the provider's own request.
	HasData bool
	// SealedRequest is the data for a resend, encrypted. It is not read with the operation.
	SealedRequest []byte
	// ProviderRef is the provider's id of this very call.
	ProviderRef string
	// Result is why it ended, in one word.
	Result    string
	CreatedAt time.Time
}

// OperationName identifies an operation.
type OperationName struct {
	AttemptID AttemptID
	Kind      OperationKind
	Number    int
}

// Name is the operation's.
func (o *Operation) Name() OperationName { return OperationName{o.AttemptID, o.Kind, o.Number} }

// Key is the provider's idempotency key, at most 45 characters (Square's limit).
func (o *Operation) Key() string {
	id := uuid.UUID(o.AttemptID)
	if o.Kind == OperationRefund {
		id = uuid.UUID(o.RefundID)
	}
	return hex.EncodeToString(id[:]) + "-" + string(o.Kind) + "-" + strconv.Itoa(o.Number)
}

// Slot is the operation's slot. Each slot of an attempt has one open operation at most.
func (o *Operation) Slot() string {
	switch {
	case o.Kind.Takes():
		return "take"
	case o.RefundID != RefundID{}:
		return o.RefundID.String()
	case o.Payment != "":
		return string(o.Kind) + " " + o.Payment
	}
	return string(o.Kind)
}

// Carries reports whether a request has more than the attempt's own members: the means of payment, the data that the
// provider's page returned, or members of the provider's own request.
func (o *Operation) Carries() bool {
	return o.Kind == OperationCharge || o.Kind == OperationComplete && o.Origin == OperationOriginRequest || o.HasData
}

// incomplete reports whether the data that a request carries is not kept any more: it must not be sent.
func (o *Operation) incomplete() bool { return o.Carries() && len(o.SealedRequest) == 0 }

// Open reports whether it may still have an effect, or must be looked at.
func (o *Operation) Open() bool { return o.State.Open() }

// Leased reports whether a runner has it.
func (o *Operation) Leased(now time.Time) bool { return o.LeaseUntil != nil && o.LeaseUntil.After(now) }

// Due reports whether it is due and no runner has it.
func (o *Operation) Due(now time.Time) bool {
	return o.NextAt != nil && !o.NextAt.After(now) && !o.Leased(now)
}

// Age is how long ago it was first sent, or wanted if it was not.
func (o *Operation) Age(now time.Time) time.Duration {
	if o.FirstSentAt == nil {
		return now.Sub(o.CreatedAt)
	}
	return now.Sub(*o.FirstSentAt)
}

// errLife is returned for an event that an operation's life does not have: a bug of this program.
var errLife = errors.New("not in the life of an operation")

// apply moves the operation by an event. It reports whether it moved.
func (o *Operation) apply(e fsm.OperationEvent) bool {
	step, err := fsm.NextOperation(o.State, e)
	if err != nil {
		panic(fmt.Errorf("%w: %s of %s: %w", errLife, e, o.Key(), err))
	}
	o.State = step.To
	if !o.Open() {
		o.NextAt, o.LeaseUntil = nil, nil
	}
	return step.Moved()
}

// Take gives the operation to one runner until end, to send it or to look it up. The fence rises, so an earlier runner's
// conclusions are void from then on.
func (o *Operation) Take(d Decision, now, end time.Time) {
	o.Fence++
	o.LeaseUntil = &end
	if d != Send {
		o.apply(fsm.OperationAsk)
		return
	}
	o.apply(fsm.OperationSend)
	o.Sends++
	if o.FirstSentAt == nil {
		o.FirstSentAt = &now
	}
}

// Finish closes the operation: a report has shown its effect, or no effect is needed any more.
func (o *Operation) Finish(result string) { o.close(fsm.OperationFinish, result) }

// Refuse closes the operation after the provider's definitive refusal.
func (o *Operation) Refuse(result string) { o.close(fsm.OperationRefuse, result) }

// Miss closes the operation that never reached the provider.
func (o *Operation) Miss(result string) { o.close(fsm.OperationMiss, result) }

// Withdraw closes the operation that was not sent and is no longer wanted.
func (o *Operation) Withdraw() { o.close(fsm.OperationWithdraw, "") }

func (o *Operation) close(e fsm.OperationEvent, result string) {
	if o.apply(e) && result != "" {
		o.Result = result
	}
}

// Accept records that the provider has it.
func (o *Operation) Accept() { o.apply(fsm.OperationAccept) }

// Lose records that a call ended without a response.
func (o *Operation) Lose() { o.apply(fsm.OperationLose) }

// Restore undoes a permit to send if not a byte was sent.
func (o *Operation) Restore() {
	o.Sends--
	if o.Sends == 0 {
		o.FirstSentAt = nil
		o.apply(fsm.OperationRestore)
		return
	}
	o.apply(fsm.OperationLose)
}

// Wait sets when the operation is due again and ends the lease.
func (o *Operation) Wait(at time.Time) {
	if o.Open() {
		o.LeaseUntil, o.NextAt = nil, &at
	}
}

// Sooner makes an open operation due at a time, unless it is due before.
func (o *Operation) Sooner(at time.Time) {
	if o.Open() && (o.NextAt == nil || at.Before(*o.NextAt)) {
		o.NextAt = &at
	}
}

// NewOperation is a wanted operation with the next number of its kind, not yet the attempt's.
func (a *Attempt) NewOperation(k OperationKind, origin OperationOrigin, now time.Time) Operation {
	number := 0
	for i := range a.Operations {
		if o := &a.Operations[i]; o.Kind == k {
			number = max(number, o.Number+1)
		}
	}
	return Operation{
		OrderID: a.OrderID, AttemptID: a.ID, Kind: k, Number: number, Account: a.Account, Origin: origin,
		State: fsm.OperationWanted, NextAt: &now, CreatedAt: now,
	}
}

// Begin makes a new operation that its creator sends at once: it gives the permit and the first lease. The operation is
// due at next if no response is recorded.
func (o *Operation) Begin(now, end, next time.Time) {
	o.Take(Send, now, end)
	o.NextAt = &next
}

// OpenOperation is the attempt's open operation of a slot; nil if there is none.
func (a *Attempt) OpenOperation(slot string) *Operation {
	for i := range a.Operations {
		if o := &a.Operations[i]; o.Open() && o.Slot() == slot {
			return o
		}
	}
	return nil
}

// OpenCancel is the attempt's open cancel; nil if there is none.
func (a *Attempt) OpenCancel() *Operation { return a.OpenOperation(string(OperationCancel)) }

// LastCancel is the last cancel of the attempt as a whole; nil if there is none.
func (a *Attempt) LastCancel() (last *Operation) { return a.lastCancel("") }

// CancelOf is the last cancel of one payment; nil if there is none.
func (a *Attempt) CancelOf(payment string) *Operation { return a.lastCancel(payment) }

func (a *Attempt) lastCancel(payment string) (last *Operation) {
	for i := range a.Operations {
		if o := &a.Operations[i]; o.Kind == OperationCancel && o.Payment == payment && (last == nil || o.Number > last.Number) {
			last = o
		}
	}
	return last
}

// HeldAnew is the result of a cancel that was replaced: the provider accepted it, and money is on hold.
const HeldAnew = "held_anew"

// Replaces reports whether the operation replaced an earlier cancel, which the provider may have carried out.
func (a *Attempt) Replaces(o *Operation) bool {
	return slices.ContainsFunc(a.Operations, func(before Operation) bool {
		return before.Kind == o.Kind && before.Payment == o.Payment && before.Number < o.Number && before.Result == HeldAnew
	})
}

// CancelWanted reports whether the attempt as a whole was to be cancelled at any time.
func (a *Attempt) CancelWanted() bool {
	return a.LastCancel() != nil
}

// cancelSent reports whether the provider may have carried out a cancel of the attempt as a whole. A call that was refused did nothing, and
// the response to a call states what that call itself did. Only an earlier call of the same cancel may have done more.
func (a *Attempt) cancelSent(cause Cause) bool {
	return slices.ContainsFunc(a.Operations, func(o Operation) bool {
		told := o.State == fsm.OperationRefused || cause.Kind == CauseCall && cause.ID == o.Key()
		return o.Kind == OperationCancel && o.Payment == "" && (o.Sends > 1 || o.Sends == 1 && !told)
	})
}

// OpenTake is the attempt's open charge, complete or capture; nil if there is none.
func (a *Attempt) OpenTake() *Operation { return a.OpenOperation("take") }

// Operation is the attempt's operation with a name, nil if it does not exist.
func (a *Attempt) Operation(kind OperationKind, number int) *Operation {
	for i := range a.Operations {
		if o := &a.Operations[i]; o.Kind == kind && o.Number == number {
			return o
		}
	}
	return nil
}

// LeasedOperation is the operation whose runner has the attempt; nil if there is none. Refunds have leases of their own.
func (a *Attempt) LeasedOperation(now time.Time) *Operation {
	for i := range a.Operations {
		if o := &a.Operations[i]; o.RefundID == (RefundID{}) && o.Leased(now) {
			return o
		}
	}
	return nil
}

// RefundOperation is the open operation of a refund; nil if there is none.
func (a *Attempt) RefundOperation(id RefundID) *Operation { return a.OpenOperation(id.String()) }

// Unreleased reports whether a failed attempt may have money on hold, in any currency. Movements
// must be filled in.
func (a *Attempt) Unreleased() bool {
	if !a.Failed() {
		return false
	}
	if a.OnHold() > 0 {
		return true
	}
	for _, m := range a.Movements {
		if m.Money.Currency != a.Money.Currency {
			one := a.in(m.Money.Currency)
			if one.OnHold() > 0 {
				return true
			}
		}
	}
	return false
}
