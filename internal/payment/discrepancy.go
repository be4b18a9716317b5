package payment

// DiscrepancyKind names what a person must look at.
type DiscrepancyKind string

// The kinds of discrepancies; docs/how-it-works.md has what happened in each.
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
	UnreadableEvent  DiscrepancyKind = "unreadable_event"
	NeedsReview      DiscrepancyKind = "needs_review"
)

// What a discrepancy is about, beside its kind: a code, with an id where two of a kind may differ.
const (
	AboutUnknownOutcome        = "unknown_outcome"
	AboutRefundUnknown         = "refund_unknown"
	AboutRefundSlow            = "refund_slow"
	AboutHoldNotReleased       = "hold_not_released"
	AboutNotCancelled          = "not_cancelled"
	AboutCaptureNotMade        = "capture_not_made"
	AboutCancelNotMade         = "cancel_not_made"
	AboutSecondPayment         = "second_payment"
	AboutSharedReference       = "shared_reference"
	AboutRefundUnattributed    = "refund_unattributed"
	AboutPaidAfterFailedRefund = "paid_after_failed_refund"
	AboutEventNotApplied       = "event_not_applied"
	AboutUnreadableEvent       = "unreadable_event"
	AboutUnsignedNotices       = "unsigned_notices"
	// AboutDispute is a dispute that the provider names.
	AboutDispute = "dispute"
	// AboutContradiction is a notice that the provider does not confirm.
	AboutContradiction = "notice_contradicted"
	// AboutRefund is a refund of another amount or currency.
	AboutRefund = "refund"
)

// Explain is what a person reads first of a discrepancy without a text of its own: what happened,
// and what to do.
func (k DiscrepancyKind) Explain() string {
	happened, todo := k.explanation()
	return happened + todo
}

// ExplainRefunded is Explain where the account's policy refunds late money: a refund or a delivery
// beside that pays twice.
func (k DiscrepancyKind) ExplainRefunded() string {
	happened, _ := k.explanation()
	return happened + "This account refunds late money by itself: see whether that refund succeeds, before anything else is refunded or delivered."
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
		return "More was paid back than had been captured. ", "Compare with the provider's dashboard."
	case EventChanged, UnmatchedEvent, UnreadableEvent, NeedsReview:
	}
	return "", "Compare with the provider's dashboard."
}
