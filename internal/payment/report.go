package payment

import (
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// Report is a provider's statement about a payment: in a webhook, the response to a call, or a lookup. It is true in
// every state of the attempt here, and is always applied.
type Report struct {
	// Payment is the provider's canonical id of the payment, the same in webhooks, responses and
	// lookups; empty where the provider has none yet.
	Payment string
	// Container is the provider's id of the page, session or order in which the payment is made.
	Container string
	// Payee is the provider's id of the account that receives the money, empty where not stated. Live is whether the
	// payment is of real money, nil where not stated.
	Payee string
	Live  *bool
	// BrowserMark is set where a browser could have written the mark by which the payment was found.
	BrowserMark bool
	// References are further ids that the provider may use for the payment.
	References []string
	// Event is the event that the payment's status means: fsm.EventMoney where only money moved.
	Event fsm.Event
	// OfAttempt is set on a report about the attempt as a whole: it names no payment.
	OfAttempt bool
	// Excess is how the account takes more than the amount.
	Excess Excess
	// KeepsRest is set if no capture at the provider ends a hold: a cancel releases the rest of it.
	KeepsRest bool
	// PageOpen is set on a declined try if its customer, where on a page of the provider's, may try again there; see
	// Attempt.TriesAgain.
	PageOpen bool
	// Movements are the money movements that the report states.
	Movements []MovementReport
	// Disputes are the named disputes of the report. Disputed is the amount of a dispute without a name, nil where not
	// stated.
	Disputes []DisputeReport
	Disputed *Money
	// Refund is the status of a refund. Refusal is a command that the provider had accepted and does not carry out. Each
	// is nil if not stated.
	Refund  *RefundReport
	Refusal *RefusalReport
	// NextAction is the step that the customer must take; nil if no step is due.
	NextAction *NextAction
	// Review is the provider's statement about its review of the payment; nil if there is none.
	Review *ReviewReport
	// Saved is the payment method that the provider has stored; nil if there is no stored method.
	Saved   *SavedMethod
	Failure *Failure
	// Approved is set when the customer has agreed and the provider waits for a call to take or
	// hold the money.
	Approved bool
	// Returned is set on a success if its money has gone back to the customer since, or is about to.
	Returned bool
	// Reverses is set on a failure that also means the loss of captured money, if there is any
	// (GoCardless's late failures, and webhooks of KindUndone).
	Reverses bool
	// ReversedAt is when that money was lost, by the provider's clock. If it is zero, At counts.
	ReversedAt time.Time
	// Releases states which holds a failure ends.
	Releases HoldEnd
	// At is the provider's clock, zero if it gave no time.
	At    time.Time
	Cause Cause
}

// Excess is how a payment of more than the amount is taken: with a tip, or with a fee that the customer bears.
type Excess int

const (
	// ExcessReviewed opens a discrepancy.
	ExcessReviewed Excess = iota
	// ExcessAccepted counts it as a payment of the amount.
	ExcessAccepted
)

// HoldEnd is the set of holds that a failure ends.
type HoldEnd string

const (
	// HoldsBefore are the holds that are not younger than the failure, by the provider's clock.
	HoldsBefore HoldEnd = ""
	// HoldsAll are all holds: the failure was looked up, or can't be looked up.
	HoldsAll HoldEnd = "all"
	// HoldsNone means that only a lookup ends a hold. Several holds came late, and a second hold of the same amount
	// shows in no sum.
	HoldsNone HoldEnd = "none"
)

// RefundReport is a refund as a provider reports it.
type RefundReport struct {
	// ProviderID is the provider's id of the refund. Reference is paylatch's id. Either may be empty.
	ProviderID, Reference string
	// Event is fsm.EventProcessing, EventSucceeded or EventFailed.
	Event fsm.Event
	// Money is nil where the provider does not state the amount. Total is set where it is the sum
	// of all refunds so far.
	Money *Money
	Total bool
	// Whole is set on a report without refund ids that states the refund of all captured and not reversed money.
	Whole   bool
	Failure *Failure
	// Unnamed is set where the provider reports a refund without its id. Then it can only be the refund that was looked
	// up, if no other refund exists.
	Unnamed bool
}

// RefusalReport is a capture or a cancellation that the provider had accepted and does not carry out.
type RefusalReport struct {
	Kind OperationKind
	// ProviderRef is the provider's id of the refused call, Reference is our name of it, the key of its operation. Either
	// may be empty.
	ProviderRef, Reference string
}

// Of reports whether the refusal is of an operation of the kind. It is, unless a name says otherwise.
func (r RefusalReport) Of(o *Operation) bool {
	switch {
	case o == nil || o.Kind != r.Kind:
		return false
	case r.ProviderRef != "" && o.ProviderRef != "":
		return r.ProviderRef == o.ProviderRef
	}
	ours := strings.HasPrefix(r.Reference, strings.TrimRight(o.Key(), "0123456789"))
	return !ours || r.Reference == o.Key()
}

// CauseKind is the source of a report.
type CauseKind string

// The causes.
const (
	CausePay     CauseKind = "pay"
	CauseCall    CauseKind = "call"
	CauseWebhook CauseKind = "webhook"
	CauseCheck   CauseKind = "check"
	CausePerson  CauseKind = "person"
	// CauseReport is a report of the merchant's backend about an external payment.
	CauseReport CauseKind = "report"
	// CauseImport is of the merchant's own record of a payment of the past.
	CauseImport CauseKind = "import"
)

// Cause is the event, call, check or person that brought a report.
type Cause struct {
	Kind CauseKind
	ID   string
}

// Names returns all ids that the report contains for the payment.
func (r Report) Names() []string {
	names := slices.Clip(r.References)
	for _, id := range []string{r.Container, r.Payment} {
		if id != "" && !slices.Contains(names, id) {
			names = append(names, id)
		}
	}
	return names
}

// givenBack is a report of returned money to an attempt whose cancel was sent. Some providers refund by the call that cancels: the
// order was not paid, even if the response to that call was lost.
func (r Report) givenBack() Report {
	r.Event, r.Failure, r.NextAction = fsm.EventFailed, NewFailure("canceled", ""), nil
	r.Movements = []MovementReport{{Kind: MovementCapture}, {Kind: MovementCaptureReversal}}
	return r
}

// MovementsOf returns the movements that the status of a payment implies: the amount authorized, or captured, until now.
func MovementsOf(says fsm.Event, money *Money) []MovementReport {
	kinds := map[fsm.Event]MovementKind{fsm.EventAuthorized: MovementAuthorization, fsm.EventSucceeded: MovementCapture}
	kind, moves := kinds[says]
	if !moves {
		return nil
	}
	told := MovementReport{Kind: kind}
	if money != nil {
		told.Money = *money
	}
	return []MovementReport{told}
}
