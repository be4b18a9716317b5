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
	// Entries passes the entries of a span to take, in any order, page by page, until take returns an
	// error, which it returns. None of a span is left out. An entry may be passed more than once: by two
	// spans at whose edge it is, by a later span in which the provider has changed it, and, with its
	// payout, by the span in which it was paid out. Entries that are about no payment (payouts, fees of
	// the account), and those of an unfamiliar type, are left out. One that can't be read hides no other:
	// all others are passed, and then the error wraps ErrUnreadable. After any other error the span has
	// to be read again.
	Entries(ctx context.Context, in Span, take func(Entry) error) error
}

// ErrUnreadable is wrapped by the error of a list of which all was passed but what can't be read: reading
// it again would find the same.
var ErrUnreadable = errors.New("the provider lists what can't be read")

// Statement reads a file of a provider's that has what [Books] have: its settlement details, its registry.
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

// Entry is what a provider's books have of one movement of money of a payment.
type Entry struct {
	// ID is the provider's id of the entry; an account has it once.
	ID string
	// Payment is the canonical id of the payment, as a Report has it; References are others by which it may
	// be named, our attempt's id among them where the provider carries it.
	Payment    string
	References []string
	// Order is the merchant's order, where the provider carries it.
	Order payment.OrderID
	// Movement is what happened, named as reports of this provider name it. Without an id its money is all
	// that was so moved of the payment until the books were read.
	Movement payment.Told
	// Fee is what the provider kept of it, Net what was added to the balance of the account (negative where
	// it was taken), in the currency of that balance; nil where the books do not state it.
	Fee, Net *payment.Money
	// Payee and Live are as those of Outcome.
	Payee string
	Live  *bool
	// Payout is the provider's id of the payout that contains it; empty while it is in none, and where it
	// was read from a list that does not name it.
	Payout string
}

// Names are all ids that the entry contains for the payment.
func (e Entry) Names() []string {
	return payment.Report{Payment: e.Payment, References: e.References}.Names()
}

// Report is what the entry states, as a report about its payment.
func (e Entry) Report(cause payment.Cause) payment.Report {
	m := e.Movement
	r := payment.Report{Payment: e.Payment, Payee: e.Payee, Live: e.Live, References: e.References, Says: fsm.NewsMoney, At: m.At, Cause: cause}
	switch m.Kind {
	case payment.MovementCapture:
		r.Says, r.Movements = fsm.NewsSucceeded, []payment.Told{m}
	case payment.MovementRefund, payment.MovementRefundReversal:
		r.Refund = e.refund()
	case payment.MovementAuthorization, payment.MovementRelease, payment.MovementCaptureReversal, payment.MovementChargeback, payment.MovementChargebackReversal:
		r.Movements = []payment.Told{m}
	}
	return r
}

// refund is what the entry states of a refund. One of ours that the provider does not name has our id.
func (e Entry) refund() *payment.RefundTold {
	m := e.Movement
	t := &payment.RefundTold{ProviderID: m.ID, Says: fsm.NewsSucceeded, Total: m.ID == ""}
	if m.Kind == payment.MovementRefundReversal {
		t.Says, t.Total = fsm.NewsFailed, false
	}
	if m.Money.Currency != "" {
		t.Money = &m.Money
	}
	if id, err := payment.ParseRefundID(m.ID); err == nil && uuid.UUID(id).Version() == ownVersion {
		t.ProviderID, t.Reference = "", m.ID
	}
	return t
}

// ownVersion is that of the UUIDs by which refunds of ours are named.
const ownVersion = 7

// EventLog is a provider's own list of the events of an account.
type EventLog interface {
	// Events passes the events of a span to take, as Books.Entries does entries. Events of any type are
	// passed.
	Events(ctx context.Context, in Span, take func(ListedEvent) error) error
}

// ListedEvent is an event as a provider lists it.
type ListedEvent struct {
	// Body is what the provider would deliver as the body of a webhook.
	Body []byte
	// At is when the event happened, by the provider's clock.
	At time.Time
}
