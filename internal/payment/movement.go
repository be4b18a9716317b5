package payment

import (
	"slices"
	"time"
)

// MovementKind says what happened to money.
type MovementKind string

// The kinds of movements: a capture that was undone, money that a dispute took, and
// money that came back of it.
const (
	CaptureReversal    MovementKind = "capture_reversal"
	Chargeback         MovementKind = "chargeback"
	ChargebackReversal MovementKind = "chargeback_reversal"
)

// MovementSource says how a provider told of a movement.
type MovementSource string

const (
	// MovementNamed movements have an id of the provider's own.
	MovementNamed MovementSource = "named"
	// MovementTotal movements are what a total says beyond the named ones of its kind.
	// Their amount may be negative: a named one was in the total.
	MovementTotal MovementSource = "total"
)

// Movement is one thing that happened to the money of an attempt: a row that is only
// ever added. The amounts of the attempt are sums of its movements.
type Movement struct {
	// Number counts the movements of one attempt, from 1, without gaps.
	Number int
	Kind   MovementKind
	Source MovementSource
	// ProviderID is the provider's id of a named movement, and empty of others. One
	// account has a (kind, id) once.
	ProviderID string
	Money      Money
	Cause      Cause
	// At is the provider's time of it, zero if it gave none.
	At         time.Time
	RecordedAt time.Time
}

// MovementTold is what a provider says of money that was moved after the payment.
type MovementTold struct {
	Kind MovementKind
	// ID is the provider's id of the movement. Without one Money is the total until now.
	ID string
	// Money has no currency where the provider does not say how much it was.
	Money Money
	At    time.Time
}

// MovementName is what makes a named movement the same one.
type MovementName struct {
	Account string
	Kind    MovementKind
	ID      string
}

// record appends to the movements of an attempt what told says that they do not say yet.
//
// Let N be the sum of the named movements of a kind, and U that of what totals say beyond
// them. A total T makes U the larger of U and T - N. A named movement that is new takes
// its amount from U, as far as that goes: it was in the total, or will be in the next.
// So totals and names in any order and number lead to the same sum.
func record(a *Attempt, told MovementTold, cause Cause, now time.Time) {
	var named, beyond int64
	for _, m := range a.Movements {
		switch {
		case m.Kind != told.Kind || m.Money.Currency != told.Money.Currency:
		case m.Source == MovementTotal:
			beyond += m.Money.Minor
		case m.ProviderID == told.ID:
			return
		default:
			named += m.Money.Minor
		}
	}
	next := max(beyond, told.Money.Minor-named)
	if told.ID != "" {
		appendMovement(a, told, MovementNamed, told.Money.Minor, cause, now)
		next = max(0, beyond-told.Money.Minor)
	}
	appendMovement(a, told, MovementTotal, next-beyond, cause, now)
}

// recordAll records what news of money that was moved says, once.
func recordAll(a *Attempt, n News, now time.Time) {
	for _, m := range n.rows {
		count(a, m)
	}
	if n.rows == nil {
		for _, told := range a.movementsOf(n) {
			record(a, told, n.Cause, now)
		}
	}
}

// movementsOf is what news of money that was moved says of it. Where the provider does not say
// how much, what came back is what was taken, and what was taken is all.
func (a Attempt) movementsOf(n News) []MovementTold {
	if len(n.Movements) == 0 {
		return []MovementTold{{Kind: CaptureReversal, Money: Money{n.amountOr(a.taken()), n.currencyOr(a.Money.Currency)}}}
	}
	all := slices.Clone(n.Movements)
	for i := range all {
		if t := &all[i]; t.Money.Currency == "" {
			t.Money = Money{a.taken(), a.Money.Currency}
			if j := slices.IndexFunc(a.Movements, func(m Movement) bool {
				return t.Kind == ChargebackReversal && m.Kind == Chargeback && m.Source == MovementNamed && m.ProviderID == t.ID
			}); j >= 0 {
				t.Money = a.Movements[j].Money
			}
		}
	}
	return all
}

// appendMovement adds a movement and counts it. Nothing is moved by an amount of 0.
func appendMovement(a *Attempt, told MovementTold, source MovementSource, amount int64, cause Cause, now time.Time) {
	if amount == 0 {
		return
	}
	m := Movement{
		Number: a.LastMovement + 1, Kind: told.Kind, Source: source, Money: Money{amount, told.Money.Currency}, Cause: cause, At: told.At, RecordedAt: now,
	}
	if source == MovementNamed {
		m.ProviderID = told.ID
	}
	a.Movements = append(slices.Clip(a.Movements), m)
	count(a, m)
}

// count adds a movement that is the attempt's last one to its sums. One in another
// currency than the attempt's is in none.
func count(a *Attempt, m Movement) {
	a.LastMovement = m.Number
	if m.Money.Currency != a.Money.Currency {
		return
	}
	switch m.Kind {
	case CaptureReversal:
		a.Reversed += m.Money.Minor
	case Chargeback:
		a.Disputed += m.Money.Minor
	case ChargebackReversal:
		a.Disputed -= m.Money.Minor
	}
}
