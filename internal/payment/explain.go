package payment

import (
	"strings"

	"github.com/paylatch/paylatch/fsm"
)

// ExplainDiscrepancy is the opening text of a discrepancy without a text of its own. It describes the event and, where that is
// fixed, the next step.
func ExplainDiscrepancy(k DiscrepancyKind) string {
	if text := happened[k]; text != "" {
		return text
	}
	return "Compare the payment with the provider's dashboard."
}

// happened has the first sentence that a person reads about a discrepancy of each kind.
var happened = map[DiscrepancyKind]string{ //nolint:gochecknoglobals // a table
	PaymentReversed:  "The provider took back captured money. Find out why, and whether the goods have left.",
	RefundReversed:   "A refund succeeded and was reversed later, so the customer does not have the money.",
	Disputed:         "The cardholder disputes this payment.",
	LateSuccess:      "Money arrived after the payment had failed.",
	DoubleSuccess:    "The order was paid twice, by two attempts.",
	PaidAfterCancel:  "Money arrived after the order had been cancelled.",
	AmountMismatch:   "The amount that the provider reports differs from this payment's amount. Compare the amounts in its dashboard before you deliver anything.",
	CurrencyMismatch: "The currency that the provider reports differs from this payment's currency. Compare the currencies in its dashboard before you deliver anything.",
	RefundExceeds:    "The refunds exceed the captures. Compare the amounts with the provider's dashboard.",
	UnknownAtProvider: "paylatch has a payment that the provider's books do not contain and that a lookup does not find. Search for the " +
		"payment in the dashboards of this account and your other accounts, and find out whether the goods have left.",
	UnknownHere: "The provider's books contain a payment that paylatch does not have. Find the payment in its dashboard, and deliver the " +
		"goods or refund it there.",
}

// Says is the text of a discrepancy as it is shown: its opening text and, while it is open, its current state.
func (d Discrepancy) Says(c Circumstances) string {
	if d.Resolved != nil {
		return d.Text
	}
	return strings.TrimSpace(d.Text + " " + d.now(c))
}

// now is the current state of the discrepancy's subject, in a sentence; empty where the circumstances add nothing.
func (d Discrepancy) now(c Circumstances) string {
	if d.moves() {
		return d.moneyNow(c)
	}
	switch d.Kind {
	case Disputed:
		return disputeNow(c.Dispute)
	case NeedsReview:
		if d.About == AboutReviewDeclined && c.Held > 0 {
			return d.moneyNow(c)
		}
		if d.About == AboutRefundUnknown || d.About == AboutRefundSlow {
			return refundNow(c.Refund)
		}
		if d.asksForAttempt() && c.State.Final() && !c.MayHold {
			return "The payment has " + string(c.State) + " since then."
		}
	case LateSuccess, DoubleSuccess, PaidAfterCancel, RefundReversed, // money moves
		AmountMismatch, CurrencyMismatch, PaymentReversed, RefundExceeds, EventChanged,
		UnmatchedEvent, UnreadableEvent, UnknownAtProvider, UnknownHere:
	}
	return ""
}

// moneyNow is the next step for money that a payment holds, or held.
func (d Discrepancy) moneyNow(c Circumstances) string {
	switch {
	case c.Refunding:
		return "A refund of this money is under way. Wait for its result; until then refund and deliver nothing."
	case c.State == "":
		return ""
	case c.Held <= 0:
		return "This payment no longer holds this money."
	case d.Kind == RefundReversed:
		return "Refund the money again, or by another method."
	case d.Kind == DoubleSuccess || c.Order == NeedsNothing:
		return "Refund one of the two payments."
	case d.Kind == PaidAfterCancel:
		return "Refund the money, or deliver the goods although the order is cancelled."
	}
	return "Refund the money, or deliver the goods and resolve this case as accepted."
}

func disputeNow(s fsm.DisputeState) string {
	switch s {
	case fsm.DisputeWon:
		return "The dispute is over: it was won."
	case fsm.DisputeLost, fsm.DisputeAccepted:
		return "The dispute is over: it was lost."
	case fsm.DisputeUnderReview:
		return "The provider has your response and is deciding."
	case fsm.DisputeWarning, fsm.DisputeOpen:
	}
	return ""
}

func refundNow(s fsm.RefundState) string {
	switch s {
	case fsm.RefundSucceeded:
		return "The refund has succeeded since then."
	case fsm.RefundFailed:
		return "The refund has failed since then, and the same amount can be refunded again."
	case fsm.RefundPending:
	}
	return ""
}
