package payment

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/paylatch/paylatch/webhooks"
)

// DisputeMove is a reported movement of a dispute's money, taken from the merchant or returned. All moves of a dispute
// are kept, in the order of their reports: its rounds follow from them.
type DisputeMove struct {
	OrderID   OrderID
	AttemptID AttemptID
	Account   string
	// Dispute is the provider's id of the dispute, or the id of the payment where the provider has no dispute ids.
	Dispute string
	// Number counts the moves of one dispute, from 1.
	Number int
	// Kind is MovementChargeback or MovementChargebackReversal.
	Kind MovementKind
	// Entry is the provider's id of the entry, such as a balance transaction; empty where the provider names no entry.
	Entry string
	// Money is nil where the provider does not state the returned amount: it is then the whole disputed amount.
	Money *Money
	// Whole is set where Money is the amount of the dispute. The moved amount may differ.
	Whole bool
	// At is the provider's clock, zero if it gave no time.
	At, RecordedAt time.Time
}

// Name is the name of the dispute.
func (m DisputeMove) Name() DisputeName { return DisputeName{m.Account, m.Dispute} }

// RoundsOf returns the effect of a report of a dispute's money on the attempt. add is the move to keep beside the known
// moves, nil for a repeated report. lacking are the movements that the attempt lacks by all moves together. They have an
// ID, except for a movement of a negative amount: then an entry was less than the stated amount of its round.
//
// A named entry is a movement. Without names, a new round begins with each report that money left after it had come
// back, by the provider's clock. So the sum is a function of the set of reports, in any order and number.
func (a *Attempt) RoundsOf(told MovementReport, known []DisputeMove) (add *DisputeMove, lacking []MovementReport) {
	move := a.disputeMove(told)
	if !slices.ContainsFunc(known, move.same) {
		move.Number = len(known) + 1
		add, known = &move, append(slices.Clip(known), move)
	}
	currency := a.Money.Currency
	if move.Money != nil {
		currency = move.Money.Currency
	}
	of := a.disputeCourse(told.Dispute, currency, known)
	took, gave := of.sums()
	for _, want := range []MovementReport{
		{Kind: MovementChargeback, Money: Money{took, currency}}, {Kind: MovementChargebackReversal, Money: Money{gave, currency}},
	} {
		want.Dispute, want.At = told.Dispute, of.after(want.Kind, told)
		if want.Money.Minor -= of.recorded[want.Kind]; want.Money.Minor != 0 {
			lacking = append(lacking, a.named(want, told)...)
		}
	}
	return add, lacking
}

// named names the lacking movements: the report's own movement, and beside it the missing movement that the report
// implies. Its time is unknown. An amount below 0 has no name.
func (a *Attempt) named(want, told MovementReport) []MovementReport {
	if want.Money.Minor < 0 {
		return []MovementReport{want}
	}
	rest := want
	if told.Kind == want.Kind && told.Money.Currency != "" && !told.Whole {
		want.Money.Minor = min(want.Money.Minor, told.Money.Minor)
	}
	rest.Money.Minor -= want.Money.Minor
	if want.ID = a.roundName(want.Kind, told, ""); rest.Money.Minor == 0 {
		return []MovementReport{want}
	}
	rest.ID, rest.At = a.roundName(want.Kind, MovementReport{Dispute: told.Dispute}, want.ID), time.Time{}
	return []MovementReport{want, rest}
}

// EntriesOf returns the movements of a dispute's money, where the provider lists them.
func EntriesOf(d webhooks.Dispute) (all []MovementReport) {
	for _, m := range d.Entries {
		t := MovementReport{Kind: MovementChargeback, Dispute: d.ID, ID: m.ID, Money: Money{m.Money.Minor, Currency(m.Money.Currency)}, At: m.At}
		if m.Returned {
			t.Kind = MovementChargebackReversal
		}
		all = append(all, t)
	}
	return all
}

// LacksRound reports whether a reported movement of a dispute's money is not recorded. The attempt's Moves must be
// filled in.
func (a *Attempt) LacksRound(told MovementReport) bool {
	known := slices.DeleteFunc(slices.Clone(a.Moves), func(m DisputeMove) bool { return m.Dispute != told.Dispute })
	_, lacking := a.RoundsOf(told, known)
	return len(lacking) > 0
}

// ReturnedBefore reports whether a report states that the money of a movement's dispute was returned before the movement. The attempt's
// Moves must be filled in.
func (a *Attempt) ReturnedBefore(told MovementReport) bool {
	return slices.ContainsFunc(a.Moves, func(m DisputeMove) bool {
		return m.Dispute == told.Dispute && m.Kind == MovementChargebackReversal && m.At.Before(told.At)
	})
}

// DisputeLacks returns the amounts that a dispute took and returned by all reports, less the recorded amounts.
func (a *Attempt) DisputeLacks(dispute string, known []DisputeMove) (took, gave int64) {
	for _, c := range currenciesOf(known, a.Money.Currency) {
		of := a.disputeCourse(dispute, c, known)
		t, g := of.sums()
		took, gave = took+t-of.recorded[MovementChargeback], gave+g-of.recorded[MovementChargebackReversal]
	}
	return took, gave
}

func currenciesOf(moves []DisputeMove, usual Currency) []Currency {
	all := []Currency{usual}
	for _, m := range moves {
		if m.Money != nil && !slices.Contains(all, m.Money.Currency) {
			all = append(all, m.Money.Currency)
		}
	}
	return all
}

// disputeMove is the move that a report states. A chargeback without an amount took the captured amount.
func (a *Attempt) disputeMove(t MovementReport) DisputeMove {
	m := DisputeMove{
		OrderID: a.OrderID, AttemptID: a.ID, Account: a.Account, Dispute: t.Dispute,
		Kind: t.Kind, Entry: t.ID, Whole: t.Whole, At: t.At.Truncate(time.Microsecond), // as it is stored
	}
	switch {
	case t.Money.Currency != "":
		money := t.Money
		m.Money = &money
	case t.Kind == MovementChargeback:
		m.Money, m.Whole = &Money{a.taken(a.PaymentKey(a.Acting())), a.Money.Currency}, true
	}
	return m
}

// same reports whether two moves are the same report, or reports of the same entry.
func (m DisputeMove) same(other DisputeMove) bool {
	if m.Kind != other.Kind || m.Entry != other.Entry {
		return false
	}
	sameMoney := m.Money == other.Money || m.Money != nil && other.Money != nil && *m.Money == *other.Money
	return m.Entry != "" || m.At.Equal(other.At) && sameMoney && m.Whole == other.Whole
}

// disputeCourse is the record of a dispute in one currency.
type disputeCourse struct {
	// moves are dated, in the order of the provider's clock; undated have no time.
	moves, undated []DisputeMove
	// recorded is the sum of the attempt's movements of the dispute.
	recorded map[MovementKind]int64
}

// disputeCourse gathers the record of a dispute. A movement with the dispute's id as its own, and without a dispute,
// dates from before movements had a dispute. It counts as a report like the others.
func (a *Attempt) disputeCourse(dispute string, c Currency, known []DisputeMove) disputeCourse {
	of := disputeCourse{recorded: map[MovementKind]int64{}}
	for _, m := range known {
		if m.Money == nil && c == a.Money.Currency || m.Money != nil && m.Money.Currency == c {
			of.add(m)
		}
	}
	for _, m := range a.Movements {
		if !slices.Contains(disputeKinds, m.Kind) || m.Money.Currency != c {
			continue
		}
		isEntry := func(k DisputeMove) bool { return k.Kind == m.Kind && k.Entry == m.ProviderID }
		switch old := m.Dispute == "" && m.Source == MovementNamed; {
		case m.Dispute == dispute, old && slices.ContainsFunc(known, isEntry):
			of.recorded[m.Kind] += m.Money.Minor
		case old && m.ProviderID == dispute:
			of.recorded[m.Kind] += m.Money.Minor
			of.add(DisputeMove{Kind: m.Kind, Money: &m.Money, At: m.At})
		}
	}
	slices.SortStableFunc(of.moves, func(x, y DisputeMove) int {
		return cmp.Or(x.At.Compare(y.At), slices.Index(disputeKinds, x.Kind)-slices.Index(disputeKinds, y.Kind))
	})
	return of
}

func (c *disputeCourse) add(m DisputeMove) {
	if m.At.IsZero() {
		c.undated = append(c.undated, m)
	} else {
		c.moves = append(c.moves, m)
	}
}

// disputeKinds are the kinds of a dispute's movements, in the order in which they happen.
var disputeKinds = []MovementKind{MovementChargeback, MovementChargebackReversal} //nolint:gochecknoglobals // a list

// round is the sum of consecutive reports of one kind, without a report of the other kind between them.
type round struct {
	kind MovementKind
	// named is the sum of entries, counted if there are any.
	named   int64
	entries int
	// stated is the largest moved amount, whole the largest dispute amount; -1 if not stated.
	stated, whole int64
}

func newRound(k MovementKind) round { return round{kind: k, stated: -1, whole: -1} }

func (r round) with(m DisputeMove) round {
	switch {
	case m.Money == nil:
	case m.Entry != "":
		r.named += m.Money.Minor
		r.entries++
	case m.Whole:
		r.whole = max(r.whole, m.Money.Minor)
	default:
		r.stated = max(r.stated, m.Money.Minor)
	}
	return r
}

// amount is the amount that the round moved. out is the merchant's money that the dispute holds. back is the part that
// had come back. Named entries count as stated. If the stated chargeback exceeds back while some money was still out, it
// is the dispute's whole amount.
func (r round) amount(out, back int64) int64 {
	told := r.stated
	if told < 0 {
		told = r.whole
	}
	switch {
	case r.entries > 0:
		return r.named
	case r.kind == MovementChargeback && out > 0:
		return min(max(told, 0), back)
	case r.kind == MovementChargebackReversal && (told < 0 || r.stated < 0 && out > 0):
		return out
	}
	return max(told, 0)
}

// rounds returns the dated reports by their kind.
func (c *disputeCourse) rounds() (all []round) {
	for _, m := range c.moves {
		if len(all) == 0 || all[len(all)-1].kind != m.Kind {
			all = append(all, newRound(m.Kind))
		}
		all[len(all)-1] = all[len(all)-1].with(m)
	}
	return all
}

// sums returns the amounts that the dispute took and returned.
func (c *disputeCourse) sums() (took, gave int64) {
	var named, told [2]int64 // of entries, and of rounds without any
	var net, most int64
	all := c.rounds()
	for i, r := range all {
		amount := r.amount(max(net, 0), most-net)
		of := slices.Index(disputeKinds, r.kind)
		if r.kind == MovementChargebackReversal && net <= 0 && i < len(all)-1 {
			told[0], net = told[0]+amount, net+amount // the returned money had been taken: the report of the chargeback is missing
		}
		if r.entries > 0 {
			named[of] += amount
		} else {
			told[of] += amount
		}
		net += amount * int64(1-2*of)
		most = max(most, net)
	}
	for of, kind := range disputeKinds {
		told[of] = c.withUndated(kind, named[of], told[of], told[0]+named[0])
	}
	return told[0], told[1]
}

// withUndated adds reports without a time. Entries count as a total of the unnamed rounds. All other reports count as
// one round at the most, since a second round looks like the first.
func (c *disputeCourse) withUndated(kind MovementKind, named, told, took int64) int64 {
	r, seen := newRound(kind), false
	for _, m := range c.undated {
		if m.Kind == kind {
			r, seen = r.with(m), true
		}
	}
	sum := max(named+max(told, r.named), r.stated)
	if seen && sum == 0 {
		sum = r.whole
		if sum < 0 {
			sum = took
		}
	}
	return sum
}

// after is the time of a movement of a kind that a report implies. It is the report's own time, or the time of the next
// move of that kind after the report.
func (c *disputeCourse) after(kind MovementKind, told MovementReport) time.Time {
	if kind == told.Kind {
		return told.At
	}
	for _, m := range c.moves {
		if m.Kind == kind && m.At.After(told.At) {
			return m.At
		}
	}
	return told.At
}

// roundName is the name of a new movement, other than a given name. It is the entry's name, or the dispute's name with
// the number of the round.
func (a *Attempt) roundName(kind MovementKind, told MovementReport, but string) string {
	if kind == told.Kind && told.ID != "" {
		if _, taken := a.Movement(kind, told.ID); !taken {
			return told.ID
		}
	}
	name := told.Dispute
	for n := 2; ; n++ {
		if _, taken := a.Movement(kind, name); !taken && name != but {
			return name
		}
		name = fmt.Sprintf("%s#%d", told.Dispute, n)
	}
}
