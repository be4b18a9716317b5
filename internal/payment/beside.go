package payment

import (
	"context"
	"errors"
)

var errContended = errors.New("another transaction has the live attempt of the order")

// contended is an errContended: money came in for an attempt that has failed, and the
// order's live one is locked by somebody else.
type contended struct {
	error

	attempt AttemptID
}

// late reports whether an attempt that has failed holds money only now.
func (c *Change) late() bool {
	return c.Attempt.Failed() && c.Attempt.HoldsMoney() && !c.before.HoldsMoney()
}

// holds reports whether what the attempt holds beside its payment has changed.
func (c *Change) holds() bool {
	a, b := c.Attempt, c.before
	return a.Foreign != b.Foreign || a.ForeignReturned != b.ForeignReturned || a.HoldToldAt != b.HoldToldAt
}

// beside reads the orders of attempts that hold money only now, and has the live attempts
// cancelled that are beside late money: in the same commit, so that no runner that takes
// one over later finds it wanted. Their locks are not waited for: they come before those
// that the batch has. What it can't have now is left to the next try.
func (b *batch) beside(ctx context.Context) error {
	var late []*Change
	var ids, stop []OrderID
	for _, id := range b.order {
		if c := b.changes[id]; c.late() {
			late, stop = append(late, c), append(stop, c.Attempt.OrderID)
		}
	}
	ids = append(ids, stop...)
	for _, l := range b.late {
		ids = append(ids, l.change.Attempt.OrderID)
	}
	for _, changes := range [][]*Change{b.won, b.authorized} {
		for _, c := range changes {
			ids = append(ids, c.Attempt.OrderID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	orders, locked, err := b.tx.OrdersBeside(ctx, ids, stop)
	if err != nil {
		return err
	}
	b.orders = orders
	b.overlay()
	for _, c := range late {
		if err := b.stop(c, locked); err != nil {
			return err
		}
	}
	return nil
}

// overlay shows the orders that were read with what the batch has made of their attempts.
func (b *batch) overlay() {
	for _, o := range b.orders {
		for i := range o.Attempts {
			if c, ok := b.changes[o.Attempts[i].ID]; ok {
				o.Attempts[i] = c.Attempt
			}
		}
	}
}

// stop has the live attempt beside late money cancelled.
func (b *batch) stop(late *Change, locked []Attempt) error {
	order := b.orders[late.Attempt.OrderID]
	live := order.Live()
	if live == nil || live.State.Final() {
		return nil
	}
	for _, a := range locked {
		if a.ID == live.ID {
			b.change(a)
		}
	}
	c, ours := b.changes[live.ID]
	if !ours {
		return &contended{errContended, late.Attempt.ID}
	}
	if c.Attempt.Intent.Kind != IntentCancel {
		wantCancelled(&c.Attempt, b.now())
	}
	return nil
}
