package imports

import (
	"context"

	"github.com/paylatch/paylatch/internal/payment"
)

// memory is a Trial in this process's memory, for a role that may make no temporary tables.
type memory struct {
	orders map[payment.OrderID][]Would
	owners map[payment.Reference]payment.AttemptID
}

// NewMemory returns a Trial in memory: some hundred bytes a payment.
func NewMemory() Trial {
	return memory{map[payment.OrderID][]Would{}, map[payment.Reference]payment.AttemptID{}}
}

// Keep implements Trial.
func (m memory) Keep(_ context.Context, would []Would) error {
	for i := range would {
		w := &would[i]
		m.orders[w.Past.Order] = append(m.orders[w.Past.Order], *w)
		for _, name := range w.Past.Names() {
			m.owners[name] = w.Attempt
		}
	}
	return nil
}

// Kept implements Trial.
func (m memory) Kept(_ context.Context, ids []payment.OrderID, names []payment.Reference) (
	would []Would, taken map[payment.Reference]payment.AttemptID, err error,
) {
	taken = map[payment.Reference]payment.AttemptID{}
	for _, id := range ids {
		would = append(would, m.orders[id]...)
	}
	for _, name := range names {
		if owner, known := m.owners[name]; known {
			taken[name] = owner
		}
	}
	return would, taken, nil
}

// Close implements Trial.
func (memory) Close() {}
