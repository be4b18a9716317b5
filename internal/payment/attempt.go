package payment

import (
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
)

// CaptureMode says when the money is taken.
type CaptureMode string

// The capture modes: with the authorisation, or later by a confirm.
const (
	CaptureAutomatic CaptureMode = "automatic"
	CaptureManual    CaptureMode = "manual"
)

// Attempt is one try to pay one order. It moves only by [advance].
type Attempt struct {
	ID          AttemptID
	OrderID     OrderID
	UserID      UserID
	RequestID   RequestID
	RequestHash idempotency.Hash
	// Account is the configured account at a provider.
	Account string
	// ProviderPaymentID is empty until the provider has named the payment.
	ProviderPaymentID string

	State fsm.State
	Money Money
	// Authorized, Captured and Refunded are what the provider says it holds, took and
	// paid back: facts in minor units of Money's currency, whatever the state.
	Authorized, Captured, Refunded int64
	// Reversed and Disputed are sums of movements: captures that were undone, and what
	// chargebacks took less what came back of it. The latter is below 0 as long as only
	// the return was told of.
	Reversed, Disputed int64
	// LastMovement is the number of the attempt's last movement, 0 if there are none.
	// Movements are they, where they were read.
	LastMovement int
	Movements    []Movement
	// Foreign is what the provider took in another currency than Money's, and
	// ForeignReturned how much of it was given back, or settled by a person.
	Foreign         Money
	ForeignReturned int64
	// HoldToldAt says, of an attempt that has failed, when a hold was told of that may
	// still be there; nil if none is.
	HoldToldAt *time.Time
	Capture    CaptureMode
	// NextActionURL is where the customer must go; empty if nowhere.
	NextActionURL string
	ReturnURL     string
	Failure       *Failure

	// Intent is what was begun at the provider and has no outcome yet.
	Intent Intent
	// Saved is the payment method that the provider has stored; nil if none.
	Saved *SavedMethod
	// SealedToken is what the attempt is paid with, encrypted: of an attempt that is new,
	// or was taken over and may have to be sent again.
	SealedToken []byte
	// method is what the attempt is paid with as a retry of its own request brings it;
	// empty for other runners.
	method Method

	// Version rises with what a caller can see of the attempt.
	Version int
	Fence   int64
	// LeaseUntil is set while a runner speaks with the provider.
	LeaseUntil *time.Time
	// Checks counts how often the provider was asked; NextCheckAt says when it
	// will be asked again.
	Checks      int
	NextCheckAt *time.Time

	CreatedAt, UpdatedAt time.Time
	FinalizedAt          *time.Time
	// ReadAt is the clock of the database when the attempt was read: what its
	// lease is measured against.
	ReadAt time.Time
	// Siblings says that the order has further attempts.
	Siblings bool
}

// IntentKind is a command that the provider has been, or is to be, asked for.
type IntentKind string

// The intents of an attempt.
const (
	IntentNone    IntentKind = ""
	IntentCapture IntentKind = "capture"
	IntentCancel  IntentKind = "cancel"
)

// Intent is a command on disk before the provider is called. Number counts the
// commands that ended before it; it is part of the provider's idempotency key. A
// cancellation has the amount of the capture whose place it took, which may have been
// made all the same.
type Intent struct {
	Kind   IntentKind
	Amount int64
	Number int
	At     time.Time

	// first says that the runner that holds the attempt is the first that may send it.
	first bool
}

// endedBy reports whether a payment that stands so needs the command no more: it
// is over, or what was to be captured is.
func (i Intent) endedBy(news fsm.News) bool {
	return news == fsm.NewsFailed || news == fsm.NewsSucceeded && i.Kind == IntentCapture
}

// setIntent writes what is to be asked of the provider. It has a schedule of its own:
// a call that is lost is followed up soon, however old the attempt is.
func setIntent(a *Attempt, i Intent, now time.Time) {
	i.Number, i.At, i.first = a.Intent.Number, now, false
	a.Intent, a.Checks = i, 0
}

// endIntent forgets a command that was carried out or refused. Its key is used up:
// under it the provider would say the same again.
func endIntent(a *Attempt) {
	if a.Intent.Kind != IntentNone {
		a.Intent = Intent{Number: a.Intent.Number + 1}
	}
}

// Born is the attempt's first entry in the log.
func (a Attempt) Born() Transition {
	return Transition{
		Version: a.Version, From: a.State, To: a.State, Cause: Cause{Kind: CausePay, ID: string(a.RequestID)},
		At: a.CreatedAt, Facts: a.facts(),
	}
}

// Succeeded reports whether the attempt was paid.
func (a Attempt) Succeeded() bool { return a.State == fsm.Succeeded }

// Failed reports whether the attempt is over without a payment.
func (a Attempt) Failed() bool { return a.State == fsm.Failed }

// Held is what the provider still holds of the customer's money, in minor units,
// whatever the attempt's status.
func (a Attempt) Held() int64 { return max(0, a.kept()-a.Refunded) }

// kept is what was taken and neither undone nor disputed away.
func (a Attempt) kept() int64 { return a.Captured - a.Reversed - a.AmountDisputed() }

// AmountDisputed is what chargebacks took, less what came back of it.
func (a Attempt) AmountDisputed() int64 { return max(0, a.Disputed) }

// Stage is the stage that callers see.
func (a Attempt) Stage() string {
	switch a.State {
	case fsm.Succeeded, fsm.Failed:
		return "final"
	case fsm.Processing:
		return string(fsm.Requested)
	case fsm.Requested, fsm.OutcomeUnknown, fsm.AwaitingCustomer, fsm.Authorized:
	}
	return string(a.State)
}

// HoldsMoney reports whether the provider still holds any of the customer's money that
// it took, in whatever currency.
func (a Attempt) HoldsMoney() bool { return a.Held() > 0 || a.holdsForeign() }

func (a Attempt) holdsForeign() bool { return a.Foreign.Minor > a.ForeignReturned }

// capturable is what a capture may take of what is held, whatever the provider says
// that it took.
func (a Attempt) capturable() int64 { return min(a.Authorized, a.Money.Minor) }

// leased reports whether a runner holds the attempt.
func (a Attempt) leased(now time.Time) bool { return a.LeaseUntil != nil && a.LeaseUntil.After(now) }

// unheard reports whether nobody knows yet that the provider got the attempt.
func (a Attempt) unheard() bool {
	return a.State == fsm.Requested && a.ProviderPaymentID == "" || a.State == fsm.OutcomeUnknown
}
