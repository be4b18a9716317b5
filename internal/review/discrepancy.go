package review

import (
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/inbound"
	"github.com/paylatch/paylatch/internal/payment"
)

// Discrepancy is what a person must look at, opened once for its cause: kind, attempt,
// event and what it is about.
type Discrepancy struct {
	ID        payment.DiscrepancyID
	Kind      payment.DiscrepancyKind
	OrderID   payment.OrderID
	AttemptID *payment.AttemptID
	// Event is zero where the cause is not one event.
	Event inbound.EventKey
	// About and AboutID separate two causes of one kind: another amount, dispute or refund, or
	// other content of an event.
	About   string
	AboutID string
	Money   *payment.Money
	Text    string
	At      time.Time
	// Assignee is the subject of the person at work on it; empty for none.
	Assignee string
	// CausedBy is the subject that opened it by resolving another discrepancy, and can't close it; empty for none.
	CausedBy string
	// Proposed is how one person has resolved it, and a second one must confirm; nil if
	// nothing is.
	Proposed *Proposed
	// Resolved is nil while it is open.
	Resolved *Resolved
}

// Refund is the refund that a person decides by resolving this as paid or not paid; false
// if it leaves no refund open.
func (d Discrepancy) Refund() (payment.RefundID, bool) {
	id, err := payment.ParseRefundID(d.AboutID)
	return id, d.Kind == payment.NeedsReview && (d.About == payment.AboutRefundUnknown || d.About == payment.AboutRefundSlow) && err == nil
}

// OfPayment reports whether it is of the payment itself, and not of a refund of it.
func (d Discrepancy) OfPayment() bool {
	return !slices.Contains([]string{payment.AboutRefund, payment.AboutRefundUnknown, payment.AboutRefundSlow, payment.AboutRefundUnattributed, payment.AboutRefundNotCovered, payment.AboutPaidAfterFailedRefund}, d.About)
}

// SecondPayment reports whether the provider reported money twice under one attempt.
func (d Discrepancy) SecondPayment() bool {
	return d.Kind == payment.NeedsReview && d.About == payment.AboutSecondPayment
}
