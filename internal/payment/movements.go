package payment

import (
	"slices"

	"github.com/paylatch/paylatch/fsm"
)

// RefundLeft is the attempt's refundable amount less its pending refunds, in minor units.
func RefundLeft(a Attempt, refunds []Refund) int64 {
	left := a.Refundable()
	for _, r := range refunds {
		if r.State == fsm.RefundPending {
			left -= r.Money.Minor
		}
	}
	return max(0, left)
}

// RefundLeftOf is Left of one of the attempt's payments. A pending refund that names no payment counts for the attempt alone.
func RefundLeftOf(a Attempt, p Payment, refunds []Refund) int64 {
	left := p.Held()
	for _, r := range refunds {
		if r.State == fsm.RefundPending && r.ProviderPaymentID == p.ID {
			left -= r.Money.Minor
		}
	}
	return max(0, min(left, RefundLeft(a, refunds)))
}

// RefundLeftOfCapture is RefundLeft of one of several captures. A refund that names no capture counts for the payment alone.
func RefundLeftOfCapture(a Attempt, m Movement, refunds []Refund) int64 {
	left, p := m.Money.Minor, a.ofKey(m.Payment)
	for _, r := range refunds {
		if r.State != fsm.RefundFailed && r.ProviderPaymentID == m.ProviderID {
			left -= r.Money.Minor
		}
	}
	if p != nil {
		left = min(left, RefundLeftOf(a, *p, refunds))
	}
	return max(0, min(left, RefundLeft(a, refunds)))
}

// RefundedPayment is the payment of a refund: the named payment, or that of the named capture, else the first payment that holds the amount, else the acting
// payment; nil if the attempt has no payment.
func RefundedPayment(a *Attempt, named string, minor int64) *Payment {
	if p := a.ofName(named); p != nil {
		return p
	}
	for i := range a.Payments {
		if p := &a.Payments[i]; p.Held() > 0 && p.Held() >= minor {
			return p
		}
	}
	return a.Acting()
}

// ofName is the payment that a refund names, by its own id or by that of one of its captures; nil without such a payment.
func (a *Attempt) ofName(id string) *Payment {
	if p := a.Payment(id); id != "" && p != nil {
		return p
	}
	if m, ok := a.CaptureNamed(id); ok {
		return a.ofKey(m.Payment)
	}
	return nil
}

// covered reports whether the attempt's refundable money covers a refund, beside the other refunds that the provider may
// have by now. A chargeback or a dashboard refund may have taken the money since the refund was requested.
func covered(a *Attempt, refunds []Refund, r *Refund) bool {
	left, of := a.Refundable(), a.ofName(r.ProviderPaymentID)
	leftOf := left
	if of != nil {
		leftOf = min(left, of.Held())
	}
	for _, other := range refunds {
		op := a.RefundOperation(other.ID)
		there := other.ProviderRefundID != "" || op != nil && op.Sends > 0
		if other.ID == r.ID || other.State != fsm.RefundPending || !there {
			continue
		}
		left -= other.Money.Minor
		if by := a.ofName(other.ProviderPaymentID); by == nil || by == of {
			leftOf -= other.Money.Minor
		}
	}
	return r.Money.Minor <= min(left, leftOf)
}

// FindRefund is the refund that a report names; nil if there is no match.
func FindRefund(refunds []*Refund, t RefundReport) *Refund {
	i := slices.IndexFunc(refunds, func(r *Refund) bool { return t.Reference != "" && t.Reference == r.ID.String() })
	if i < 0 {
		i = slices.IndexFunc(refunds, func(r *Refund) bool { return t.ProviderID != "" && t.ProviderID == r.ProviderRefundID })
	}
	if i < 0 {
		return nil
	}
	return refunds[i]
}

// RefundMovements returns the money movements that a report of a refund implies. The refund is nil if the report names no recorded
// refund.
func RefundMovements(t RefundReport, a *Attempt, r *Refund) []MovementReport {
	id, money := t.ProviderID, Money{}
	if t.Money != nil {
		money = *t.Money
	}
	if r != nil {
		if t.Money == nil {
			money = r.Money
		}
		named := *r
		if named.ProviderRefundID == "" {
			named.ProviderRefundID = t.ProviderID
		}
		id = named.movementID(a)
	}
	_, paid := a.Movement(MovementRefund, id)
	counted := r != nil && (r.ProviderRefundID != "" || r.afterTotals(a))
	switch {
	case id == "":
	case t.Event == fsm.EventSucceeded && money.Minor > 0:
		return []MovementReport{{Kind: MovementRefund, ID: id, Money: money, Counted: counted}}
	case t.Event == fsm.EventFailed && paid && (r == nil || r.State != fsm.RefundFailed):
		return []MovementReport{{Kind: MovementRefundReversal, ID: id}}
	case t.ProviderID != "" && money.Minor > 0 && !paid && !counted:
		return []MovementReport{{Kind: MovementRefund, Money: money, Reserve: true}}
	}
	return nil
}

// afterTotals reports whether the refund was requested after all totals: no total can contain it.
func (r Refund) afterTotals(a *Attempt) bool {
	return r.Origin != RefundByProvider && !slices.ContainsFunc(a.Movements, func(m Movement) bool {
		return m.Kind == MovementRefund && m.Source == MovementTotal && m.Money.Minor > 0 && !m.RecordedAt.Before(r.CreatedAt)
	})
}

// movementID is the id of the refund's movement in the attempt, recorded or to be recorded.
func (r Refund) movementID(a *Attempt) string {
	if _, ours := a.Movement(MovementRefund, r.ID.String()); ours || r.ProviderRefundID == "" {
		return r.ID.String()
	}
	return r.ProviderRefundID
}

// AllRefunded returns the reports that all money held in a currency was refunded: for each payment that holds some, its total of
// refunds then. They bear the id of a person's discrepancy.
func (a *Attempt) AllRefunded(c Currency, id string) (all []Report) {
	one := a.in(c)
	if len(one.Payments) == 0 {
		one.Payments = []Payment{{Captured: one.Captured, Refunded: one.Refunded, Disputed: one.Disputed}}
	}
	for i := range one.Payments {
		p, held := &one.Payments[i], one.Payments[i].Held()
		if c != a.Money.Currency {
			held += p.OnHold()
		}
		if held == 0 {
			continue
		}
		key := one.PaymentKey(p)
		held += a.sum(MovementRefund, c, func(m Movement) bool { return m.Payment == key })
		m := MovementReport{Kind: MovementRefund, ID: id, Money: Money{held, c}, Person: true}
		if len(all) > 0 {
			m.ID += " " + p.ID // an id is of one movement
		}
		all = append(all, Report{Payment: p.ID, Event: fsm.EventMoney, Movements: []MovementReport{m}})
	}
	return all
}

// UnclaimedRefunds returns an attempt's recorded refund movements that no refund claims by its id.
func UnclaimedRefunds(a *Attempt, refunds []*Refund) (unclaimed []Movement) {
	for _, m := range a.Movements {
		if m.Kind != MovementRefund || m.Source != MovementNamed || m.Money.Currency != a.Money.Currency {
			continue
		}
		claimed := slices.ContainsFunc(refunds, func(r *Refund) bool {
			return m.ProviderID == r.ProviderRefundID || m.ProviderID == r.ID.String()
		})
		if !claimed {
			unclaimed = append(unclaimed, m)
		}
	}
	return unclaimed
}

// RefundsNamedApart is how much of a total of refunds may be of named ones that are not recorded, since
// they are pending or have failed.
func RefundsNamedApart(a *Attempt, refunds []*Refund) (apart int64) {
	for _, r := range refunds {
		if _, paid := a.Movement(MovementRefund, r.movementID(a)); r.ProviderRefundID != "" && !paid {
			apart += r.Money.Minor
		}
	}
	return apart
}

// RefundBeforeCapture reports whether a report is of a refund, and nothing of the attempt was captured
// yet, as far as was reported.
func RefundBeforeCapture(r Report, a *Attempt) bool {
	t := r.Refund
	if t == nil || t.Event == fsm.EventFailed {
		return false
	}
	currency := a.Money.Currency
	if t.Money != nil {
		currency = t.Money.Currency
	}
	if slices.ContainsFunc(a.Movements, func(m Movement) bool {
		return m.Kind == MovementCapture && (m.Money.Currency == currency || m.Money.Currency == a.Money.Currency)
	}) {
		return false
	}
	return !t.Total || t.Money == nil || t.Money.Minor > a.Refunded
}
