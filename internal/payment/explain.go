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
	return "Compare with the provider's dashboard."
}

// happened has the first sentence that a person reads about a discrepancy of each kind.
var happened = map[DiscrepancyKind]string{ //nolint:gochecknoglobals // a table
	PaymentReversed:  "The provider took back money that had been paid. Find out why, and whether the goods have left.",
	RefundReversed:   "A refund succeeded and was undone afterwards: the customer did not keep that money.",
	Disputed:         "The cardholder disputes this payment.",
	LateSuccess:      "Money came in after the payment had failed.",
	DoubleSuccess:    "The order was paid twice, by two attempts.",
	PaidAfterCancel:  "Money came in after the order was cancelled.",
	AmountMismatch:   "The provider reports another amount than this payment is for. Compare with its dashboard before anything is delivered.",
	CurrencyMismatch: "The provider reports another currency than this payment is for. Compare with its dashboard before anything is delivered.",
	RefundExceeds:    "More was paid back than had been captured. Compare with the provider's dashboard.",
	UnknownAtProvider: "Money is recorded here that the provider's books do not contain, and a lookup finds no such payment. " +
		"Find the payment in its dashboard, of another account, too, and whether the goods have left.",
	UnknownHere: "The provider's books contain a payment that is not recorded here. " +
		"Find out in its dashboard what it was for, and deliver that, or refund it there.",
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
			return "The payment has " + string(c.State) + " since."
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
		return "A refund of it is under way: see whether that succeeds, before anything else is refunded or delivered."
	case c.State == "":
		return ""
	case c.Held <= 0:
		return "This payment holds nothing of it any more."
	case d.Kind == RefundReversed:
		return "Refund again or another way."
	case d.Kind == DoubleSuccess || c.Beside:
		return "Refund one of the two payments."
	case d.Kind == PaidAfterCancel:
		return "Refund it, or deliver in spite of the cancellation."
	}
	return "Refund it, or deliver and resolve this as accepted."
}

func disputeNow(s fsm.DisputeState) string {
	switch s {
	case fsm.DisputeWon:
		return "The dispute is over: it was won."
	case fsm.DisputeLost, fsm.DisputeAccepted:
		return "The dispute is over: it was lost."
	case fsm.DisputeUnderReview:
		return "The provider has an answer and is deciding."
	case fsm.DisputeWarning, fsm.DisputeOpen:
	}
	return "Answer the provider before its deadline."
}

func refundNow(s fsm.RefundState) string {
	switch s {
	case fsm.RefundSucceeded:
		return "The refund has succeeded since."
	case fsm.RefundFailed:
		return "The refund has failed since, and its money can be refunded again."
	case fsm.RefundPending:
	}
	return ""
}
