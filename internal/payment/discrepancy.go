package payment

import (
	"slices"
	"time"
)

// The discrepancies that a person must look at: their texts, their possible resolutions, and the
// effect of each resolution.

// Discrepancy is a case that a person must look at. It is opened once for its cause: kind, attempt, event and subject.
type Discrepancy struct {
	ID        DiscrepancyID
	Kind      DiscrepancyKind
	OrderID   OrderID
	AttemptID *AttemptID
	// Event is zero where the cause is not one event.
	Event EventKey
	// About and AboutID separate two causes of one kind: another amount, dispute or refund, or
	// other content of an event.
	About   string
	AboutID string
	Money   *Money
	Text    string
	At      time.Time
	// Assignee is the subject of the person at work on it; empty if there is none.
	Assignee string
	// CausedBy is the subject of the person who opened it by resolving another discrepancy. That person can't close it.
	// It is empty otherwise.
	CausedBy string
	// Proposed is the resolution of one person that a second person must confirm; nil if there is no proposal.
	Proposed *ProposedResolution
	// Resolved is nil while it is open.
	Resolved *Resolved
}

// Refund is the refund that a person decides by resolving this as paid or not paid; false
// if it leaves no refund open.
func (d Discrepancy) Refund() (RefundID, bool) {
	id, err := ParseRefundID(d.AboutID)
	return id, d.Kind == NeedsReview && (d.About == AboutRefundUnknown || d.About == AboutRefundSlow) && err == nil
}

// OfPayment reports whether it is of the payment itself, and not of a refund of it or of an entry of the books.
func (d Discrepancy) OfPayment() bool {
	return !slices.Contains([]string{AboutBooks, AboutRefund, AboutRefundUnknown, AboutRefundSlow, AboutRefundUnattributed, AboutRefundNotCovered, AboutPaidAfterFailedRefund}, d.About)
}

// SecondPayment reports whether the provider reported money twice under one attempt.
func (d Discrepancy) SecondPayment() bool {
	return d.Kind == NeedsReview && d.About == AboutSecondPayment
}
