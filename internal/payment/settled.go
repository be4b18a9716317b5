package payment

import (
	"slices"
	"strings"

	"github.com/paylatch/paylatch/fsm"
)

// ResolvedByPaylatch is the subject of a resolution that no person made.
const ResolvedByPaylatch = "paylatch"

// DiscrepancyEvidence shows whether anything is left to decide about a discrepancy. It must be read under the lock of the event and
// of the attempt of the discrepancy.
type DiscrepancyEvidence struct {
	Circumstances

	// Captured, Refunded and Disputed are the attempt's totals, each less its reversals, in its own Currency.
	Captured, Refunded, Disputed int64
	Currency                     Currency
	// Amount is the attempt's amount, in minor units of Currency.
	Amount int64
	// ForeignCaptured is set if money in another currency was ever captured.
	ForeignCaptured bool
	// Disputing is set while any dispute of the attempt is open.
	Disputing bool
	// Verdict is the verdict of the event that caused the discrepancy; empty if there is no event.
	Verdict fsm.Verdict
	// Known is set if an attempt has the payment name of an unsigned notice. AllRead is set if no event of the account's
	// hour is unreadable any more.
	Known, AllRead bool
	// InBooks is set if the provider's books had the capture after the discrepancy was opened.
	InBooks bool
}

// settlement returns the reason why a discrepancy of a kind is settled, as a text for people. The text is empty while a
// decision is left.
type settlement func(d Discrepancy, e DiscrepancyEvidence) string

// settlements are the rules, one for each kind. A kind without a rule always takes a person, since its comparison with a
// provider's dashboard can't be made here.
var settlements = map[DiscrepancyKind]settlement{ //nolint:gochecknoglobals // a table
	LateSuccess:       allRefunded,
	DoubleSuccess:     allRefunded,
	PaidAfterCancel:   allRefunded,
	AmountMismatch:    mismatchSettled,
	CurrencyMismatch:  foreignRefunded,
	RefundReversed:    allRefunded,
	RefundExceeds:     reviewCovered,
	PaymentReversed:   chargebackReturned,
	Disputed:          disputeOver,
	UnmatchedEvent:    eventMatched,
	UnreadableEvent:   eventsRead,
	UnknownAtProvider: inBooks,
	NeedsReview:       reviewed,

	EventChanged: nil,
	UnknownHere:  nil,
}

// reviews are the rules of kind needs_review, by subject. Other subjects take a person.
var reviews = map[string]settlement{ //nolint:gochecknoglobals // a table
	AboutUnknownOutcome:        outcomeKnown,
	AboutRefundUnknown:         refundOver,
	AboutRefundSlow:            refundOver,
	AboutHoldNotReleased:       released,
	AboutNotCancelled:          released,
	AboutCancelNotMade:         released,
	AboutCaptureNotMade:        captured,
	AboutEventNotApplied:       eventApplied,
	AboutUnreadableEvent:       eventApplied,
	AboutBooks:                 inBooks,
	AboutReviewDeclined:        returned,
	AboutSecondPayment:         nil,
	AboutSharedReference:       nil,
	AboutUnsignedNotices:       nil,
	AboutContradiction:         nil,
	AboutRefund:                nil,
	AboutDispute:               nil,
	AboutRefundUnattributed:    nil,
	AboutRefundNotCovered:      nil,
	AboutPaidAfterFailedRefund: nil,
}

// Settled reports whether nothing is left to decide about an open discrepancy, and the reason. In doubt it returns
// false. A discrepancy that waits for a second person is left to that person.
func (d Discrepancy) Settled(e DiscrepancyEvidence) (by string, ok bool) {
	if rule := settlements[d.Kind]; rule != nil && d.Resolved == nil && d.Proposed == nil && !d.ofEntry() {
		by = rule(d, e)
	}
	return by, by != ""
}

// ofEntry reports whether it is about an entry of the provider's books. The attempt's totals do not show whether the entry still differs.
func (d Discrepancy) ofEntry() bool { return d.About == AboutBooks && d.AboutID != AboutLookup }

func reviewed(d Discrepancy, e DiscrepancyEvidence) string {
	if rule := reviews[d.About]; rule != nil {
		return rule(d, e)
	}
	return ""
}

// rests reports whether nothing moves, and may still be held, of a final attempt.
func (e DiscrepancyEvidence) rests() bool {
	return e.State.Final() && e.Held == 0 && !e.MayHold && !e.Foreign && !e.Refunding && !e.Disputing && e.Disputed <= 0
}

// refunded reports whether all captured money is refunded. Money that the provider took back by itself does not count.
func (e DiscrepancyEvidence) refunded() bool {
	return e.rests() && e.Captured > 0 && e.Refunded >= e.Captured
}

// returned settles a case about money that must not stay.
func returned(_ Discrepancy, e DiscrepancyEvidence) string {
	if !e.rests() {
		return ""
	}
	return "The payment no longer holds money."
}

func allRefunded(_ Discrepancy, e DiscrepancyEvidence) string {
	if !e.refunded() {
		return ""
	}
	return "All captured money has been refunded: " + Money{Minor: e.Captured, Currency: e.Currency}.String() + "."
}

// mismatchSettled settles a partial capture that other captures have completed since. Otherwise it is allRefunded, if
// the amount that the provider reported is recorded, too.
func mismatchSettled(d Discrepancy, e DiscrepancyEvidence) string {
	switch {
	case !d.OfPayment(), d.Money == nil, d.Money.Currency != e.Currency, d.Money.Minor > e.Captured:
		return ""
	case d.Money.Minor < e.Amount && e.State == fsm.Succeeded && e.Captured == e.Amount:
		return "The captured parts add up to the amount: " + Money{Minor: e.Captured, Currency: e.Currency}.String() + "."
	}
	return allRefunded(d, e)
}

func foreignRefunded(d Discrepancy, e DiscrepancyEvidence) string {
	if !d.OfPayment() || !e.ForeignCaptured || !e.State.Final() || e.Foreign || e.MayHold || e.Refunding || e.State == fsm.Failed && e.Held > 0 {
		return ""
	}
	return "All money captured in another currency has been refunded."
}

func reviewCovered(_ Discrepancy, e DiscrepancyEvidence) string {
	if e.Captured <= 0 || e.Refunded > e.Captured || e.Refunding {
		return ""
	}
	return "The refunds no longer exceed the captures: the provider has reported the missing captures since then."
}

// chargebackReturned is of a chargeback alone: of money that was reversed otherwise nothing shows that it came back.
func chargebackReturned(d Discrepancy, e DiscrepancyEvidence) string {
	if !strings.HasPrefix(d.AboutID, string(MovementChargeback)+" ") || e.Disputed > 0 || e.Disputing || e.State != fsm.Succeeded || e.Held == 0 {
		return ""
	}
	return "The provider has returned the money of the chargeback."
}

// disputeOver settles a dispute with a name. The loss of a lost dispute has a discrepancy of its own.
func disputeOver(_ Discrepancy, e DiscrepancyEvidence) string {
	switch {
	case e.Dispute == fsm.DisputeWon && !e.Disputing && e.Disputed <= 0:
		return "The dispute is over: it was won."
	case (e.Dispute == fsm.DisputeLost || e.Dispute == fsm.DisputeAccepted) && e.Disputed > 0:
		return "The dispute is over, and its chargeback is recorded. The case of the chargeback covers it."
	}
	return ""
}

// eventMatched is of an event with its id, or of unsigned notices of one payment.
func eventMatched(d Discrepancy, e DiscrepancyEvidence) string {
	if d.Event.ID == "" && e.Known {
		return "paylatch has the payment now."
	}
	return eventApplied(d, e)
}

func eventApplied(d Discrepancy, e DiscrepancyEvidence) string {
	if d.Event.ID == "" || !slices.Contains([]fsm.Verdict{fsm.Applied, fsm.Repeat, fsm.Stale}, e.Verdict) {
		return ""
	}
	return "The webhook has been applied since then."
}

func eventsRead(_ Discrepancy, e DiscrepancyEvidence) string {
	if !e.AllRead {
		return ""
	}
	return "All the events have been read since then."
}

func inBooks(_ Discrepancy, e DiscrepancyEvidence) string {
	if !e.InBooks {
		return ""
	}
	return "The provider's books contain the payment now."
}

func outcomeKnown(_ Discrepancy, e DiscrepancyEvidence) string {
	switch {
	case e.State == fsm.Succeeded && e.Captured > 0:
		return "The outcome is known: the payment succeeded."
	case e.State == fsm.Failed && e.rests():
		return "The outcome is known: the payment failed, and no money is held for it."
	}
	return ""
}

func refundOver(_ Discrepancy, e DiscrepancyEvidence) string {
	switch e.Refund {
	case fsm.RefundSucceeded:
		return "The refund has succeeded."
	case fsm.RefundFailed:
		return "The refund has failed; the same amount can be refunded again."
	case fsm.RefundPending:
	}
	return ""
}

func released(_ Discrepancy, e DiscrepancyEvidence) string {
	if e.State != fsm.Failed || !e.rests() {
		return ""
	}
	return "The payment failed, and no money is held for it."
}

// captured settles a capture that was not made once all of the amount is captured. A payment may have succeeded by an
// earlier part of it.
func captured(d Discrepancy, e DiscrepancyEvidence) string {
	if e.State == fsm.Succeeded && e.Captured >= e.Amount {
		return "The money has been captured."
	}
	return released(d, e)
}
