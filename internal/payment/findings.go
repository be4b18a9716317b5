package payment

import (
	"slices"
	"strconv"

	"github.com/paylatch/paylatch/fsm"
)

// findings returns the discrepancies that a report opens: contradictions to the attempt, and changes of money that had been
// paid.
func findings(before, after Attempt, r Report, p *Payment, odd DiscrepancyKind, verdict fsm.Verdict) (found []Finding) {
	recorded := after.Movements[before.countOf(after):]
	switch {
	case odd != "":
		found = append(found, oddFindings(before, recorded, mismatchFinding(odd, after.complete(r.Movements, p)))...)
	case verdict == fsm.Conflict:
		if m := newlyCaptured(recorded); m != nil {
			late := mismatchFinding(LateSuccess, after.complete(r.Movements, p))
			late.AboutID = m.name()
			found = append(found, late)
		}
	case r.Event == fsm.EventSucceeded && r.Cause.Kind != CausePerson:
		found = append(found, otherCapture(before, recorded)...)
	case r.Event == fsm.EventDisputed:
		found = append(found, Finding{Kind: Disputed, AboutID: r.Cause.ID, Money: r.Disputed})
	}
	if r.Cause.Kind != CausePerson {
		found = append(found, secondPayment(before, after, p)...)
	}
	for _, m := range recorded {
		if (odd == "" || m.Money.Currency == after.Money.Currency) && (m.Source != MovementTotal || m.Money.Minor > 0) && !onlyNamed(m, recorded) {
			found = append(found, movementFinding(m, after.sum(m.Kind, m.Money.Currency, nil))...)
		}
	}
	found = append(found, declinedReview(before, after)...)
	if after.Refunded > after.Sums(MovementCapture) && after.Refunded > before.Refunded {
		total := Money{after.Refunded, after.Money.Currency}
		found = append(found, Finding{Kind: RefundExceeds, Money: &total, AboutID: total.String()})
	}
	if odd == "" && verdict != fsm.Conflict && after.Failed() && before.Failed() && before.Held() == 0 && after.Held() > 0 && r.Cause.Kind != CausePerson {
		found = append(found, Finding{Kind: LateSuccess, AboutID: "returned by " + recorded[len(recorded)-1].name()})
	}
	return found
}

// oddFindings returns the finding for money of an unexpected amount or currency. On a failed attempt, and after an
// earlier capture, the finding is per movement. Money that a failed attempt has recorded already is no new finding.
func oddFindings(before Attempt, recorded []Movement, f Finding) []Finding {
	m := newlyCaptured(recorded)
	switch {
	case m != nil && (before.Failed() || before.sum(MovementCapture, m.Money.Currency, nil) > 0):
		f.AboutID += " " + m.name()
	case m == nil && before.Failed() && f.Money != nil && slices.ContainsFunc(before.Movements, func(m Movement) bool {
		return m.Kind == MovementCapture && m.Money == *f.Money
	}):
		return nil
	}
	return []Finding{f}
}

// onlyNamed reports whether a movement gives its id to money that was recorded as part of a total before. The same
// report then takes its amount from that total. The earlier total has opened the finding already.
func onlyNamed(m Movement, recorded []Movement) bool {
	var taken int64
	for _, of := range recorded {
		if of.Kind == m.Kind && of.Source == MovementTotal && of.Money.Currency == m.Money.Currency {
			taken -= of.Money.Minor
		}
	}
	return m.Source != MovementTotal && taken > 0 && taken >= m.Money.Minor
}

// newlyCaptured is the last recorded movement that captured money. It is nil where the movements only name money
// captured before. Each movement of money is a finding of its own, so the same money reported a second time is a second
// finding.
func newlyCaptured(recorded []Movement) (last *Movement) {
	more := map[Currency]int64{}
	for i := range recorded {
		if m := &recorded[i]; m.Kind == MovementCapture {
			if more[m.Money.Currency] += m.Money.Minor; m.Money.Minor > 0 {
				last = m
			}
		}
	}
	if last == nil || more[last.Money.Currency] <= 0 {
		return nil
	}
	return last
}

// name is the movement's name within its attempt, for people and for the ids of findings.
func (m Movement) name() string { return "movement " + strconv.Itoa(m.Number) }

// countOf is how many of an attempt's movements were there before.
func (a Attempt) countOf(after Attempt) int {
	return len(after.Movements) - (after.LastMovement - a.LastMovement)
}

func mismatchFinding(kind DiscrepancyKind, movements []MovementReport) Finding {
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
				Text: "The captured amount differs from the requested amount. Compare the amounts in the provider's dashboard, and correct the difference with the customer.",
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
		f.Text = "A chargeback took back captured money. If the chargeback is wrong, respond to the provider before its deadline. Find out whether the goods have left."
		return []Finding{f}
	case MovementAuthorization, MovementRelease, MovementCapture, MovementRefund, MovementRefundReversal, MovementChargebackReversal:
	}
	return nil
}

// secondPayment is the finding of money that is captured under two payments, and is more than the order needs.
func secondPayment(before, after Attempt, p *Payment) []Finding {
	if p == nil || after.Captured <= before.Captured || p.Captured <= 0 || after.Captured <= after.Money.Minor {
		return nil
	}
	other := after.capturedBeside(p.ID)
	if other == nil {
		return nil
	}
	text := "The customer was charged twice for this order, by the payments " + other.ID + " and " + p.ID + ". "
	if other.Held() > 0 {
		text += "Refund one of the two, here or in the provider's dashboard."
	} else {
		text += "The first payment was refunded. Refund the second one too, unless you deliver the order."
	}
	return []Finding{{
		Kind: NeedsReview, About: AboutSecondPayment, AboutID: p.ID, Money: &Money{p.Captured, after.Money.Currency}, Text: text,
	}}
}

// capturedBeside is the payment that captured money beside another one: the first that holds it still, else the first that
// did; nil if there is none.
func (a *Attempt) capturedBeside(id string) (found *Payment) {
	for i := range a.Payments {
		switch p := &a.Payments[i]; {
		case p.ID == id, p.Captured <= 0:
		case p.Held() > 0:
			return p
		case found == nil:
			found = p
		}
	}
	return found
}

// Spare is the payment with captured money, captured after the others, that the order can do without: the other payments have
// captured what pays it, refunded since or not. An order needs no money of a failed attempt. It is nil if there is none.
func (a *Attempt) Spare() (spare *Payment) {
	last := -1
	for i := range a.Payments {
		p := &a.Payments[i]
		at := slices.IndexFunc(a.Movements, func(m Movement) bool { return m.Kind == MovementCapture && m.Payment == a.PaymentKey(p) })
		if at >= last && p.Held() > 0 && (a.Failed() || a.covers(a.capturedBesides(p))) {
			spare, last = p, at
		}
	}
	return spare
}

// tooMany is the finding of a payment beyond MaxPayments.
func tooMany(r Report) Finding {
	return Finding{
		Kind: NeedsReview, About: AboutTooManyPayments, AboutID: r.Payment,
		Text: "The provider reports more than 50 payments of this attempt. The payment " + r.Payment + " is not recorded: see in the provider's dashboard whether it took money.",
	}
}
