package payment

// DiscrepancyKind is a kind of discrepancy: something that a person must look at.
type DiscrepancyKind string

// The kinds of discrepancies. docs/explanation/how-it-works.md describes the cause of each.
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
	// UnknownAtProvider and UnknownHere are about payments that only one of the two sides has.
	UnknownAtProvider DiscrepancyKind = "unknown_at_provider"
	UnknownHere       DiscrepancyKind = "unknown_here"
)

// The subjects of discrepancies, beside their kind: a code, with an id where two discrepancies of a kind may differ.
const (
	AboutUnknownOutcome        = "unknown_outcome"
	AboutRefundUnknown         = "refund_unknown"
	AboutRefundSlow            = "refund_slow"
	AboutRefundNotCovered      = "refund_not_covered"
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
	// AboutTooManyPayments is a payment beyond MaxPayments.
	AboutTooManyPayments = "too_many_payments"
	// AboutOtherPayee is a payment to another account than this one. AboutOtherMode is a payment of test money at an
	// account of real money, or the other way round. AboutClaim is a payment that only a browser's mark ties to the
	// attempt and that does not pay it as expected.
	AboutOtherPayee = "other_payee"
	AboutOtherMode  = "other_mode"
	AboutClaim      = "unproven_payment"
	// AboutDispute is a dispute that the provider names.
	AboutDispute = "dispute"
	// AboutContradiction is a notice that the provider does not confirm.
	AboutContradiction = "notice_contradicted"
	// AboutRefund is a refund of another amount or currency.
	AboutRefund = "refund"
	// AboutReviewDeclined is money that is still there although the provider's review declined the payment.
	AboutReviewDeclined = "review_declined"
	// AboutBooks is an entry of the provider's books that is not recorded so, and can't be.
	AboutBooks = "books"
	// AboutLookup is the AboutID of AboutBooks of a payment that the books lack and that can't be looked up.
	AboutLookup = "lookup"
)
