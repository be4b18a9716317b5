package support

import (
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// Summary returns one paragraph: a second charge or an open dispute with its deadline, the state, the refunds, how often the
// customer was charged for the order, the next step with its time, and whether the customer may pay again.
func (h AttemptHistory) Summary() string {
	parts := []string{h.lead(), h.stands(), h.returned(), h.reasons()}
	if h.chargedTwice() == "" {
		parts = append(parts, h.charged())
	}
	parts = append(parts, h.next(), h.mayPayAgain())
	return strings.Join(slices.DeleteFunc(parts, func(text string) bool { return text == "" }), " ")
}

func (h AttemptHistory) stands() string {
	a := h.Attempt
	what := "The payment of " + amount.Of(a.Money) + " for order " + string(a.OrderID)
	if (!a.Failed() || h.held()) && (h.lead() == "" || a.Review.Status != payment.ReviewOpen) {
		what += reviews[a.Review.Status]
	}
	switch {
	case a.Succeeded():
		return what + " succeeded on " + clock(*a.FinalizedAt) + "." + h.differs() + h.heldBack()
	case a.Failed() && h.held():
		return what + " had failed on " + clock(*a.FinalizedAt) + ": " + h.failure()
	case a.Failed():
		return what + " failed on " + clock(*a.FinalizedAt) + ": " + h.failure() + h.differs()
	case h.held():
		return what + " is not finished, and the provider has captured money for it: " + h.captured() + "."
	}
	return what + pendingWords[a.State] + h.differs()
}

// reviews are the words of the first sentence about the provider's review.
var reviews = map[payment.ReviewStatus]string{ //nolint:gochecknoglobals // a table
	payment.ReviewOpen:     ", under review by the provider,",
	payment.ReviewDeclined: ", declined by the provider's review,",
}

// heldBack returns that the shop still waits for the end of the review; empty if it does not.
func (h AttemptHistory) heldBack() string {
	switch r := h.Attempt.Review; {
	case r.PaidHeld && r.Status == payment.ReviewOpen:
		return " The shop is notified that the order is paid once the review has approved it."
	case r.PaidHeld:
		return " The shop was not notified that the order is paid."
	}
	return ""
}

// pendingWords maps the state of a payment without captured money.
var pendingWords = map[fsm.State]string{ //nolint:gochecknoglobals // a table
	fsm.OutcomeUnknown:   " was sent to the provider, and it is unknown whether the customer was charged.",
	fsm.AwaitingCustomer: " is waiting for the customer to confirm it on the provider's page.",
	fsm.Authorized:       " is held by the provider and not captured yet.",
	fsm.Processing:       " is being processed by the provider.",
	fsm.Requested:        " was started and is being sent to the provider.",
}

// differs returns the provider's amount if it differs from the attempt's.
func (h AttemptHistory) differs() string {
	a, reported := h.Attempt, h.reported()
	switch {
	case a.Captured > 0 && a.Captured != a.Money.Minor, h.foreign() && a.Succeeded():
		return " " + h.captured() + plural(h.Attempt.Captured > 0 && h.foreign()) + " captured."
	case a.Captured > 0:
	case a.Authorized > 0 && a.Authorized != a.Money.Minor:
		return " The provider holds " + h.money(a.Authorized) + " for it."
	case reported != nil:
		return " The provider reports " + amount.Of(*reported.Money) + "."
	}
	return ""
}

// captured returns the captured money in words, foreign currencies included.
func (h AttemptHistory) captured() string {
	var parts []string
	if h.Attempt.Captured > 0 {
		parts = append(parts, h.money(h.Attempt.Captured))
	}
	if h.foreign() {
		parts = append(parts, amount.Of(h.Attempt.Foreign()))
	}
	return strings.Join(parts, " and ")
}

// held reports whether money was captured for the attempt.
func (h AttemptHistory) held() bool { return h.Attempt.Captured > 0 || h.foreign() }

// foreign reports whether money in another currency was captured and not refunded.
func (h AttemptHistory) foreign() bool { return h.Attempt.ForeignMoney }

// reported returns the open discrepancy about a different amount or currency; nil without such a discrepancy.
func (h AttemptHistory) reported() *Discrepancy {
	for i, d := range h.Discrepancies {
		other := d.Kind == payment.AmountMismatch || d.Kind == payment.CurrencyMismatch
		if other && d.Resolved == nil && d.Money != nil && d.OfPayment() {
			return &h.Discrepancies[i]
		}
	}
	return nil
}

// secondPayment reports whether an unresolved discrepancy says that the provider reported two payments under this attempt.
func (h AttemptHistory) secondPayment() bool {
	return slices.ContainsFunc(h.Discrepancies, func(d Discrepancy) bool { return d.Resolved == nil && d.SecondPayment() })
}

// returned describes the movements of captured money.
func (h AttemptHistory) returned() string {
	a := h.Attempt
	var parts []string
	if a.Failed() && h.held() {
		parts = append(parts, "The money arrived after all: the provider captured "+h.captured()+".")
	}
	if h.foreign() {
		parts = append(parts, amount.Of(a.Foreign())+" was captured in another currency than the payment's currency, and no refund of this money is known.")
	}
	if a.MayHold() {
		parts = append(parts, "The provider may still hold money for it.")
	}
	if reversed := a.Sums(payment.MovementCaptureReversal); reversed > 0 {
		parts = append(parts, "The provider reversed "+h.money(reversed)+".")
	}
	if a.AmountDisputed() > 0 {
		parts = append(parts, h.money(a.AmountDisputed())+" was charged back: the cardholder's bank took it back.")
	}
	return strings.Join(append(parts, h.refunds()...), " ")
}

// charged returns the answer to "was I charged twice?" if the customer was not.
func (h AttemptHistory) charged() string {
	times, undone := 0, false
	for _, a := range h.Order.Attempts {
		times += charges(a)
		undone = undone || a.LastMovement > 0 && (a.Succeeded() || a.Disputed > 0)
	}
	live := h.Order.Live()
	switch {
	case times == 1:
		return "The customer was charged once for this order."
	case undone:
		return "The customer was charged for this order, and the provider has reversed the charge."
	case live != nil && live.State != fsm.Authorized && live.State != fsm.AwaitingCustomer:
		return "No charge for this order is known so far."
	}
	return "The customer has not been charged for this order."
}

// charges is by how many payments at the provider an attempt has taken money that no chargeback took back.
func charges(a payment.Attempt) (times int) {
	for i := range a.Payments {
		if p := &a.Payments[i]; p.Captured-max(0, p.Disputed) > 0 {
			times++
		}
	}
	if times == 0 && (a.Captured-a.AmountDisputed() > 0 || a.ForeignMoney) {
		times = 1
	}
	return times
}

// next describes the next step and its time.
func (h AttemptHistory) next() string {
	if waiting := h.waiting(); waiting != nil {
		if waiting.Kind == payment.Disputed && len(h.openDisputes()) > 0 {
			return "The shop answers the dispute in the provider's dashboard."
		}
		return "This needs review: " + waiting.Says(h.circumstances(waiting.Discrepancy))
	}
	a := h.Attempt
	if !a.State.Final() {
		text := "The status is checked with the provider again " + h.when() + ", and then regularly until it is final."
		switch {
		case a.OpenCancel() != nil:
			text = "It is being cancelled. " + text
		case a.OpenTake() != nil && a.OpenTake().Kind == payment.OperationCapture:
			text = "The money is being captured. " + text
		case a.State == fsm.Authorized:
			text = "The shop captures the money or cancels the payment. " + text
		}
		return text
	}
	if a.MayHold() && h.nextAt() != nil {
		return "paylatch checks " + h.when() + " whether the provider still holds money, and releases it."
	}
	for _, r := range h.Refunds {
		if r.State == fsm.RefundPending && h.refundAt(r.ID) != nil {
			return "The status of the refund is checked with the provider again on " + clock(*h.refundAt(r.ID)) + "."
		}
	}
	return "paylatch does nothing more automatically."
}

// waiting returns the oldest open discrepancy.
func (h AttemptHistory) waiting() *Discrepancy {
	for i := range h.Discrepancies {
		if h.Discrepancies[i].Resolved == nil {
			return &h.Discrepancies[i]
		}
	}
	return nil
}

// circumstances returns the present state of the payment and the order that a discrepancy is about.
func (h AttemptHistory) circumstances(d payment.Discrepancy) payment.Circumstances {
	a := &h.Attempt
	c := payment.Circumstances{State: a.State, Held: a.Held(), Foreign: a.ForeignMoney, MayHold: a.Unreleased()}
	c.Order = h.Order.NeedOf(a)
	for _, r := range h.Refunds {
		if c.Refunding = c.Refunding || r.State == fsm.RefundPending; r.ID.String() == d.AboutID {
			c.Refund = r.State
		}
	}
	for _, one := range a.Disputes {
		if d.About == payment.AboutDispute && strings.HasSuffix(d.AboutID, " "+one.ProviderDisputeID) {
			c.Dispute = one.State
		}
	}
	return c
}

// nextAt returns when the first of the attempt's open operations is due, refunds aside;
// nil if none is open.
func (h AttemptHistory) nextAt() (at *time.Time) {
	for i := range h.Attempt.Operations {
		o := &h.Attempt.Operations[i]
		trails := h.Attempt.State.Final() && o.Kind != payment.OperationCancel
		if o.Open() && o.RefundID == (payment.RefundID{}) && !trails && (at == nil || o.NextAt.Before(*at)) {
			at = o.NextAt
		}
	}
	return at
}

func (h AttemptHistory) refundAt(id payment.RefundID) *time.Time {
	if o := h.Attempt.RefundOperation(id); o != nil {
		return o.NextAt
	}
	return nil
}

func (h AttemptHistory) when() string {
	switch at := h.nextAt(); {
	case at == nil:
		return "soon"
	case at.After(h.ReadAt):
		return "on " + clock(*at)
	}
	return "within seconds"
}

// gaveBack reports whether all of the attempt's money was refunded, charged back or reversed.
func (h AttemptHistory) gaveBack() bool {
	a := h.Attempt
	return a.Returned()
}

func (h AttemptHistory) mayPayAgain() string {
	live := h.Order.Live()
	switch paid := h.Order.Status() == payment.OrderPaid; {
	case paid && (live != nil && live.ID == h.Attempt.ID) && h.gaveBack():
		return "The order was paid, and the shop no longer has its money. The order takes no other payment: to pay again, the customer needs a new order."
	case paid && (live != nil && live.ID == h.Attempt.ID):
		return "The customer must not pay again: the order is paid."
	case paid && h.Order.Accepted != nil && *h.Order.Accepted == h.Attempt.ID:
		return "The customer must not pay again: the order is paid by this money."
	case paid:
		return "The customer must not pay again: the order is paid by another payment."
	case live == nil && h.Order.HoldsMoney():
		return `The customer must not pay again. What to say: "` + payment.LateMoneyText + `"`
	case h.Order.CancelRequestedAt != nil:
		return "The customer can't pay again: the order was cancelled."
	case live != nil && live.ID == h.Attempt.ID:
		return "The customer must not pay again until then; another payment would be refused."
	case live != nil:
		return "The customer must not pay again: another payment of this order is in progress."
	case h.Order.TakesPay() != nil:
		return "The customer can pay again once paylatch knows that the provider holds no money for this order."
	}
	return "The customer may pay again."
}
