package payment

import (
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// AdvanceRefund applies a report to a refund of an attempt that the transaction holds locked. It is
// the only caller of fsm.NextRefund. The movements of the report must be recorded.
func AdvanceRefund(r *Refund, t RefundReport, cause Cause, undone bool, now time.Time) (fsm.Verdict, []Finding) {
	before := *r
	step, err := fsm.NextRefund(r.State, t.Event)
	if err != nil {
		return Ignored, nil
	}
	if r.ProviderRefundID == "" {
		r.ProviderRefundID = t.ProviderID
	}
	r.State = step.To
	verdict := step.Verdict
	var found []Finding
	money := r.Money
	id := r.ID.String()
	switch {
	case verdict == fsm.Conflict:
		found = append(found, Finding{Kind: NeedsReview, About: AboutPaidAfterFailedRefund, AboutID: id, Money: &money, Text: paidAfterFailed})
	case t.Event == fsm.EventFailed && undone:
		found = append(found, Finding{Kind: RefundReversed, AboutID: id, Money: &money})
	case t.Event == fsm.EventFailed && !step.Moved():
		verdict = fsm.Repeat
	case step.Moved() && r.State == fsm.RefundFailed:
		r.Failure = ofRefund(t.Failure)
	case t.Event == fsm.EventSucceeded && t.Money != nil && *t.Money != r.Money:
		verdict = fsm.Conflict
		found = append(found, Finding{Kind: AmountMismatch, AboutID: id, Money: t.Money, Text: paidOtherAmount})
	}
	if step.Moved() {
		r.FinalizedAt = &now
	}
	if r.State != before.State || r.ProviderRefundID != before.ProviderRefundID {
		r.Version++
		r.UpdatedAt = now
		if verdict == fsm.Repeat {
			verdict = fsm.Applied
		}
	}
	return verdict, found
}

const (
	paidAfterFailed = "The provider paid a refund that paylatch had recorded as failed, so the customer has the money. Don't refund it " +
		"again. If you have already refunded it again, get one of the two refunds back."
	paidOtherAmount = "The refunded amount differs from the requested amount. Compare the amounts in the provider's dashboard, and correct the difference with the customer."
)

// SupersedeRefund takes the name, and with it the money, from a refund that was wrongly attributed
// to the dashboard. A pending one fails.
func SupersedeRefund(r *Refund, cause Cause, now time.Time) {
	if !r.State.Final() {
		AdvanceRefund(r, RefundReport{Event: fsm.EventFailed, Failure: NewRefundFailure("not_started")}, cause, false, now)
	}
	r.ProviderRefundID = ""
	r.Version++
	r.UpdatedAt = now
}
