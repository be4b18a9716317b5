package payment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

var movementByKind = map[webhooks.Kind]MovementKind{ //nolint:gochecknoglobals // a table
	webhooks.KindReversed:           CaptureReversal,
	webhooks.KindChargeback:         Chargeback,
	webhooks.KindChargebackReversed: ChargebackReversal,
}

// movementOf is the movement that an event tells of, none if it is about something else.
func movementOf(e webhooks.Event) []MovementTold {
	kind, moves := movementByKind[e.Kind]
	if !moves {
		return nil
	}
	told := MovementTold{Kind: kind, ID: e.MovementID, At: e.OccurredAt}
	if money := moneyOf(e); money != nil {
		told.Money = *money
	}
	return []MovementTold{told}
}

// moves reports whether news may be recorded as movements.
func (n News) moves() bool {
	return n.News == fsm.NewsReversed || n.Undoes || len(n.Movements) > 0
}

// loadMovements reads the movements of locked attempts, where they have any, and whose
// those are that are told of.
func (b *batch) loadMovements(ctx context.Context, attempts []Attempt, names ...MovementName) error {
	var ids []AttemptID
	for _, a := range attempts {
		if _, done := b.movements[a.ID]; a.LastMovement > 0 && !done {
			ids = append(ids, a.ID)
		}
	}
	names = slices.DeleteFunc(names, func(n MovementName) bool { return n.ID == "" })
	if len(ids)+len(names) == 0 {
		return nil
	}
	movements, movers, err := b.tx.MovementsRead(ctx, ids, names)
	if err != nil {
		return err
	}
	if b.movements == nil {
		b.movements, b.movers = map[AttemptID][]Movement{}, map[MovementName]AttemptID{}
	}
	for _, id := range ids {
		b.movements[id] = movements[id]
		if c := b.changes[id]; c != nil && c.Attempt.LastMovement == c.moved {
			c.Attempt.Movements = movements[id]
		}
	}
	maps.Copy(b.movers, movers)
	return nil
}

// moved are the attempts that events of movements name.
func (f found) moved(arrivals []*arrival) (attempts []Attempt) {
	for _, id := range f.named(arrivals, func(e webhooks.Event) bool { return movementByKind[e.Kind] != "" }) {
		for _, a := range f {
			if a != nil && a.ID == id {
				attempts = append(attempts, *a)
				break
			}
		}
	}
	return attempts
}

func movementNames(arrivals []*arrival) (names []MovementName) {
	for _, a := range arrivals {
		if kind, moves := movementByKind[a.Event.Kind]; moves && !a.Event.NeedsFetch {
			names = append(names, MovementName{a.Account, kind, a.Event.MovementID})
		}
	}
	return names
}

// loadFreedMovements is loadMovements for parked events that are applied to attempts of
// the batch.
func (b *batch) loadFreedMovements(ctx context.Context, freed []StoredEvent) error {
	var arrivals []*arrival
	for _, e := range freed {
		arrivals = append(arrivals, &arrival{Received: e.Received})
	}
	names := movementNames(arrivals)
	if len(names) == 0 {
		return nil
	}
	var attempts []Attempt
	for _, id := range b.order {
		attempts = append(attempts, b.changes[id].Attempt)
	}
	return b.loadMovements(ctx, attempts, names...)
}

// loadToldMovements reads what is needed to record the movements that news tells of.
func (b *batch) loadToldMovements(ctx context.Context, a Attempt, n News) error {
	if !n.moves() {
		return nil
	}
	var names []MovementName
	for _, m := range n.Movements {
		names = append(names, MovementName{a.Account, m.Kind, m.ID})
	}
	return b.loadMovements(ctx, []Attempt{a}, names...)
}

// hear applies what a runner learnt.
func (b *batch) hear(ctx context.Context, c *Change, n News) error {
	if n.News == "" {
		return nil
	}
	if err := b.loadToldMovements(ctx, c.Attempt, n); err != nil {
		return err
	}
	b.advance(c, n)
	return nil
}

// movementsIn makes an attempt ready for news of money that was moved. It takes from the
// news what happened besides, which is news of its own, and the movements that another
// attempt has: it reports whether there are such, of which a person is told.
func (b *batch) movementsIn(c *Change, n *News) (besides []MovementTold, shared bool) {
	if !n.moves() {
		return nil, false
	}
	a := &c.Attempt
	if a.Movements == nil {
		a.Movements = b.movements[a.ID]
	}
	if len(a.Movements) != a.LastMovement {
		b.broken = fmt.Errorf("record a movement of attempt %s: %d of its %d movements were read", a.ID, len(a.Movements), a.LastMovement)
	}
	n.Movements = slices.DeleteFunc(slices.Clone(n.Movements), func(m MovementTold) bool {
		owner, known := b.movers[MovementName{a.Account, m.Kind, m.ID}]
		if !known || owner == a.ID {
			return false
		}
		shared = true
		b.shared(c, m.ID)
		return true
	})
	if n.News == fsm.NewsReversed {
		for _, m := range n.Movements {
			b.moves(a, m)
		}
		return nil, shared
	}
	besides, n.Movements = n.Movements, nil
	return besides, shared
}

// moves notes whose a named movement is.
func (b *batch) moves(a *Attempt, m MovementTold) {
	if m.ID == "" {
		return
	}
	if b.movers == nil {
		b.movers = map[MovementName]AttemptID{}
	}
	b.movers[MovementName{a.Account, m.Kind, m.ID}] = a.ID
}

// advanceBesides applies movements that news told of besides. What they show counts where
// the news itself was known.
func (b *batch) advanceBesides(c *Change, besides []MovementTold, cause Cause, verdict fsm.Verdict) fsm.Verdict {
	for _, m := range besides {
		moved := b.advance(c, News{News: fsm.NewsReversed, Money: &m.Money, Movements: []MovementTold{m}, Cause: cause})
		if verdict == fsm.Repeat {
			verdict = moved
		}
	}
	return verdict
}

// openForMovement says what a discrepancy that was just opened is about, where it is of
// money that was moved: two movements of one amount are two. Money that came back to an
// attempt which failed, and held nothing any more, is late money again.
func (b *batch) openForMovement(c *Change, opened DiscrepancyKind, n News, held int64) {
	if len(n.Movements) == 0 {
		return
	}
	m := n.Movements[0]
	switch {
	case opened == PaymentReversed:
		d := b.latest()
		if m.ID != "" {
			d.About = string(m.Kind) + " " + m.ID
		}
		if m.Kind == Chargeback {
			d.Text = "A chargeback took back money that had been paid. If that is wrong, answer the provider before its deadline; find out whether the goods have left."
		}
	case n.returns() && c.Attempt.Failed() && held == 0 && c.Attempt.Held() > 0:
		b.open(c, LateSuccess, "")
		b.latest().About = "what came back"
	}
}
