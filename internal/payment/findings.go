package payment

import (
	"github.com/paylatch/paylatch/fsm"
)

// findings are what a person must look at after a report: what contradicts the attempt, and what
// happened to money that had been paid.
func findings(before, after Attempt, r Report, odd DiscrepancyKind, verdict fsm.Verdict) (found []Finding) {
	recorded := after.Movements[before.countOf(after):]
	switch {
	case odd != "":
		found = append(found, mismatchFinding(odd, before.complete(r.Movements)))
	case verdict == fsm.Conflict:
		late := mismatchFinding(LateSuccess, before.complete(r.Movements))
		late.AboutID = "" // more money of the attempt is the same finding
		found = append(found, late)
	case r.Says == fsm.NewsSucceeded && r.Cause.Kind != CausePerson:
		found = append(found, otherCapture(before, recorded)...)
	case r.Says == fsm.NewsDisputed:
		found = append(found, Finding{Kind: Disputed, AboutID: r.Cause.ID, Money: r.Disputed})
	}
	for _, m := range recorded {
		if odd == "" && (m.Source != MovementTotal || m.Money.Minor > 0) {
			found = append(found, movementFinding(m, after.sum(m.Kind, m.Money.Currency, nil))...)
		}
	}
	if after.Refunded > after.Sums(MovementCapture) && after.Refunded > before.Refunded {
		total := Money{after.Refunded, after.Money.Currency}
		found = append(found, Finding{Kind: RefundExceeds, Money: &total, AboutID: total.String()})
	}
	if odd == "" && verdict != fsm.Conflict && after.Failed() && before.Failed() && before.Held() == 0 && after.Held() > 0 && r.Cause.Kind != CausePerson {
		found = append(found, Finding{Kind: LateSuccess, AboutID: "returned " + r.Cause.ID})
	}
	return found
}

// countOf is how many of an attempt's movements were there before.
func (a Attempt) countOf(after Attempt) int {
	return len(after.Movements) - (after.LastMovement - a.LastMovement)
}

func mismatchFinding(kind DiscrepancyKind, movements []Told) Finding {
	f := Finding{Kind: kind}
	if len(movements) > 0 {
		money := movements[0].Money
		f.Money, f.AboutID = &money, money.String()
	}
	return f
}

// otherCapture is the finding of a capture of another amount than its operation's.
func otherCapture(before Attempt, recorded []Movement) []Finding {
	asked := before.Capturing()
	for _, m := range recorded {
		if m.Kind == MovementCapture && asked > 0 && m.Money.Minor != asked && !before.Succeeded() {
			money := m.Money
			return []Finding{{
				Kind: AmountMismatch, Money: &money, AboutID: money.String(),
				Text: "The provider captured another amount than it was asked to. Compare with its dashboard, and put right what the customer pays.",
			}}
		}
	}
	return nil
}

// movementFinding is the finding of money that was taken away after it had been paid: of a total,
// all of it so far.
func movementFinding(m Movement, total int64) []Finding {
	money := m.Money
	if m.Source == MovementTotal {
		money.Minor = total
	}
	f := Finding{Kind: PaymentReversed, Money: &money, AboutID: money.String()}
	if m.ProviderID != "" {
		f.AboutID = string(m.Kind) + " " + m.ProviderID
	}
	switch m.Kind {
	case MovementCaptureReversal:
		return []Finding{f}
	case MovementChargeback:
		f.Text = "A chargeback took back money that had been paid. If that is wrong, answer the provider before its deadline; find out whether the goods have left."
		return []Finding{f}
	case MovementAuthorization, MovementRelease, MovementCapture, MovementRefund, MovementRefundReversal, MovementChargebackReversal:
	}
	return nil
}
