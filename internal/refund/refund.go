// Package refund decides what happens to refunds, without I/O, like package payment. A refund has a state and a version
// of its own. Its money counts by the movements of its attempt.
package refund

import (
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/cell"
	"github.com/paylatch/paylatch/internal/payment"
)

// Origin is the source of a refund.
type Origin string

// The origins of a refund.
const (
	// ByRequest refunds came from a caller's command.
	ByRequest Origin = "request"
	// ByPolicy refunds are of the account's policy for late money: one an attempt.
	ByPolicy Origin = "policy"
	// ByProvider refunds were made in the provider's own dashboard.
	ByProvider Origin = "provider"
)

// Refund is a refund's identity and state. Its amount counts by its movement. Only [Advance]
// changes its state.
type Refund struct {
	ID        payment.RefundID
	OrderID   payment.OrderID
	AttemptID payment.AttemptID
	Origin    Origin
	// UserID, RequestID and RequestHash come from the request; zero without one.
	UserID           payment.UserID
	RequestID        payment.RequestID
	RequestHash      idempotency.Hash
	Account          string
	ProviderRefundID string
	// ProviderPaymentID is the payment that is refunded, as the caller named it; empty where no caller did.
	ProviderPaymentID string

	State   fsm.RefundState
	Money   payment.Money
	Reason  string
	Failure *payment.Failure

	Version              int
	CreatedAt, UpdatedAt time.Time
	FinalizedAt          *time.Time
	ReadAt               time.Time
	// LeaseUntil is until when a runner has its operation; nil without one. It is read with the
	// refund and not stored there.
	LeaseUntil *time.Time
	// NextAt is when its operation is due, read as LeaseUntil.
	NextAt *time.Time
}

// New is a refund of an attempt's money that is pending.
func New(a payment.Attempt, origin Origin, m payment.Money, now time.Time) Refund {
	return Refund{
		ID: payment.RefundID(cell.Of(a.ID).NewID()), OrderID: a.OrderID, AttemptID: a.ID, Origin: origin, Account: a.Account,
		State: fsm.RefundPending, Money: m, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
}

// Leased reports whether a runner had the refund's operation when it was read.
func (r Refund) Leased() bool { return r.LeaseUntil != nil && r.LeaseUntil.After(r.ReadAt) }

// Nameless reports whether the provider may have this refund of ours and has not named it.
func (r Refund) Nameless() bool {
	return r.State == fsm.RefundPending && r.ProviderRefundID == "" && r.Origin != ByProvider
}

// Superseded reports whether a refund turned out to be another one: it has no movement.
func (r Refund) Superseded() bool { return r.Origin == ByProvider && r.ProviderRefundID == "" }

// Event is the event that leads to the refund's state.
func (r Refund) Event() fsm.Event {
	switch r.State {
	case fsm.RefundSucceeded:
		return fsm.EventSucceeded
	case fsm.RefundFailed:
		return fsm.EventFailed
	case fsm.RefundPending:
	}
	return fsm.EventProcessing
}

// PaidBack reports whether the customer has the refund's money, as the attempt's movements have it.
func (r Refund) PaidBack(a *payment.Attempt) bool {
	id := r.movementID(a)
	_, paid := a.Movement(payment.MovementRefund, id)
	_, undone := a.Movement(payment.MovementRefundReversal, id)
	return paid && !undone
}

// Reversed reports whether the refund succeeded and its money came back after.
func (r Refund) Reversed(a *payment.Attempt) bool {
	_, undone := a.Movement(payment.MovementRefundReversal, r.movementID(a))
	return undone
}

// Permit decides about an operation of one of an attempt's refunds. The caller holds the attempt's lock. r is nil if the
// refund does not exist. The operation is sent, or sent again, only while the attempt's money covers it.
func Permit(op *payment.Operation, a *payment.Attempt, all []Refund, can payment.Capabilities, r *Refund, now time.Time) payment.Decision {
	switch {
	case r == nil || r.State.Final():
		return payment.Close
	case r.ProviderRefundID != "" || op.Sends > 0 && op.Age(now) >= can.Resendable():
		return payment.Ask
	case op.Kind != payment.OperationRefund, covered(a, all, r):
		return payment.Send
	case op.Sends > 0:
		return payment.Ask // an earlier call may have been accepted
	}
	return payment.Withdraw
}
