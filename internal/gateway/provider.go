package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Provider calls one account at one payment provider. Its calls return an Outcome for every decision of the provider, a
// decline included. An error is ErrNotSent, ErrNoSuchPayment, ErrInconclusive, ErrUnsupported, or means that the outcome is
// unknown. A call that moves money checks its permit just before its first byte is sent.
type Provider interface {
	Capabilities() payment.Capabilities
	// TokenKind returns the kind of a payment method's token, by its form. It makes no call.
	TokenKind(token string) TokenKind
	// CheckOwner looks up the owner of a stored payment method. It returns ErrMethodNotYours if the owner is not the
	// customer. It returns nil if the owner is the customer, or if only the charge can show it. The charge then names
	// the customer, so that the provider refuses another's method.
	CheckOwner(ctx context.Context, token, customer string) error
	// Accepts returns a payment.ValidationError, by the members of a pay, for a charge that the provider would refuse
	// for its form, and for members of its own request that are not allowed. It makes no call.
	Accepts(c Charge) error
	// Unseen returns for how long the result of a charge can be paid if the response is lost. That is 0 for a page whose
	// address only the response contains. It returns false if the charge may take money without the customer, or if
	// there is no known end. It makes no call.
	Unseen(d Details) (payable time.Duration, ends bool)
	// Charge begins the payment. The same IdempotencyKey never charges twice.
	Charge(ctx context.Context, c Charge) (Outcome, error)
	// Complete continues a payment. Its results are those of Charge. It returns ErrUnsupportedRequest for details that must not be
	// sent to the provider.
	Complete(ctx context.Context, c Completion) (Outcome, error)
	// Lookup looks up a payment by the provider's id of it. Where the provider has no id yet, it looks up the container:
	// then the outcome names the payment of the container with the furthest status.
	Lookup(ctx context.Context, providerPaymentID string) (Outcome, error)
	// Find looks a payment up by our reference; see payment.LookupByReference.
	Find(ctx context.Context, id payment.AttemptID) (Outcome, error)
	// Capture captures authorised money, Cancel releases it. Their outcomes state the status of the payment.
	Capture(ctx context.Context, c Capture) (Outcome, error)
	Cancel(ctx context.Context, c Cancel) (Outcome, error)
	// Refund refunds money; LookupRefund looks a refund up.
	Refund(ctx context.Context, r RefundCall) (RefundOutcome, error)
	LookupRefund(ctx context.Context, r RefundRef) (RefundOutcome, error)
}

// Charge is the call that begins a payment.
type Charge struct {
	Details

	Attempt payment.AttemptID
	Order   payment.OrderID
	Money   payment.Money
	// Capture is automatic or manual. Several is set on a manual one whose hold is captured in several parts.
	Capture        payment.CaptureMode
	Several        bool
	IdempotencyKey string
	// Again is set if an earlier call of this charge may have reached the provider.
	Again  bool
	Permit Permit
}

// Completion is the call that continues a payment after its customer has approved it, or has done a step of it.
type Completion struct {
	Attempt           payment.AttemptID
	Order             payment.OrderID
	ProviderPaymentID string
	// Container is the provider's id of the page, session or order in which the payment is made; empty if there is none.
	Container string
	Money     payment.Money
	Capture   payment.CaptureMode
	// Details are the data that the provider's page or script returned, a JSON object; nil where a lookup has shown that
	// the customer has agreed (Outcome.Approved).
	Details        json.RawMessage
	IdempotencyKey string
	Permit         Permit
}

// Capture is the call that captures authorised money: Money of it, or all of it (Whole).
type Capture struct {
	Attempt           payment.AttemptID
	ProviderPaymentID string
	// Container is as in Completion.
	Container string
	Money     payment.Money
	Whole     bool
	// Several is set if the hold is captured in several parts, and Final if no other part follows.
	Several, Final bool
	// Again is set if an earlier call of this capture may have reached the provider.
	Again bool
	// Receipt is the content of the fiscal receipt of the capture; nil if there is no receipt.
	Receipt *Receipt
	// ProviderData are members of the provider's own request, checked by Further.AcceptsCapture.
	ProviderData   Data
	IdempotencyKey string
	Permit         Permit
}

// Cancel is the call that cancels a payment, or, without a payment's id, a container: then it also ends the payments in
// it that are open.
type Cancel struct {
	Attempt           payment.AttemptID
	ProviderPaymentID string
	// Container is as in Completion. Elsewhere is set if it was not made by a charge of ours.
	Container      string
	Elsewhere      bool
	IdempotencyKey string
	Permit         Permit
	// Quiet is for how long, at least, no call was sent that could take or hold this payment's money. The last call may
	// still be under way.
	Quiet time.Duration
}

// RefundCall is the call that refunds money.
type RefundCall struct {
	Refund            payment.RefundID
	Attempt           payment.AttemptID
	ProviderPaymentID string
	// Container is as in Completion.
	Container string
	// Capture is the provider's id of the capture to refund, one of several of the payment; empty if none was named.
	Capture string
	Money   payment.Money
	// Left is how much of the captured money is left before this refund, as far as was reported.
	Left   payment.Money
	Reason string
	// Receipt is the content of the fiscal receipt of the refund; nil if there is no receipt.
	Receipt *Receipt
	// ProviderData are members of the provider's own request, checked by Further.AcceptsRefund.
	ProviderData   Data
	IdempotencyKey string
	Permit         Permit
}

// RefundRef names a refund to look up; ProviderRefundID may be empty.
type RefundRef struct {
	Refund            payment.RefundID
	ProviderRefundID  string
	ProviderPaymentID string
	// Container is as in Completion.
	Container string
	// Age is how long ago, at least, the refund was sent; 0 if it may not have been.
	Age time.Duration
	// Money is the refund's amount. Taken is the payment's captured amount before the refund; zero if not recorded.
	Money, Taken payment.Money
}

// Outcome is the content of a response about a payment.
type Outcome struct {
	Event fsm.Event
	// Refused is set if the command itself was refused for good (a capture without a hold, an invalid charge). Event is
	// then the status of the payment. A declined card is not refused.
	Refused bool
	// Approved is set if the customer has agreed and the provider waits for the call that takes or
	// holds the money: a Completion.
	Approved bool
	// PageOpen is as in payment.Report.
	PageOpen bool
	// Reverses is set on a failure that also means the loss of captured money, if there is any
	// (GoCardless's late failures).
	Reverses bool
	// Returned is set on a success if all its money has gone back to the customer since, or is about to, at a provider whose
	// Cancel refunds a payment that was paid in the meantime.
	Returned bool
	// ProviderPaymentID is the payment's id, the same as in webhooks; see webhooks.Event. It is empty while the outcome
	// has only a Container, in which the customer has begun no payment yet.
	ProviderPaymentID string
	// Container is the provider's id of the page, session or order in which the payment is made; empty if there is none.
	Container string
	// Payee is the provider's id of the account that is paid, empty where the response does not state it; Live is whether
	// real money is meant, nil where the response does not state that.
	Payee string
	Live  *bool
	// References are further ids that its webhooks may use for the payment.
	References []string
	// ProviderRef is the provider's id of this very call, which captures or cancels: of a capture, the id of its movement.
	// It is empty where the provider has none.
	ProviderRef string
	// Refusal is a capture that the provider had accepted and has not carried out, as a lookup shows it; nil if there is none.
	Refusal *payment.RefusalReport
	// Money is the authorised or captured amount; nil if not stated.
	Money *payment.Money
	// Movements are the reported movements of money after the payment.
	Movements []payment.MovementReport
	// Refunds are the refunds of a captured payment, by any origin, where a lookup of the payment shows them; see
	// payment.ShowsRefunds. Each has the name that webhooks, books and LookupRefund use.
	Refunds []RefundOutcome
	// Disputes are the disputes of the payment, where a lookup shows them. Movements has the money that they took.
	Disputes []payment.DisputeReport
	// NextAction is the step that the customer must take; nil if no step is due.
	NextAction *payment.NextAction
	Failure    *payment.Failure
	// Review is the provider's review of the payment, as far as the response states it; nil if there is none.
	Review *payment.ReviewReport
	// Saved is the payment method that the provider has stored; nil if there is no stored method.
	Saved *payment.SavedMethod
}

// RefundOutcome is the content of a response about a refund.
type RefundOutcome struct {
	Event fsm.Event
	// Refused is set if this very call was refused for good. An earlier call may have been accepted.
	Refused          bool
	ProviderRefundID string
	// ProviderPaymentID is the payment's, of a refund that was looked up by its own id alone; see
	// payment.RefundLookupAlone.
	ProviderPaymentID string
	// Unnamed is set if the provider reports a refund without its id. It is this refund if no other is possible.
	Unnamed bool
	// Whole is set, in Outcome.Refunds, if all that was captured has been refunded, by refunds that
	// the provider does not name.
	Whole bool
	// Reference is our id of the refund, as the provider carries it; empty if not stated.
	Reference string
	// Money is the refunded amount, or the amount to be refunded; nil if not stated.
	Money   *payment.Money
	Failure *payment.Failure
}

// RefusedRefund is the outcome of a refund call that was refused for good, with the provider's
// code.
func RefusedRefund(providerCode string) RefundOutcome {
	return RefundOutcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", providerCode)}
}

var (
	// ErrNotSent is returned when this call did not send its command. Lookups at the beginning of the call may have been
	// sent, and an earlier call may have sent the command.
	ErrNotSent = errors.New("nothing was sent to the provider")
	// ErrUnsupportedRequest is an ErrNotSent of a request that this provider is never sent,
	// whenever it is tried: a token of another kind, an amount that it has no
	// digits for.
	ErrUnsupportedRequest = fmt.Errorf("%w: the provider does not support the request", ErrNotSent)
	// ErrThrottled is returned, with ErrNotSent, when a call was not made in order to spare the
	// provider. A lookup that was held back was not made.
	ErrThrottled = errors.New("held back from the provider")
	// ErrNoSuchPayment is returned by a lookup when the payment does not exist at the provider (yet).
	ErrNoSuchPayment = errors.New("the provider has no such payment")
	// ErrInconclusive is returned by a lookup when the response does not contain the requested payment. With ErrNotSent it is
	// returned by a command that looks up first, when the response shows no reason to send the command.
	ErrInconclusive = errors.New("the provider's response lacks this payment's status")
	// ErrByReference is returned by a lookup of a container that the provider does not show. Find looks up its payments by
	// our reference. It is an ErrInconclusive.
	ErrByReference = fmt.Errorf("%w: its payments have our reference", ErrInconclusive)
	// ErrUnsupported is returned for a call that Capabilities do not offer. Nothing was sent.
	ErrUnsupported = errors.New("the provider does not offer this call")
	// ErrPermitEnded is returned by a permit that no longer allows its call.
	ErrPermitEnded = errors.New("permit to call ended")
)

// RefusesCall reports whether the response to a charge is about that one call only, and not about a
// payment: another call with the same key may be accepted. A decline that names its payment, or the
// container, is how that stands.
func (o Outcome) RefusesCall() bool {
	declined := o.Event == fsm.EventFailed || o.Event == fsm.EventSoftFailed
	return o.Refused || declined && o.ProviderPaymentID == "" && o.Container == ""
}

// RefusesCall is as in Outcome.
func (o RefundOutcome) RefusesCall() bool {
	return o.Refused || o.Event == fsm.EventFailed && o.ProviderRefundID == ""
}

// Account is how one account at a provider is treated.
type Account struct {
	Provider Provider
	// Books, Events and Statement are nil where the kind of account lacks them.
	Books     Books
	Events    EventLog
	Statement Statement
	// BooksLag is how long the books may lack a new entry.
	BooksLag time.Duration
	// BooksOverlap is how long after its time an entry of the books may still change; zero for three days.
	BooksOverlap time.Duration
	// Further describes what the account's captures and refunds may carry.
	Further Further
	// WebReturns is set if the provider takes no app's address as the address to return to.
	WebReturns bool
	// BooksMarks are our marks in the entries of the books and of statements.
	BooksMarks Marks
	// Merchant is the number of the merchant behind the account, see payment.Merchant.
	Merchant int
	// Live is false for an account of test money, true for an account of real money, nil if unknown.
	Live *bool
	// Payees are the ids by which the provider names the account as payee, see Outcome.Payee; empty where the
	// configuration has no such id.
	Payees []string
	// Lives are how long the account's attempts may stay unfinished.
	Lives payment.MaxAge
	// Hears is set if webhooks of the account are taken.
	Hears bool
	// Paused accounts begin no payment (ErrAccountPaused). Payments that have begun go on.
	Paused bool
	// Offered accounts may be named by a customer's pay. The default account always may be named.
	Offered bool
	// LateMoney is how late money is treated.
	LateMoney LateMoney
	// HoldPaidForReview holds back order.paid while the provider reviews the payment.
	HoldPaidForReview bool
	// Excess is how a payment of more than the amount is taken.
	Excess payment.Excess
	// SecondHold is how a second payment of an attempt that holds money is treated.
	SecondHold SecondHold
	// Foreign is how events of payments that are not ours are treated.
	Foreign Foreign
}

// Marks are our marks in a provider's records of an account.
type Marks int

// The kinds of marks.
const (
	// MarksOwn are marks that only we can write.
	MarksOwn Marks = iota
	// MarksByBrowser are marks that a customer's browser could have written; see payment.Report.BrowserMark.
	MarksByBrowser
	// MarksNone are records without a mark. A payment that a restored database lacks then looks like a foreign payment.
	MarksNone
)

// LateMoney is how money that came for a failed attempt is treated.
type LateMoney int

// The treatments of late money.
const (
	// LateMoneyReviewed leaves it to a person.
	LateMoneyReviewed LateMoney = iota
	// LateMoneyRefunded refunds it.
	LateMoneyRefunded
)

// SecondHold is how a second payment that holds money is treated.
type SecondHold int

// The treatments of a second hold.
const (
	// SecondHoldCancelled cancels it.
	SecondHoldCancelled SecondHold = iota
	// SecondHoldReviewed has a person decide.
	SecondHoldReviewed
)

// ErrAccountPaused is returned for a pay by an account that begins no payments for now.
var ErrAccountPaused = errors.New("the account is paused")

// Foreign is how an account's events of payments that are not ours are treated.
type Foreign struct {
	// After is how old an event without a mark of ours, that no attempt is named by, is when it
	// counts as foreign; 0: never.
	After time.Duration
	// Review is set if each is to be reviewed.
	Review bool
}
