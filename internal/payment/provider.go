package payment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// Provider speaks with one account at one payment provider. Its calls return an
// Outcome for whatever the provider decided, a decline included; an error is
// ErrNotSent, ErrNoSuchPayment, ErrNotTold, ErrUnsupported, or means that the
// outcome is unknown. A call that moves money calls its licence just before its
// first byte goes out.
type Provider interface {
	Capabilities() Capabilities
	// TokenKind says what a payment method's token is, by its form. It asks nobody.
	TokenKind(token string) TokenKind
	// CheckOwner asks whose a stored payment method is. It returns ErrMethodNotYours
	// if not the customer's, nil where it is, or where only the charge itself tells,
	// which then names the customer, so that the provider refuses another's.
	CheckOwner(ctx context.Context, token, customer string) error
	// Charge begins the payment, or finishes one that its customer has approved
	// (Charge.ProviderPaymentID). The same IdempotencyKey never charges twice.
	Charge(ctx context.Context, c Charge) (Outcome, error)
	// Lookup asks for a payment by the provider's id.
	Lookup(ctx context.Context, providerPaymentID string) (Outcome, error)
	// Find asks for a payment by our reference; see Capabilities.Find.
	Find(ctx context.Context, id AttemptID) (Outcome, error)
	// Capture takes authorised money, Cancel gives it up. Their outcomes are
	// those of the payment.
	Capture(ctx context.Context, c Capture) (Outcome, error)
	Cancel(ctx context.Context, c Cancel) (Outcome, error)
	// Refund pays money back; LookupRefund asks what became of it.
	Refund(ctx context.Context, r RefundCall) (RefundOutcome, error)
	LookupRefund(ctx context.Context, r RefundRef) (RefundOutcome, error)
}

// Capabilities says what a provider can do. It is declared by the adapter from
// the provider's documentation, not found out by trying.
type Capabilities struct {
	// KeyLife is how long the provider remembers our idempotency keys; 0 if it has
	// none, or keeps none of a request that it answered with an error and may have
	// carried out all the same. Then no charge and no refund is ever sent twice.
	KeyLife time.Duration
	// Blind says that the provider can't be asked how a payment stands: what it
	// answers to a capture or a cancellation is only that it has received it, and
	// the rest is told by its webhooks.
	Blind bool
	// Find says that payments can be looked up by our reference; FindLag, for how
	// long after the call "not found" proves nothing. FindConsistent says that
	// after that lag it does.
	Find           bool
	FindLag        time.Duration
	FindConsistent bool
	Capture        bool
	PartialCapture bool
	// CaptureUnseen says that an accepted capture may take long to show
	// when the payment is looked up: that it is authorised proves nothing.
	CaptureUnseen bool
	// Transactions says that one payment may have several transactions, tries on its
	// page, of which its webhooks name one and a lookup of the payment tells of the last.
	// Each can be looked up by its own id, and the calls get those that matter.
	Transactions bool
	// OneID says that all its answers and webhooks call a payment by one id, and never by
	// another: money under another id is that of another payment.
	OneID         bool
	Cancel        bool
	Refund        bool
	PartialRefund bool
	LookupRefund  bool
	// RefundsConsistent says that a refund of ours of which LookupRefund returns
	// ErrNoSuchPayment, some minutes after the call, was never made.
	RefundsConsistent bool
}

// Charge is what the provider is asked for.
type Charge struct {
	Attempt AttemptID
	Order   OrderID
	Money   Money
	Capture CaptureMode
	Token   string
	// MethodType is the provider's name for the sort of payment method; empty if not
	// said.
	MethodType string
	// Stored says that the token is that of a payment method which the provider keeps
	// for the customer.
	Stored bool
	// Customer is whose payment it is at the provider.
	Customer       string
	ReturnURL      string
	IdempotencyKey string
	Licence        Licence
	// ProviderPaymentID names a payment that is Outcome.Approved and is now to be
	// finished, without a token. It is empty for a new one.
	ProviderPaymentID string
}

// Capture asks for authorised money: Money of it, or all of it (Whole).
type Capture struct {
	Attempt           AttemptID
	ProviderPaymentID string
	Money             Money
	Whole             bool
	IdempotencyKey    string
	Licence           Licence
	// Transactions are those that are known to have held or taken the payment's money,
	// the one that was told of first first; see Capabilities.
	Transactions []string
}

// Cancel asks the provider to give a payment up.
type Cancel struct {
	Attempt           AttemptID
	ProviderPaymentID string
	IdempotencyKey    string
	Licence           Licence
	// Quiet is for how long, at least, nothing was sent that could take this
	// payment's money or hold it. What was sent last may still be under way.
	Quiet time.Duration
	// Transactions are as those of Capture.
	Transactions []string
}

// RefundCall asks for money to be paid back.
type RefundCall struct {
	Refund            RefundID
	Attempt           AttemptID
	ProviderPaymentID string
	Money             Money
	// Left is how much of what was taken is left before this refund, as far as is known.
	Left           Money
	Reason         string
	IdempotencyKey string
	Licence        Licence
	// Transactions are as those of Capture.
	Transactions []string
}

// RefundRef names a refund to ask about; ProviderRefundID may be empty.
type RefundRef struct {
	Refund            RefundID
	ProviderRefundID  string
	ProviderPaymentID string
	// Age is how long ago, at least, the provider was asked for the refund; 0 if
	// nobody knows that it was.
	Age time.Duration
	// Money is what was asked for, Taken what the payment had taken; zero if not known.
	Money, Taken Money
}

// Outcome is what the provider says of a payment.
type Outcome struct {
	News fsm.News
	// Refused says that the command itself was refused for good (a capture of
	// what can't be captured, a charge that is invalid) while News tells how the
	// payment stands. A card that is declined is not refused.
	Refused bool
	// Approved says that the customer has agreed, and that the provider takes or
	// holds the money once it is asked to: by a Charge with ProviderPaymentID.
	Approved bool
	// Undoes says, of a failure, that money is lost which had been taken, if it had
	// been: some providers call that a failure, too (GoCardless's late failures).
	Undoes            bool
	ProviderPaymentID string
	// References are further ids by which its webhooks may name the payment.
	References []string
	// Money is what was authorised or taken; nil if the provider does not say.
	Money *Money
	// Movements are what the provider says of money that was moved after the payment.
	Movements     []MovementTold
	NextActionURL string
	Failure       *Failure
	// Saved is the payment method that the provider has stored; nil if none.
	Saved *SavedMethod
}

// RefundOutcome is what the provider says of a refund.
type RefundOutcome struct {
	News fsm.News
	// Refused says that this very call was refused for good. It says nothing of an
	// earlier one.
	Refused          bool
	ProviderRefundID string
	// Unnamed says that the provider tells of a refund and not of which: of this one if
	// it can be no other.
	Unnamed bool
	// Reference is our id of the refund, as the provider carries it; empty if it
	// does not say.
	Reference string
	// Money is what was, or will be, paid back; nil if the provider does not say.
	Money   *Money
	Failure *Failure
}

// RefusedRefund is a call for a refund that the provider refused for good, with its
// own code for why.
func RefusedRefund(providerCode string) RefundOutcome {
	return RefundOutcome{News: fsm.NewsFailed, Refused: true, Failure: NewFailure("provider_rejected", providerCode)}
}

var (
	// ErrNotSent is returned when not a byte of this one call reached the
	// provider, but for questions that it begins with. It says nothing of any
	// earlier call.
	ErrNotSent = errors.New("nothing was sent to the provider")
	// ErrUnfit is an ErrNotSent of a request that this provider is never sent,
	// whenever it is tried: a token of another kind, an amount that it has no
	// digits for.
	ErrUnfit = fmt.Errorf("%w: it does not fit", ErrNotSent)
	// ErrHeldBack is returned, with ErrNotSent, when a call was not made in order
	// to spare the provider. A question that was held back was not asked.
	ErrHeldBack = errors.New("held back from the provider")
	// ErrNoSuchPayment is returned by a lookup when the provider knows no such
	// payment (yet).
	ErrNoSuchPayment = errors.New("the provider knows no such payment")
	// ErrNotTold is returned by a lookup that the provider has answered, when the
	// answer leaves open what was asked. With ErrNotSent it is returned by a command
	// that asks first, when the answer shows nothing that it could be sent for.
	ErrNotTold = errors.New("the provider does not tell")
	// ErrUnsupported is returned for a call that Capabilities says is not offered.
	// Nothing was sent.
	ErrUnsupported = errors.New("the provider does not offer this call")
	// ErrLicenceEnded is returned by a licence that no longer allows its call.
	ErrLicenceEnded = errors.New("licence to call ended")
)
