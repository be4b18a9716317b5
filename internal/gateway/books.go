package gateway

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Books are a provider's own record of an account's money. Reading them moves nothing.
type Books interface {
	// Entries passes the entries of a span to take, in any order, page by page, until take returns an error. Entries
	// then returns that error. It leaves out no entry of a payment in the span. An entry may be passed more than once:
	// by two spans that meet at its time, by a later span in which the provider has changed it, and, with its payout, by
	// the span of the payout. It leaves out payouts, and entries of an unfamiliar type; entries of the account (fees,
	// reserves, transfers) may be passed, see Entry.Own. An unreadable entry hides no other entry: all others are passed, and then the error wraps
	// ErrUnreadable. After any other error the span must be read again.
	Entries(ctx context.Context, in Span, take func(Entry) error) error
}

// Payouts are a provider's own list of an account's payouts. Books may implement it beside [Books]. Where they do not, a payout is known
// only by its id in the entries.
type Payouts interface {
	// Payouts passes the payouts that were created in a span to take, as they are now, as Books.Entries does entries. It leaves the
	// account out.
	Payouts(ctx context.Context, in Span, take func(payment.PayoutReport) error) error
}

// ErrUnreadable is wrapped by the error of a list that was passed on except for unreadable entries. Reading it again
// would give the same result.
var ErrUnreadable = errors.New("an entry of the provider's list can't be read")

// Statement reads a provider's file with the content of [Books]: its settlement details, its registry. It passes the file's payouts, too,
// see Entry.Paid.
type Statement func(file io.Reader, take func(Entry) error) error

// Span is the time from From, inclusive, until To, exclusive.
type Span struct{ From, To time.Time }

// Has reports whether the span contains a time.
func (s Span) Has(t time.Time) bool { return !t.Before(s.From) && t.Before(s.To) }

// Seconds is the span of whole seconds that contains the span: most providers date by seconds.
func (s Span) Seconds() Span {
	to := s.To.Truncate(time.Second)
	if to.Before(s.To) {
		to = to.Add(time.Second)
	}
	return Span{s.From.Truncate(time.Second).UTC(), to.UTC()}
}

// Split divides the span into spans of at most a length, in order; each begins where the last one ends.
func (s Span) Split(length time.Duration) (parts []Span) {
	for from := s.From; from.Before(s.To); from = from.Add(length) {
		to := from.Add(length)
		if to.After(s.To) {
			to = s.To
		}
		parts = append(parts, Span{from, to})
	}
	return parts
}

// Entry is the record of one money movement of a payment in a provider's books, or of the account itself.
type Entry struct {
	// ID is the provider's id of the entry; an account has it once.
	ID string
	// Own is set on an entry of the account, which is about no payment. It has a Net, and of Movement only the time.
	Own payment.EntryKind
	// Paid is set on a payout in a Statement. Such an entry has nothing else.
	Paid *payment.PayoutReport
	// Payment is the canonical id of the payment, as in a Report. References are its other names, with our attempt's id
	// where the provider carries it.
	Payment    string
	References []string
	// Order is the merchant's order, where the provider carries it.
	Order payment.OrderID
	// Movement is the movement, named as in this provider's reports. Without an id its money is the total of that kind
	// for the payment until the books were read.
	Movement payment.MovementReport
	// Part is the entry's own amount where Movement is the total of several entries; nil where the entry has all of it.
	Part *payment.Money
	// Grows is set on a total without a fee and a net that the provider raises, under the same ID, with each further capture or refund. What
	// was added after the entry was stored is stored as an entry of its own.
	Grows bool
	// Fee is the provider's fee. Net is the change of the account's balance (negative where money was taken), in the
	// currency of that balance. Each is nil where the books do not state it.
	Fee, Net *payment.Money
	// Implied is set on an entry that the adapter concludes from a dispute's last status, because the provider lists no earlier ones. The
	// conclusion is right only if the dispute's money was returned before. So the entry of a recorded payment is kept only if the return is
	// recorded. The entry changes no payment.
	Implied bool
	// Payee and Live are as in Outcome.
	Payee string
	Live  *bool
	// Payout is the provider's id of the payout that contains the entry. It is empty before the payout, and where the
	// entry was read from a list without payouts.
	Payout string
	// Undoes is the id of the entry that this entry takes back, if the books have this entry in place of that entry. If that entry was
	// never read, neither of the two counts in the balance. Undoes is empty if the books have both entries.
	Undoes string
}

// Money is the entry's own amount.
func (e Entry) Money() payment.Money {
	if e.Part != nil {
		return *e.Part
	}
	return e.Movement.Money
}

// Names returns all ids that the entry contains for the payment.
func (e Entry) Names() []string {
	return payment.Report{Payment: e.Payment, References: e.References}.Names()
}

// Report is the entry as a report about its payment.
func (e Entry) Report(cause payment.Cause) payment.Report {
	m := e.Movement
	r := payment.Report{Payment: e.Payment, Payee: e.Payee, Live: e.Live, References: e.References, Event: fsm.EventMoney, At: m.At, Cause: cause}
	switch m.Kind {
	case payment.MovementCapture:
		r.Event, r.Movements = fsm.EventSucceeded, []payment.MovementReport{m}
	case payment.MovementRefund, payment.MovementRefundReversal:
		r.Refund = e.refund()
	case payment.MovementAuthorization, payment.MovementRelease, payment.MovementCaptureReversal, payment.MovementChargeback, payment.MovementChargebackReversal:
		r.Movements = []payment.MovementReport{m}
	}
	return r
}

// refund is the report of a refund in the entry. A refund of ours that the provider does not name has our id.
func (e Entry) refund() *payment.RefundReport {
	m := e.Movement
	t := &payment.RefundReport{ProviderID: m.ID, Event: fsm.EventSucceeded, Total: m.ID == ""}
	if m.Kind == payment.MovementRefundReversal {
		t.Event, t.Total = fsm.EventFailed, false
	}
	if m.Money.Currency != "" {
		t.Money = &m.Money
	}
	if id, err := payment.ParseRefundID(m.ID); err == nil && uuid.UUID(id).Version() == ownVersion {
		t.ProviderID, t.Reference = "", m.ID
	}
	return t
}

// ownVersion is the version of our refunds' UUIDs.
const ownVersion = 7

// EventLog is a provider's own list of the events of an account.
type EventLog interface {
	// Events passes the events of a span to take, as Books.Entries does entries. Events of any type are
	// passed.
	Events(ctx context.Context, in Span, take func(ListedEvent) error) error
}

// ListedEvent is an event as a provider lists it.
type ListedEvent struct {
	// Body is the body of the webhook that the provider would deliver.
	Body []byte
	// At is when the event happened, by the provider's clock.
	At time.Time
}
