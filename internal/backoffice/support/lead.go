package support

import (
	"slices"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// lead is the first sentence of a summary if a caller's question is urgent: a second charge, a dispute with its deadline. It is
// empty otherwise.
func (h AttemptHistory) lead() string {
	var parts []string
	if twice := h.chargedTwice(); twice != "" {
		parts = append(parts, twice)
	}
	for _, d := range h.openDisputes() {
		parts = append(parts, h.disputed(d))
	}
	if len(parts) == 0 {
		return ""
	}
	if h.Attempt.Review.Status == payment.ReviewOpen && (!h.Attempt.Failed() || h.held()) {
		parts = append(parts, "under review by the provider")
	}
	text := strings.Join(parts, "; ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// chargedTwice returns that the customer was or may have been charged more than once for the order; empty otherwise.
func (h AttemptHistory) chargedTwice() string {
	times, holds := 0, false
	for _, a := range h.Order.Attempts {
		times += charges(a)
		holds = holds || a.State == fsm.Authorized && a.Captured == 0
	}
	switch {
	case times == 2:
		return "the customer was charged twice for this order, by two payments"
	case times > 1:
		return "the customer was charged " + strconv.Itoa(times) + " times for this order, by " + strconv.Itoa(times) + " payments"
	case h.secondPayment():
		return "the customer may have been charged twice for this order, by two payments under this one attempt"
	case times == 1 && holds:
		return "the customer was charged once for this order, and money is held for it a second time, by another payment"
	}
	return ""
}

// openDisputes returns the disputes that are not closed, the most urgent first.
func (h AttemptHistory) openDisputes() []payment.Dispute {
	list := slices.DeleteFunc(slices.Clone(h.Attempt.Disputes), func(d payment.Dispute) bool { return d.State.Closed() })
	slices.SortStableFunc(list, func(a, b payment.Dispute) int {
		switch {
		case a.DueBy.IsZero() == b.DueBy.IsZero():
			return a.DueBy.Compare(b.DueBy)
		case b.DueBy.IsZero():
			return -1
		}
		return 1
	})
	return list
}

// disputed returns the demand of an open dispute and its deadline.
func (h AttemptHistory) disputed(d payment.Dispute) string {
	about := ""
	if d.Money != nil {
		about = " about " + amount.Of(*d.Money)
	}
	switch d.State {
	case fsm.DisputeUnderReview:
		return "disputed and under review: the provider has the shop's answer" + about + " and decides"
	case fsm.DisputeWarning:
		return "inquiry: the customer's bank asks the shop for information" + about + h.deadline(d)
	case fsm.DisputeOpen, fsm.DisputeWon, fsm.DisputeLost, fsm.DisputeAccepted:
	}
	return "disputed: the customer's bank asks the shop for an answer" + about + h.deadline(d)
}

// deadline returns until when the shop may answer a dispute.
func (h AttemptHistory) deadline(d payment.Dispute) string {
	switch {
	case d.DueBy.IsZero():
		return "; the provider states no deadline"
	case h.ReadAt.After(d.DueBy):
		return "; the deadline was " + h.Clocks.Minute(d.DueBy) + ", " + h.Clocks.Until(d.DueBy, h.ReadAt)
	}
	return " until " + h.Clocks.Minute(d.DueBy) + ", " + h.Clocks.Until(d.DueBy, h.ReadAt)
}

// reasons returns why open disputes were opened.
func (h AttemptHistory) reasons() string {
	var parts []string
	for _, d := range h.openDisputes() {
		if reason := h.Provider.Reason(d.Reason); reason != "" {
			parts = append(parts, "The reason of the dispute: "+reason+".")
		}
	}
	return strings.Join(parts, " ")
}

// mostRefunds is how many refunds a summary has.
const mostRefunds = 5

// refunds returns for each refund its amount, day and reference, and then how long a bank takes.
func (h AttemptHistory) refunds() (parts []string) {
	list := h.shownRefunds()
	rest, paid, coming := h.Attempt.Refunded, 0, false
	for i, r := range list {
		if i < len(list)-mostRefunds {
			continue
		}
		parts = append(parts, h.refundSaid(r))
	}
	for _, r := range list {
		done := r.State == fsm.RefundSucceeded && !r.Reversed(&h.Attempt)
		if done && r.Money.Currency == h.Attempt.Money.Currency {
			rest, paid = rest-r.Money.Minor, paid+1
		}
		coming = coming || done || r.State == fsm.RefundPending
	}
	if n := len(list) - mostRefunds; n > 0 {
		parts = append(parts, "The timeline has "+strconv.Itoa(n)+" earlier refunds.")
	}
	switch {
	case rest > 0 && paid == 0:
		parts = append(parts, h.money(rest)+" was refunded to the customer.")
	case rest > 0:
		parts = append(parts, "Another "+h.money(rest)+" was refunded to the customer.")
	case paid > 1:
		parts = append(parts, "In all "+h.money(h.Attempt.Refunded)+" was refunded.")
	}
	switch {
	case !coming && rest <= 0:
	case h.Provider.RefundTime == "":
		parts = append(parts, "The provider does not document how long the customer's bank takes to show a refund.")
	default:
		parts = append(parts, "A refund reaches the customer "+h.Provider.RefundTime+", as the provider documents.")
	}
	return parts
}

// refundSaid returns the state of a refund with its day and its reference at the provider.
func (h AttemptHistory) refundSaid(r ShownRefund) string {
	reference := " (reference " + r.ProviderRefundID + ")"
	switch {
	case r.Bank != "":
		reference = " (reference " + r.Bank + " for the bank, " + r.ProviderRefundID + " at the provider)"
	case r.ProviderRefundID == "":
		reference = " (the provider gave no reference)"
	}
	day := h.Clocks.Day(r.CreatedAt)
	if r.FinalizedAt != nil {
		day = h.Clocks.Day(*r.FinalizedAt)
	}
	money := amount.Of(r.Money)
	switch {
	case r.Reversed(&h.Attempt):
		return "The refund of " + money + " on " + day + reference + " was undone: the customer did not keep that money."
	case r.State == fsm.RefundSucceeded:
		return money + " was refunded to the customer on " + day + reference + "."
	case r.State == fsm.RefundFailed:
		return "A refund of " + money + " failed on " + day + reference + ": the customer did not get this money."
	}
	return "A refund of " + money + ", requested on " + day + reference + ", is pending."
}
