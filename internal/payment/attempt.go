package payment

import (
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
)

// CaptureMode is when the money is captured.
type CaptureMode string

// The capture modes: with the authorisation, later by one confirm, or later by several confirms.
const (
	CaptureAutomatic CaptureMode = "automatic"
	CaptureManual    CaptureMode = "manual"
	CaptureSeveral   CaptureMode = "manual_multiple"
)

// Origin is the party whose call began an attempt.
type Origin string

const (
	// OriginPaylatch attempts are ours.
	OriginPaylatch Origin = "paylatch"
	// OriginExternal attempts began with the merchant's own call, or with the provider's script on its page. Reports
	// create them. We call the provider only to look up, capture, cancel or refund.
	OriginExternal Origin = "external"
	// OriginImported attempts are of the past, and were imported.
	OriginImported Origin = "imported"
)

// First is the initial state of an attempt.
func (b Origin) First() fsm.State {
	if b == OriginExternal {
		return fsm.AwaitingCustomer
	}
	return fsm.Requested
}

// Attempt is one try to pay one order. Only [Advance] changes its state, amounts and version.
type Attempt struct { //nolint:recvcheck // methods that only read take a value
	ID          AttemptID
	OrderID     OrderID
	UserID      UserID
	RequestID   RequestID
	RequestHash idempotency.Hash
	// Account is the configured account at a provider. Merchant is the number of the merchant behind it with which the attempt was
	// begun.
	Account  string
	Merchant int
	// Origin is the party whose call began the attempt. ExpiresAt is the time at which an external attempt is
	// given up; nil for other attempts.
	Origin    Origin
	ExpiresAt *time.Time
	// ProviderPaymentID is the id of the acting payment, see Acting, or of the container in which it will be made. It is
	// empty until the provider has named one of the two.
	ProviderPaymentID string
	// Payments are all the payments that the attempt has at the provider, in the order of their first reports.
	// Containers are the pages, sessions and orders in which the payments are made. PageOpen is set after a declined try
	// on a page on which the customer may try again.
	Payments   []Payment
	Containers []Container
	PageOpen   bool

	State fsm.State
	Money Money
	// The amounts are exact sums of the attempt's movements in Money's currency, in minor units, in every state. A
	// reversal may be reported before its original, so each sum may be below 0 for a while.
	//
	// Authorized is authorizations less releases, Captured captures less capture reversals,
	// Refunded refunds less refund reversals, Disputed chargebacks less chargeback reversals.
	Authorized, Captured, Refunded, Disputed int64
	// ForeignMoney is set while money in another currency than Money's is held.
	ForeignMoney bool
	// LastMovement is the number of the attempt's last movement, 0 without movements. Movements are filled in where the
	// attempt was locked.
	LastMovement int
	Movements    []Movement
	// Operations are filled in where the attempt was locked, all of them, by kind and number.
	Operations []Operation
	// Disputes are filled in where the attempt was read to be shown, oldest first; nil elsewhere.
	Disputes []Dispute
	// Moves are the reported movements of its disputes' money. They are filled in for the comparison with the provider's
	// books.
	Moves []DisputeMove

	Capture CaptureMode
	// Split is set if the pay shared its money with other accounts at the provider. A refund must then say who bears it.
	Split bool
	// SealedReceipt is the content of its fiscal receipts, encrypted; nil without receipts. It is not read with the
	// attempt.
	SealedReceipt []byte
	// NextAction is the step that the customer must take; nil if no step is due.
	NextAction *NextAction
	Failure    *Failure
	// Saved is the payment method that the provider has stored; nil if there is no stored method.
	Saved *SavedMethod
	// Review is the provider's own review of the payment, its status empty without one.
	Review Review

	// Version rises with each change that a caller can see.
	Version              int
	CreatedAt, UpdatedAt time.Time
	FinalizedAt          *time.Time
	// ReadAt is the clock of the database when the attempt was read.
	ReadAt time.Time
	// Siblings is set if the order has further attempts.
	Siblings bool
}

// InitialTransition is the attempt's first entry in the log.
func (a Attempt) InitialTransition() Transition {
	kind := CausePay
	if a.Origin == OriginImported {
		kind = CauseImport
	}
	return Transition{
		Version: a.Version, From: a.State, To: a.State, Cause: Cause{Kind: kind, ID: string(a.RequestID)},
		At: a.CreatedAt, Facts: a.Facts(),
	}
}

// Succeeded reports whether the attempt was paid.
func (a Attempt) Succeeded() bool { return a.State == fsm.Succeeded }

// Failed reports whether the attempt is over without a payment.
func (a Attempt) Failed() bool { return a.State == fsm.Failed }

// Held is the captured amount less refunds and chargebacks, in minor units, in every state. A reversal that is reported
// before its original adds nothing to it.
func (a Attempt) Held() int64 { return max(0, a.Captured-a.AmountRefunded()-a.AmountDisputed()) }

// Refundable is the most that a refund may take, in minor units. It equals Held.
func (a Attempt) Refundable() int64 { return a.Held() }

// OnHold is the amount that is authorized and neither captured nor released, in minor units. One capture ends the hold,
// even a partial one.
func (a Attempt) OnHold() (held int64) {
	if a.Succeeded() {
		return 0
	}
	if len(a.Payments) == 0 {
		return max(0, a.Authorized-a.AmountCaptured())
	}
	for i := range a.Payments {
		held += a.Payments[i].OnHold()
	}
	return held
}

// MayHold reports whether a failed attempt may still have money on hold: the order takes no other
// pay until the provider reports otherwise.
func (a Attempt) MayHold() bool { return a.Failed() && a.OnHold() > 0 }

// AmountCaptured is the captured amount that callers see, in minor units, never below 0.
func (a Attempt) AmountCaptured() int64 { return max(0, a.Captured) }

// AmountRefunded is the refunded amount that callers see, in minor units, never below 0.
func (a Attempt) AmountRefunded() int64 { return max(0, a.Refunded) }

// AmountDisputed is the amount that chargebacks took, as callers see it, in minor units, never below 0.
func (a Attempt) AmountDisputed() int64 { return max(0, a.Disputed) }

// HoldsMoney reports whether the attempt holds captured money, in any currency.
func (a Attempt) HoldsMoney() bool { return a.Held() > 0 || a.ForeignMoney }

// Capturable is the most that a capture may take, in minor units.
func (a Attempt) Capturable() int64 {
	if a.Capture == CaptureSeveral && a.Succeeded() {
		return a.Rest()
	}
	return min(a.Authorized, a.Money.Minor)
}

// Stage is the stage that callers see.
func (a Attempt) Stage() string {
	switch a.State {
	case fsm.Succeeded, fsm.Failed:
		return "final"
	case fsm.Processing:
		if a.Origin == OriginExternal {
			return string(fsm.AwaitingCustomer) // nothing was requested by us
		}
		return string(fsm.Requested)
	case fsm.Requested, fsm.OutcomeUnknown, fsm.AwaitingCustomer, fsm.Authorized:
	}
	return string(a.State)
}

// Unreported reports whether no report has named the payment yet. An external attempt waits for its customer
// from the start.
func (a Attempt) Unreported() bool {
	waits := a.State == fsm.Requested || a.State == fsm.OutcomeUnknown || a.Origin == OriginExternal && a.State == fsm.AwaitingCustomer
	return a.ProviderPaymentID == "" && waits
}

// Expired reports whether an external attempt has passed its expiry and has no payment under way or on hold.
func (a Attempt) Expired(now time.Time) bool {
	return a.ExpiresAt != nil && !now.Before(*a.ExpiresAt) && !a.State.Final() && a.State != fsm.Authorized && !a.UnderWay()
}

// Name is the name of the request that made the attempt.
func (a Attempt) Name() RequestName { return RequestName{a.OrderID, a.UserID, a.RequestID} }

// RequestName identifies a pay, for ever.
type RequestName struct {
	Order   OrderID
	User    UserID
	Request RequestID
}

// Reference is a name that an account's provider may use for an attempt.
type Reference struct{ Account, Name string }

// Returned reports whether all money that was captured was refunded, charged back or reversed.
func (a *Attempt) Returned() bool {
	return !a.HoldsMoney() && (a.Refunded > 0 || a.AmountDisputed() > 0 || a.Sums(MovementCaptureReversal) > 0)
}
