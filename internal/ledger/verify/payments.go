package verify

import (
	"fmt"
	"slices"

	"github.com/paylatch/paylatch/internal/payment"
)

// amounts are sums of movements.
type amounts struct{ authorized, captured, refunded, disputed int64 }

func (m amounts) String() string {
	return fmt.Sprintf("authorized %d captured %d refunded %d disputed %d", m.authorized, m.captured, m.refunded, m.disputed)
}

// and returns the sums with the amounts of a payment added.
func (m amounts) and(p *payment.Payment) amounts {
	return amounts{m.authorized + p.Authorized, m.captured + p.Captured, m.refunded + p.Refunded, m.disputed + p.Disputed}
}

// payments checks that each payment has the money of its movements, that their sums and states are the attempt's, and that a
// discrepancy exists for money under two payments.
func (e *examination) payments() {
	if len(e.Attempt.Payments) == 0 {
		return
	}
	e.amountsByPayment()
	e.standsByPayments()
	e.paidTwice()
}

// amountsByPayment compares the amounts of each payment with its movements, and their sums with the attempt's.
func (e *examination) amountsByPayment() {
	a := &e.Attempt
	moved := payment.Attempt{Money: a.Money}
	for i := range a.Payments {
		moved.Payments = append(moved.Payments, payment.Payment{ID: a.Payments[i].ID})
	}
	for _, m := range a.Movements {
		if a.PaymentOf(m) == nil {
			e.differs("movement_has_payment", "movement %d is of payment %q, which the attempt does not have", m.Number, m.Payment)
		}
		moved.Count(m)
	}
	var all amounts
	for i := range a.Payments {
		want, got := amounts{}.and(&moved.Payments[i]), amounts{}.and(&a.Payments[i])
		all = all.and(&a.Payments[i])
		if got != want {
			e.differs("payment_has_its_movements", "the movements of payment %q make %s; it has %s", a.Payments[i].ID, want, got)
		}
	}
	if of := (amounts{a.Authorized, a.Captured, a.Refunded, a.Disputed}); all != of {
		e.differs("payments_make_the_attempt", "the payments make %s; the attempt has %s", all, of)
	}
}

// standsByPayments compares the state of a pending attempt with the state that follows from its payments. It skips an attempt
// that is to be cancelled or waits for a person's decision.
func (e *examination) standsByPayments() {
	a := &e.Attempt
	if a.State.Final() || a.CancelWanted() || e.opened(payment.AmountMismatch, payment.CurrencyMismatch) {
		return
	}
	if want := a.Stands(a.UpdatedAt); want != a.State {
		e.differs("attempt_stands_as_its_payments", "the payments make it %s; the attempt is %s", want, a.State)
	}
}

// paidTwice checks that a discrepancy was opened for money that two payments hold at once, unless a person has recorded a
// movement of the attempt.
func (e *examination) paidTwice() {
	a := &e.Attempt
	byPerson := slices.ContainsFunc(a.Movements, func(m payment.Movement) bool { return m.Cause.Kind == payment.CausePerson })
	if len(a.Holders()) < 2 || a.Captured <= a.Money.Minor || byPerson {
		return
	}
	if !e.openedAbout(payment.AboutSecondPayment) && !e.opened(payment.PaymentReversed, payment.RefundReversed) {
		e.differs("second_payment_is_seen", "%d payments together hold %d of %s, and no discrepancy reports it", len(a.Holders()), a.Captured, a.Money)
	}
}
