package payment

import (
	"context"
	"slices"
)

// free applies the parked events that a new name or the end of a refund sets free, or
// has the worker try them now.
func (b *batch) free(ctx context.Context) error {
	if b.alone {
		return b.makeDue(ctx)
	}
	if err := b.unpark(ctx); err != nil {
		return err
	}
	return b.unparkRefunds(ctx)
}

func (b *batch) makeDue(ctx context.Context) error {
	due := slices.DeleteFunc(b.parked, func(e StoredEvent) bool { return b.gained(e) == nil })
	for _, c := range b.told {
		parked, err := b.parkedOf(ctx, c)
		if err != nil {
			return err
		}
		due = append(due, parked...)
	}
	for i := range due {
		now := b.now()
		due[i].NextTryAt = &now
	}
	return b.tx.EventsSettle(ctx, due)
}

// unpark applies the parked events that name an attempt by a name that it has
// only just been given, or has them fetched now. Each may bring the next one's name.
func (b *batch) unpark(ctx context.Context) error {
	tried := map[EventID]bool{}
	for {
		var freed []StoredEvent
		for _, e := range b.parked {
			if !tried[e.ID] && b.gained(e) != nil {
				tried[e.ID] = true
				freed = append(freed, e)
			}
		}
		if len(freed) == 0 {
			return nil
		}
		b.unparked = true
		if err := b.loadFor(ctx, freed); err != nil {
			return err
		}
		for i := range freed {
			b.apply(b.gained(freed[i]), &freed[i])
		}
		if err := b.claim(ctx); err != nil {
			return err
		}
		if err := b.tx.EventsSettle(ctx, freed); err != nil {
			return err
		}
	}
}

// loadFor reads what parked events need to be applied to the batch's attempts.
func (b *batch) loadFor(ctx context.Context, freed []StoredEvent) error {
	if err := b.loadRefunds(ctx, slices.Clone(b.order)...); err != nil {
		return err
	}
	if slices.ContainsFunc(freed, func(e StoredEvent) bool { return e.Event.Transaction != "" }) {
		if err := b.loadTransactions(ctx, slices.Clone(b.order)...); err != nil {
			return err
		}
	}
	return b.loadFreedMovements(ctx, freed)
}

// gained is what becomes of the attempt that has only just been given a name which
// an event uses; nil if none has.
func (b *batch) gained(e StoredEvent) *Change {
	for _, id := range b.order {
		if c := b.changes[id]; c.named(e) {
			return c
		}
	}
	return nil
}

func (c *Change) named(e StoredEvent) bool {
	if c.Attempt.Account != e.Account {
		return false
	}
	return slices.ContainsFunc(e.Event.References, func(ref string) bool {
		return slices.Contains(c.Names, ref) || ref == c.Attempt.ID.String()
	})
}
