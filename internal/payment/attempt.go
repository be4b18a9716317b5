package payment

import (
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
)

// CaptureMode is when the money is captured.
type CaptureMode string

// The capture modes: with the authorisation, or later by a confirm.
const (
	CaptureAutomatic CaptureMode = "automatic"
	CaptureManual    CaptureMode = "manual"
)

// Begun is whose call began an attempt.
type Begun string

const (
	// BegunHere attempts are ours.
	BegunHere Begun = "paylatch"
	// BegunElsewhere attempts are of the merchant's own call, or of the provider's script on its page:
	// reports bring them, and we call the provider only to look up, capture, cancel or refund.
	BegunElsewhere Begun = "external"
	// BegunBefore attempts are of the past, and were imported.
	BegunBefore Begun = "imported"
)

// First is the state in which an attempt is made.
func (b Begun) First() fsm.State {
	if b == BegunElsewhere {
		return fsm.AwaitingCustomer
	}
	return fsm.Requested
}

// Attempt is one try to pay one order. Only [Advance] changes its state, amounts and version.
type Attempt struct { //nolint:recvcheck // what only reads takes a value
	ID          AttemptID
	OrderID     OrderID
	UserID      UserID
	RequestID   RequestID
	RequestHash idempotency.Hash
	// Account is the configured account at a provider.
	Account string
	// Begun is whose call began it. ExpiresAt is when one that was begun elsewhere is given up; nil for
	// others.
	Begun     Begun
	ExpiresAt *time.Time
	// ProviderPaymentID is the id of the acting payment, see Acting, or of the container in which it will be made. It is
	// empty until the provider has named one of the two.
	ProviderPaymentID string
	// Payments are all that the attempt has at the provider, in the order in which they were reported; Containers the pages,
	// sessions and orders in which they are made. PageOpen is set after a declined try on a page on which the customer may
	// try again.
	Payments   []Payment
	Containers []Container
	PageOpen   bool

	State fsm.State
	Money Money
	// The amounts are exact sums of the attempt's movements in Money's currency, in minor units,
	// whatever the state. A reversal may be reported before its original, so each may be below 0
	// for a while.
	//
	// Authorized is authorizations less releases, Captured captures less capture reversals,
	// Refunded refunds less refund reversals, Disputed chargebacks less chargeback reversals.
	Authorized, Captured, Refunded, Disputed int64
	// ForeignMoney is set while money in another currency than Money's is held.
	ForeignMoney bool
	// LastMovement is the number of the attempt's last movement, 0 if there are none. Movements are
	// filled in where the attempt was locked.
	LastMovement int
	Movements    []Movement
	// Operations are filled in where the attempt was locked, all of them, by kind and number.
	Operations []Operation
	// Disputes are filled in where the attempt was read to be shown, oldest first; nil elsewhere.
	Disputes []Dispute
	// Moves are what was reported of its disputes' money, filled in where it is compared with the provider's books.
	Moves []DisputeMove

	Capture CaptureMode
	// SealedReceipt is what its fiscal receipts show, encrypted; nil without. It is not read with the
	// attempt.
	SealedReceipt []byte
	// NextAction is what the customer must do; nil for nothing.
	NextAction *NextAction
	Failure    *Failure
	// Saved is the payment method that the provider has stored; nil if none.
	Saved *SavedMethod

	// Version rises with each change that a caller can see.
	Version              int
	CreatedAt, UpdatedAt time.Time
	FinalizedAt          *time.Time
	// ReadAt is the clock of the database when the attempt was read.
	ReadAt time.Time
	// Siblings is set if the order has further attempts.
	Siblings bool
}

// Born is the attempt's first entry in the log.
func (a Attempt) Born() Transition {
	kind := CausePay
	if a.Begun == BegunBefore {
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

// Held is what was captured and neither refunded nor charged back, in minor units, whatever the
// attempt's status. A reversal that is reported before its original adds nothing to it.
func (a Attempt) Held() int64 { return max(0, a.Captured-a.AmountRefunded()-a.AmountDisputed()) }

// Refundable is how much a refund may take, in minor units: what was captured and neither refunded nor charged back.
func (a Attempt) Refundable() int64 { return a.Held() }

// OnHold is how much is authorized and neither captured nor released, in minor units. One capture
// ends the hold, a partial one too.
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

// AmountCaptured is what callers see as captured, in minor units, never below 0.
func (a Attempt) AmountCaptured() int64 { return max(0, a.Captured) }

// AmountRefunded is what callers see as refunded, as AmountCaptured.
func (a Attempt) AmountRefunded() int64 { return max(0, a.Refunded) }

// AmountDisputed is what chargebacks took away, as AmountCaptured.
func (a Attempt) AmountDisputed() int64 { return max(0, a.Disputed) }

// HoldsMoney reports whether captured money is held, in whatever currency.
func (a Attempt) HoldsMoney() bool { return a.Held() > 0 || a.ForeignMoney }

// Capturable is the most that a capture may take, in minor units.
func (a Attempt) Capturable() int64 { return min(a.Authorized, a.Money.Minor) }

// Stage is the stage that callers see.
func (a Attempt) Stage() string {
	switch a.State {
	case fsm.Succeeded, fsm.Failed:
		return "final"
	case fsm.Processing:
		if a.Begun == BegunElsewhere {
			return string(fsm.AwaitingCustomer) // nothing was requested by us
		}
		return string(fsm.Requested)
	case fsm.Requested, fsm.OutcomeUnknown, fsm.AwaitingCustomer, fsm.Authorized:
	}
	return string(a.State)
}

// Unreported reports whether no report has named the payment yet. One that was begun elsewhere waits for
// its customer from the start.
func (a Attempt) Unreported() bool {
	waits := a.State == fsm.Requested || a.State == fsm.OutcomeUnknown || a.Begun == BegunElsewhere && a.State == fsm.AwaitingCustomer
	return a.ProviderPaymentID == "" && waits
}

// Expired reports whether an attempt that was begun elsewhere has outlived the time that its caller
// gave it, and none of its payments is with the provider or has money on hold.
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

// Reference is a name by which an account's provider may name an attempt.
type Reference struct{ Account, Name string }
