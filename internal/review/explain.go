package review

import "github.com/paylatch/paylatch/internal/payment"

// Explain is what a person reads first of a discrepancy without a text of its own: what happened,
// and what to do.
func Explain(k payment.DiscrepancyKind) string {
	happened, todo := explanation(k)
	return happened + todo
}

// ExplainRefunded is Explain where the account's policy refunds late money: a refund or a delivery
// beside that pays twice.
func ExplainRefunded(k payment.DiscrepancyKind) string {
	happened, _ := explanation(k)
	return happened + "This account refunds late money by itself: see whether that refund succeeds, before anything else is refunded or delivered."
}

func explanation(k payment.DiscrepancyKind) (happened, todo string) {
	switch k {
	case payment.PaymentReversed:
		return "The provider took back money that had been paid. ", "Find out why, and whether the goods have left."
	case payment.RefundReversed:
		return "A refund succeeded and was undone afterwards: the customer does not have the money. ", "Refund again or another way."
	case payment.Disputed:
		return "The cardholder disputes this payment. ", "Answer the provider before its deadline."
	case payment.LateSuccess:
		return "Money came in after the payment had failed. ", "Refund it, or deliver and resolve this as accepted."
	case payment.DoubleSuccess:
		return "The order was paid twice, by two attempts. ", "Refund one of them."
	case payment.PaidAfterCancel:
		return "Money came in after the order was cancelled. ", "Refund it."
	case payment.AmountMismatch:
		return "The provider speaks of another amount than this payment is for. ", "Compare with its dashboard before anything is delivered."
	case payment.CurrencyMismatch:
		return "The provider speaks of another currency than this payment is for. ", "Compare with its dashboard before anything is delivered."
	case payment.RefundExceeds:
		return "More was paid back than had been captured. ", "Compare with the provider's dashboard."
	case payment.UnknownAtProvider:
		return "Money is recorded here that the provider's books do not contain, and a lookup finds no such payment. ",
			"Find the payment in its dashboard, of another account, too, and whether the goods have left."
	case payment.UnknownHere:
		return "The provider's books contain a payment that is not recorded here. ",
			"Find out in its dashboard what it was for, and deliver that, or refund it there."
	case payment.EventChanged, payment.UnmatchedEvent, payment.UnreadableEvent, payment.NeedsReview:
	}
	return "", "Compare with the provider's dashboard."
}
