package payment

import (
	"slices"
	"time"
)

// MovementKind is the kind of a money movement.
type MovementKind string

// The kinds of money movements.
const (
	MovementAuthorization      MovementKind = "authorization"
	MovementRelease            MovementKind = "release"
	MovementCapture            MovementKind = "capture"
	MovementCaptureReversal    MovementKind = "capture_reversal"
	MovementRefund             MovementKind = "refund"
	MovementRefundReversal     MovementKind = "refund_reversal"
	MovementChargeback         MovementKind = "chargeback"
	MovementChargebackReversal MovementKind = "chargeback_reversal"
)

// MovementKinds returns the kinds of money movements.
func MovementKinds() []MovementKind {
	return []MovementKind{
		MovementAuthorization, MovementRelease, MovementCapture, MovementCaptureReversal, MovementRefund, MovementRefundReversal, MovementChargeback,
		MovementChargebackReversal,
	}
}

// MovementSource is where a movement comes from.
type MovementSource string

const (
	// MovementNamed movements have an id of the provider's own.
	MovementNamed MovementSource = "named"
	// MovementTotal movements are the part of a provider's total beyond the named movements of its kind. Their amount
	// may be negative: a named movement was part of the total.
	MovementTotal MovementSource = "total"
	// MovementPerson movements were recorded when a person resolved a discrepancy.
	MovementPerson MovementSource = "person"
)

// Movement is one thing that happened to the money of an attempt: a row that is only ever added.
// The amounts of the attempt are sums of its movements.
type Movement struct {
	// Number counts the movements of one attempt, from 1, without gaps.
	Number int
	Kind   MovementKind
	Source MovementSource
	// Payment is the provider's id of the payment, empty where it is the attempt's only one.
	Payment string
	// ProviderID is the provider's id of a named movement, or the discrepancy of a movement that a person recorded, else
	// empty. A (kind, id) is unique within an account.
	ProviderID string
	// Dispute is the provider's id of the dispute that took or returned the money, else empty; see RoundsOf.
	Dispute string
	Money   Money
	Cause   Cause
	// At is the provider's time of the movement, zero if not stated.
	At         time.Time
	RecordedAt time.Time
}

// MovementReport is a money movement as a provider reports it.
type MovementReport struct {
	Kind MovementKind
	// ID is the provider's id of the movement. Without one Money is the total so far.
	ID string
	// Dispute is the provider's id of the dispute that took or returned the money. ID is then the id of the entry, empty
	// where the provider names no entry. Whole is set where Money is the amount of the dispute.
	Dispute string
	Whole   bool
	// Money has no currency where the provider does not state the amount.
	Money Money
	// At is the provider's clock, zero if it gave no time.
	At time.Time
	// Apart is the part of a total that may belong to named movements that are not recorded: refunds that are pending or
	// have failed. In minor units.
	Apart int64
	// Counted is set on a named movement if its amount was taken from the totals when it was first named. Reserve is set
	// on a movement that has not happened (yet). It is only taken from the totals.
	Counted, Reserve bool
	// Person is set on a total that a person recorded; ID is then the discrepancy.
	Person bool
	// Part is set on a capture that a message reports alone: Money is that one's amount, and ID its name. It is a part of
	// the total where a hold is captured in several parts, else the total; see Attempt.Fit.
	Part bool
	// Reference is our name of a capture, the key of its operation, as the provider carries it; empty if not stated.
	Reference string
}

// Pays reports whether it authorizes or captures money.
func (t MovementReport) Pays() bool {
	return t.Kind == MovementAuthorization || t.Kind == MovementCapture
}

// MovementName identifies a named movement.
type MovementName struct {
	Account string
	Kind    MovementKind
	ID      string
}

// sum adds the movements of a kind in a currency, of one payment or of all payments.
func (a *Attempt) sum(kind MovementKind, c Currency, of func(Movement) bool) (total int64) {
	for _, m := range a.Movements {
		if m.Kind == kind && m.Money.Currency == c && (of == nil || of(m)) {
			total += m.Money.Minor
		}
	}
	return total
}

// Movement is the attempt's recorded movement of a kind and id.
func (a *Attempt) Movement(kind MovementKind, id string) (Movement, bool) {
	i := slices.IndexFunc(a.Movements, func(m Movement) bool {
		return m.Kind == kind && m.Source != MovementTotal && m.ProviderID == id
	})
	if i < 0 {
		return Movement{}, false
	}
	return a.Movements[i], true
}

// record appends the part of a reported movement that is not recorded yet.
//
// Let N be the sum of the named movements of a kind of one payment, and U the sum of all other movements of that kind. A
// total T makes U the larger of U and T - N. A new named movement takes its amount from U, as far as U suffices: the
// amount was in the total, or will be in the next total. So totals and names lead to the same sum in any order and
// number.
func (a *Attempt) record(t MovementReport, payment string, cause Cause, now time.Time) {
	ofPayment := func(m Movement) bool { return m.Payment == payment }
	totals := a.sum(t.Kind, t.Money.Currency, func(m Movement) bool { return ofPayment(m) && m.Source != MovementNamed && m.Dispute == "" })
	if _, known := a.Movement(t.Kind, t.ID); known && t.ID != "" {
		return
	}
	if t.Dispute != "" && t.ID == "" {
		a.appendMovement(t, MovementTotal, payment, t.Money.Minor, cause, now) // an entry was less than its round
		return
	}
	if t.Reserve || t.ID != "" && !t.Person {
		open := max(0, totals-a.importedBefore(t, ofPayment))
		if !t.Reserve {
			a.appendMovement(t, MovementNamed, payment, t.Money.Minor, cause, now)
		}
		if t.Dispute = ""; !t.Counted {
			a.appendMovement(t, MovementTotal, payment, max(0, open-t.Money.Minor)-open, cause, now)
		}
		return
	}
	named := a.sum(t.Kind, t.Money.Currency, ofPayment) - totals + t.Apart
	total := t.Money.Minor + a.undoneBefore(t, cause, ofPayment)
	source := MovementTotal
	if t.Person {
		source = MovementPerson
	}
	a.appendMovement(t, source, payment, max(totals, total-named)-totals, cause, now)
}

// undone maps each kind that providers report totals of to the kind that takes it back.
var undone = map[MovementKind]MovementKind{ //nolint:gochecknoglobals // a table
	MovementAuthorization: MovementRelease,
	MovementCapture:       MovementCaptureReversal,
}

// undoneBefore is the reversed amount that a total does not contain. By the provider's clock, a debit that is collected
// again after its reversal adds to the debit before. A release from a lookup or a response has only our time: a hold
// with a later time is a new hold.
func (a *Attempt) undoneBefore(t MovementReport, cause Cause, of func(Movement) bool) (sum int64) {
	if t.Kind == MovementAuthorization && cause.Kind == CauseCheck {
		return a.sum(MovementRelease, t.Money.Currency, of) // the amount on hold now was not released
	}
	if t.At.IsZero() {
		return 0
	}
	return a.sum(undone[t.Kind], t.Money.Currency, func(m Movement) bool {
		if !of(m) {
			return false
		}
		at := m.At
		if at.IsZero() && m.Kind == MovementRelease {
			at = m.RecordedAt
		}
		return !at.IsZero() && at.Before(t.At)
	})
}

// appendMovement adds a movement and counts it. An amount of 0 moves nothing.
func (a *Attempt) appendMovement(t MovementReport, source MovementSource, payment string, amount int64, cause Cause, now time.Time) {
	if amount == 0 || amount < 0 && source != MovementTotal {
		return
	}
	m := Movement{
		Number: a.LastMovement + 1, Kind: t.Kind, Source: source, Payment: payment, Dispute: t.Dispute,
		Money: Money{amount, t.Money.Currency}, Cause: cause, At: t.At, RecordedAt: now,
	}
	if source != MovementTotal {
		m.ProviderID = t.ID
	}
	a.Movements = append(slices.Clip(a.Movements), m)
	a.LastMovement = m.Number
	a.Count(m)
}

// Count adds a movement to the sums. A movement in another currency is in no sum.
func (a *Attempt) Count(m Movement) {
	if m.Money.Currency != a.Money.Currency {
		a.ForeignMoney = len(a.foreign()) > 0
		return
	}
	if p := a.ofKey(m.Payment); p != nil {
		p.count(m)
	}
	switch m.Kind {
	case MovementAuthorization:
		a.Authorized += m.Money.Minor
	case MovementRelease:
		a.Authorized -= m.Money.Minor
	case MovementCapture:
		a.Captured += m.Money.Minor
	case MovementCaptureReversal:
		a.Captured -= m.Money.Minor
	case MovementRefund:
		a.Refunded += m.Money.Minor
	case MovementRefundReversal:
		a.Refunded -= m.Money.Minor
	case MovementChargeback:
		a.Disputed += m.Money.Minor
	case MovementChargebackReversal:
		a.Disputed -= m.Money.Minor
	}
}

// in is the attempt by its movements in one currency. Its success ends no hold in another one.
func (a *Attempt) in(c Currency) Attempt {
	one := Attempt{Money: Money{Currency: c}}
	if c == a.Money.Currency {
		one.State = a.State
	}
	for _, p := range a.Payments {
		of := Payment{ID: p.ID}
		if c == a.Money.Currency {
			of.State = p.State
		}
		one.Payments = append(one.Payments, of)
	}
	for _, m := range a.Movements {
		if m.Money.Currency == c {
			one.Count(m)
		}
	}
	return one
}

// foreign is the money held, or on hold, in other currencies than the attempt's.
func (a *Attempt) foreign() (held []Money) {
	var seen []Currency
	for _, m := range a.Movements {
		c := m.Money.Currency
		if c == a.Money.Currency || slices.Contains(seen, c) {
			continue
		}
		seen = append(seen, c)
		if one := a.in(c); one.Held()+one.OnHold() > 0 {
			held = append(held, Money{one.Held() + one.OnHold(), c})
		}
	}
	return held
}

// Foreign is the first money held in another currency, by the movements; zero without any.
func (a *Attempt) Foreign() Money {
	if held := a.foreign(); len(held) > 0 {
		return held[0]
	}
	return Money{}
}

// currencies returns the currencies of the movements, each once.
func (a *Attempt) currencies() (all []Currency) {
	for _, m := range a.Movements {
		if !slices.Contains(all, m.Money.Currency) {
			all = append(all, m.Money.Currency)
		}
	}
	return all
}

// endHold records the end of a failed attempt's holds on captured payments. One capture ends the hold, even a partial or
// a reversed capture.
func (a *Attempt) endHold(cause Cause, now time.Time) {
	for _, key := range a.keys() {
		of := func(m Movement) bool { return m.Payment == key }
		for _, c := range a.currencies() {
			if a.sum(MovementCapture, c, of) > 0 {
				t := MovementReport{Kind: MovementRelease, Money: Money{0, c}}
				a.appendMovement(t, MovementTotal, key, a.authorized(c, of), cause, now)
			}
		}
	}
}

// authorized is the amount of some movements that is authorized and was not released.
func (a *Attempt) authorized(c Currency, of func(Movement) bool) int64 {
	return max(0, a.sum(MovementAuthorization, c, of)-a.sum(MovementRelease, c, of))
}

// keys returns the keys under which the movements of the attempt's payments are recorded, each once.
func (a *Attempt) keys() []string {
	keys := []string{""}
	for i := range a.Payments {
		if i > 0 {
			keys = append(keys, a.Payments[i].ID)
		}
	}
	return keys
}

// release records that nothing is on hold any more of a payment, in any currency.
func (a *Attempt) release(key string, at time.Time, cause Cause, now time.Time) {
	of := func(m Movement) bool { return m.Payment == key }
	for _, c := range a.currencies() {
		held := a.authorized(c, of)
		if a.sum(MovementCapture, c, of) > 0 {
			held = 0
		}
		a.appendMovement(MovementReport{Kind: MovementRelease, Money: Money{0, c}, At: at}, MovementTotal, key, held, cause, now)
	}
}

// heldSince is when the last authorization of a payment was reported: by the provider's clock if it gave a time.
func (a *Attempt) heldSince(key string) (at time.Time) {
	for _, m := range a.Movements {
		if m.Kind != MovementAuthorization || m.Payment != key {
			continue
		}
		if at = m.At; at.IsZero() {
			at = m.RecordedAt
		}
	}
	return at
}

// HeldAfter reports whether the last hold is younger than a time, by the provider's clock.
func (a *Attempt) HeldAfter(t time.Time) bool {
	var last time.Time
	for _, m := range a.Movements {
		if m.Kind == MovementAuthorization && !m.At.IsZero() {
			last = m.At
		}
	}
	return last.After(t)
}

// Sums is the sum of all recorded movements of a kind in the attempt's currency, reversed or not.
func (a *Attempt) Sums(kind MovementKind) int64 { return a.sum(kind, a.Money.Currency, nil) }

// importedBefore is the unnamed part of the totals that was imported before a movement happened, by the provider's
// clock. That movement can't be in it. A movement that is named later and happened before the import was in the totals.
func (a *Attempt) importedBefore(t MovementReport, of func(Movement) bool) (sum int64) {
	var since time.Time
	for _, m := range a.Movements {
		switch ofKind := m.Kind == t.Kind && m.Money.Currency == t.Money.Currency && of(m); {
		case !ofKind:
		case m.Cause.Kind == CauseImport:
			since, sum = m.RecordedAt, sum+m.Money.Minor
		case m.Source == MovementTotal && m.Money.Minor < 0 && !m.At.After(since):
			sum += m.Money.Minor
		}
	}
	if !t.At.After(since) {
		return 0
	}
	return max(0, sum)
}
