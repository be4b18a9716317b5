package payment

import (
	"strings"
	"time"
)

// DiscrepancyKind names what a person must look at.
type DiscrepancyKind string

// The kinds of discrepancies; docs/how-it-works.md says of each what happened.
const (
	PaymentReversed  DiscrepancyKind = "payment_reversed"
	RefundReversed   DiscrepancyKind = "refund_reversed"
	Disputed         DiscrepancyKind = "disputed"
	LateSuccess      DiscrepancyKind = "late_success"
	DoubleSuccess    DiscrepancyKind = "double_success"
	PaidAfterCancel  DiscrepancyKind = "paid_after_cancel"
	AmountMismatch   DiscrepancyKind = "amount_mismatch"
	CurrencyMismatch DiscrepancyKind = "currency_mismatch"
	RefundExceeds    DiscrepancyKind = "refund_exceeds"
	EventChanged     DiscrepancyKind = "event_changed"
	UnmatchedEvent   DiscrepancyKind = "unmatched_event"
	NeedsReview      DiscrepancyKind = "needs_review"
)

// Discrepancy is what a person must look at, opened once for its cause: kind,
// attempt, event and what it is about.
type Discrepancy struct {
	ID        DiscrepancyID
	Kind      DiscrepancyKind
	OrderID   OrderID
	AttemptID *AttemptID
	// Event is zero where the cause is not one event.
	Event EventKey
	// About tells two causes of one kind apart: another amount, dispute or refund, or
	// other content of an event.
	About string
	Money *Money
	Text  string
	At    time.Time
	// Proposed is what one person called paid, and a second one must confirm; nil if
	// nothing is.
	Proposed *Proposed
	// Resolved is nil while it is open.
	Resolved *Resolved
}

// What a discrepancy is about: a refund, and what of it; or what of its attempt.
const (
	aboutRefund       = "refund "
	aboutSlow         = " is slow"
	aboutTransaction  = "transaction "
	aboutPayment      = "payment "
	aboutExpiry       = "expiry"
	aboutCapture      = "capture"
	aboutCancellation = "cancellation"
)

// Refund is the refund that a person decides by resolving this as paid or not paid;
// false if it is no question of what became of one.
func (d Discrepancy) Refund() (RefundID, bool) {
	name, of := strings.CutPrefix(d.About, aboutRefund)
	id, err := ParseRefundID(strings.TrimSuffix(name, aboutSlow))
	return id, d.Kind == NeedsReview && of && err == nil
}

// OfPayment reports whether it is of the payment itself, and not of a refund of it.
func (d Discrepancy) OfPayment() bool { return !strings.HasPrefix(d.About, aboutRefund) }

// SecondPayment reports whether the provider told of money twice under one payment.
func (d Discrepancy) SecondPayment() bool {
	return d.Kind == NeedsReview && (strings.HasPrefix(d.About, aboutTransaction) || strings.HasPrefix(d.About, aboutPayment))
}

// explain is what a person reads first of a discrepancy without a text of its
// own: what happened, and what to do.
func (k DiscrepancyKind) explain() string {
	happened, todo := k.explanation()
	return happened + todo
}

// explainRefunded is what explain says where the account's policy pays the late
// money back: who then refunds or delivers as well pays twice.
func (k DiscrepancyKind) explainRefunded() string {
	happened, _ := k.explanation()
	return happened + "This account pays late money back by itself: see whether that refund succeeds, before anything else is refunded or delivered."
}

func (k DiscrepancyKind) explanation() (happened, todo string) {
	switch k {
	case PaymentReversed:
		return "The provider took back money that had been paid. ", "Find out why, and whether the goods have left."
	case RefundReversed:
		return "A refund succeeded and was undone afterwards: the customer does not have the money. ", "Refund again or another way."
	case Disputed:
		return "The cardholder disputes this payment. ", "Answer the provider before its deadline."
	case LateSuccess:
		return "Money came in after the payment had failed. ", "Refund it, or deliver and resolve this as accepted."
	case DoubleSuccess:
		return "The order was paid twice, by two attempts. ", "Refund one of them."
	case PaidAfterCancel:
		return "Money came in after the order was cancelled. ", "Refund it."
	case AmountMismatch:
		return "The provider speaks of another amount than this payment is for. ", "Compare with its dashboard before anything is delivered."
	case CurrencyMismatch:
		return "The provider speaks of another currency than this payment is for. ", "Compare with its dashboard before anything is delivered."
	case RefundExceeds:
		return "More was paid back than had been taken. ", "Compare with the provider's dashboard."
	case EventChanged, UnmatchedEvent, NeedsReview:
	}
	return "", "Compare with the provider's dashboard."
}

// about tells causes of one kind on one attempt apart, so that what was resolved
// and arises anew is opened anew.
func about(kind DiscrepancyKind, money *Money, cause Cause) string {
	switch kind {
	case Disputed:
		return cause.ID
	case AmountMismatch, CurrencyMismatch, RefundExceeds, PaymentReversed, RefundReversed:
		if money != nil {
			return money.String()
		}
	case LateSuccess, DoubleSuccess, PaidAfterCancel, EventChanged, UnmatchedEvent, NeedsReview:
	}
	return ""
}
