package payment

import (
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// Report is what a provider states about a payment: in a webhook, the response to a call, or a
// lookup. It is true whatever the state here, and is always applied.
type Report struct {
	// Payment is the provider's canonical id of the payment, the same in webhooks, responses and
	// lookups; empty where the provider has none yet.
	Payment string
	// Container is the provider's id of the page, session or order in which the payment is made.
	Container string
	// Payee is the provider's id of the account that is paid, empty where it is not stated; Live is whether real money is
	// meant, nil where that is not stated.
	Payee string
	Live  *bool
	// BrowserMark is set where a browser could have written the mark by which the payment was found.
	BrowserMark bool
	// References are further ids by which the provider may name the payment.
	References []string
	// Says is how the payment stands: fsm.NewsMoney where only money moved.
	Says fsm.News
	// OfAttempt is set on a report about the attempt as a whole: none of its payments is named by it.
	OfAttempt bool
	// AcceptMore is set if the account takes more than the amount for a payment of it: a tip, a fee that the customer bears.
	AcceptMore bool
	// PageOpen is set on a declined try if its customer, where on a page of the provider's, may try again there; see
	// Attempt.TriesAgain.
	PageOpen bool
	// Movements are what happened to money.
	Movements []Told
	// Disputes are those that the report is of, which the provider names. Disputed is what one
	// without a name is about, nil where that is not stated.
	Disputes []DisputeTold
	Disputed *Money
	// Refund is a refund's standing, Refusal a command that the provider had accepted and does not
	// carry out; nil without one.
	Refund  *RefundTold
	Refusal *RefusalTold
	// NextAction is what the customer must do; nil for nothing.
	NextAction *NextAction
	// Saved is the payment method that the provider has stored; nil if none.
	Saved   *SavedMethod
	Failure *Failure
	// Approved is set when the customer has agreed and the provider waits for a call to take or
	// hold the money.
	Approved bool
	// Undoes is set on a failure that also means the loss of captured money, if there is any
	// (GoCardless's late failures).
	Undoes bool
	// Ends is which holds a failure ends.
	Ends HoldEnd
	// At is the provider's clock, zero if it gave no time.
	At    time.Time
	Cause Cause
}

// HoldEnd is which holds a failure ends.
type HoldEnd string

const (
	// HoldsBefore are those that are not younger, by the provider's clock.
	HoldsBefore HoldEnd = ""
	// HoldsAll are all: the failure was looked up, or can't be.
	HoldsAll HoldEnd = "all"
	// HoldsNone says that only a lookup ends a hold: more than one came late, and a second one of
	// the same amount shows in no sum.
	HoldsNone HoldEnd = "none"
)

// RefundTold is a refund as a provider reports it.
type RefundTold struct {
	// ProviderID is the provider's id of it, Reference ours; either may be empty.
	ProviderID, Reference string
	// Says is fsm.NewsProcessing, NewsSucceeded or NewsFailed.
	Says fsm.News
	// Money is nil where the provider does not state the amount. Total is set where it is the sum
	// of all refunds so far.
	Money *Money
	Total bool
	// Whole is set on a report without names where all that was captured, and not reversed, has been
	// refunded.
	Whole   bool
	Failure *Failure
	// Unnamed is set where the provider reports a refund and not which: it can only be the one that
	// was looked up if there is no other.
	Unnamed bool
}

// RefusalTold is a capture or a cancellation that the provider had accepted and does not carry out.
type RefusalTold struct{ Kind OperationKind }

// CauseKind is what brought a report.
type CauseKind string

// The causes.
const (
	CausePay     CauseKind = "pay"
	CauseCall    CauseKind = "call"
	CauseWebhook CauseKind = "webhook"
	CauseCheck   CauseKind = "check"
	CausePerson  CauseKind = "person"
	// CauseReport is a report of the merchant's backend about a payment that was begun elsewhere.
	CauseReport CauseKind = "report"
	// CauseImport is of the merchant's own record of a payment of the past.
	CauseImport CauseKind = "import"
)

// Cause is the event, call, check or person that brought a report.
type Cause struct {
	Kind CauseKind
	ID   string
}

// Names are all ids that the report contains for the payment.
func (r Report) Names() []string {
	names := slices.Clip(r.References)
	for _, id := range []string{r.Container, r.Payment} {
		if id != "" && !slices.Contains(names, id) {
			names = append(names, id)
		}
	}
	return names
}

// MovementsOf are the movements that the standing of a payment implies: what it states was
// authorized, or captured, until now.
func MovementsOf(says fsm.News, money *Money) []Told {
	kinds := map[fsm.News]MovementKind{fsm.NewsAuthorized: MovementAuthorization, fsm.NewsSucceeded: MovementCapture}
	kind, moves := kinds[says]
	if !moves {
		return nil
	}
	told := Told{Kind: kind}
	if money != nil {
		told.Money = *money
	}
	return []Told{told}
}
