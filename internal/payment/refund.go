package payment

import (
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
)

// The rules of refunds. A refund has a state and a version
// of its own. Its money counts by the movements of its attempt.

// RefundOrigin is the source of a refund.
type RefundOrigin string

// The origins of a refund.
const (
	// RefundByRequest refunds came from a caller's command.
	RefundByRequest RefundOrigin = "request"
	// RefundByPolicy refunds are of the account's policy for late money: one an attempt.
	RefundByPolicy RefundOrigin = "policy"
	// RefundByProvider refunds were made in the provider's own dashboard.
	RefundByProvider RefundOrigin = "provider"
)

// Refund is a refund's identity and state. The attempt's refunded amount comes from its movements, not from Money. Only
// [Advance] changes the state.
type Refund struct {
	ID        RefundID
	OrderID   OrderID
	AttemptID AttemptID
	Origin    RefundOrigin
	// UserID, RequestID and RequestHash come from the request; zero if there is none.
	UserID           UserID
	RequestID        RequestID
	RequestHash      idempotency.Hash
	Account          string
	ProviderRefundID string
	// ProviderPaymentID is the payment, or one of several captures of it, that is refunded. It is chosen once, when the refund
	// is made; empty while the payment has no name.
	ProviderPaymentID string

	State   fsm.RefundState
	Money   Money
	Reason  string
	Failure *Failure

	Version              int
	CreatedAt, UpdatedAt time.Time
	FinalizedAt          *time.Time
	ReadAt               time.Time
	// LeaseUntil is until when a runner has its operation; nil if there is none. It is read with the
	// refund and not stored there.
	LeaseUntil *time.Time
	// NextAt is when its operation is due, read as LeaseUntil.
	NextAt *time.Time
}

// NewRefund is a refund of an attempt's money that is pending.
func NewRefund(a Attempt, origin RefundOrigin, m Money, now time.Time) Refund {
	return Refund{
		ID: RefundID(CellOf(a.ID).NewID()), OrderID: a.OrderID, AttemptID: a.ID, Origin: origin, Account: a.Account,
		State: fsm.RefundPending, Money: m, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
}

// Leased reports whether a runner had the refund's operation when it was read.
func (r Refund) Leased() bool { return r.LeaseUntil != nil && r.LeaseUntil.After(r.ReadAt) }

// Nameless reports whether the provider may have this refund of ours and has not named it.
func (r Refund) Nameless() bool {
	return r.State == fsm.RefundPending && r.ProviderRefundID == "" && r.Origin != RefundByProvider
}

// Superseded reports whether a refund turned out to be another one: it has no movement.
func (r Refund) Superseded() bool { return r.Origin == RefundByProvider && r.ProviderRefundID == "" }

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
func (r Refund) PaidBack(a *Attempt) bool {
	id := r.movementID(a)
	_, paid := a.Movement(MovementRefund, id)
	_, undone := a.Movement(MovementRefundReversal, id)
	return paid && !undone
}

// Reversed reports whether the refund succeeded and its money came back after.
func (r Refund) Reversed(a *Attempt) bool {
	_, undone := a.Movement(MovementRefundReversal, r.movementID(a))
	return undone
}

// PermitRefund decides about an operation of one of an attempt's refunds. The caller holds the attempt's lock. r is nil if the
// refund does not exist. The operation is sent, or sent again, only while the attempt's money covers it.
func PermitRefund(op *Operation, a *Attempt, all []Refund, can Capabilities, r *Refund, now time.Time) Decision {
	switch {
	case r == nil || r.State.Final():
		return Close
	case r.ProviderRefundID != "" || op.Sends > 0 && op.Age(now) >= can.Resendable():
		return Ask
	case op.Kind != OperationRefund, covered(a, all, r) && !op.incomplete():
		return Send
	case op.Sends > 0:
		return Ask // an earlier call may have been accepted
	}
	return Withdraw
}
