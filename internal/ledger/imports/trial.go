package imports

import (
	"context"
	"maps"

	"github.com/paylatch/paylatch/internal/payment"
)

// Trial keeps the payments that a dry run would have made, outside of this process's memory if the role may create temporary
// tables.
type Trial interface {
	// Keep adds payments.
	Keep(ctx context.Context, would []Would) error
	// Kept reads the payments of some orders, in the order in which they were kept, and the attempts that have some names.
	Kept(ctx context.Context, ids []payment.OrderID, names []payment.Reference) ([]Would, map[payment.Reference]payment.AttemptID, error)
	// Close forgets all.
	Close()
}

// Would is a payment that a dry run would have made, and the id of the attempt that stands for it.
type Would struct {
	Attempt payment.AttemptID
	Past    Past
}

// try makes the dry run's earlier batches count as if they were stored: it adds their payments to the orders, and their names to
// the owners.
func (i *importer) try(ctx context.Context, orders map[payment.OrderID]payment.Order, owners map[payment.Reference]payment.AttemptID,
	ids []payment.OrderID, names []payment.Reference,
) error {
	kept, taken, err := i.trial.Kept(ctx, ids, names)
	if err != nil {
		return err
	}
	maps.Copy(owners, taken)
	for _, w := range kept {
		o, found := orders[w.Past.Order]
		if !found {
			o = w.Past.order()
		}
		a := w.Past.attempt(o, i.Rules, i.Now()).Attempt
		a.ID = w.Attempt
		o.Attempts = append(o.Attempts, a)
		orders[o.ID] = o
	}
	return nil
}

// keep adds the payments that a batch would make to the trial.
func (i *importer) keep(ctx context.Context, wanted []*line) error {
	would := make([]Would, len(wanted))
	for n, l := range wanted {
		would[n] = Would{l.attempt, l.past}
	}
	return i.trial.Keep(ctx, would)
}
