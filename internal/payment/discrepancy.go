package payment

// explain is what a person reads first of a discrepancy without a text of its
// own: what happened, and what to do.
func (k DiscrepancyKind) explain() string {
	switch k {
	case PaymentReversed:
		return "The provider took back money that had been paid. Find out why, and whether the goods have left."
	case RefundReversed:
		return "A refund succeeded and was undone afterwards: the customer does not have the money. Refund again or another way."
	case Disputed:
		return "The cardholder disputes this payment. Answer the provider before its deadline."
	case LateSuccess:
		return "Money came in after the payment had failed. Refund it, or deliver and resolve this as accepted."
	case DoubleSuccess:
		return "The order was paid twice, by two attempts. Refund one of them."
	case PaidAfterCancel:
		return "Money came in after the order was cancelled. Refund it."
	case AmountMismatch:
		return "The provider speaks of another amount than this payment is for. Compare with its dashboard before anything is delivered."
	case CurrencyMismatch:
		return "The provider speaks of another currency than this payment is for. Compare with its dashboard before anything is delivered."
	case RefundExceeds:
		return "More was paid back than had been taken. Compare with the provider's dashboard."
	case EventChanged, UnmatchedEvent, NeedsReview:
	}
	return "Compare with the provider's dashboard."
}
