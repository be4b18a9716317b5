package imports

import (
	"context"
	"errors"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
)

var errMeanwhile = errors.New("the stored data has changed in the meantime")

// line is a line of a batch with its result. It is open until made, there or refusal is set.
type line struct {
	number int
	past   Past
	// attempt is the id of the attempt that a dry run would make.
	attempt     payment.AttemptID
	made, there bool
	refusal     *RefusalError
}

func (l *line) open() bool { return !l.made && !l.there && l.refusal == nil }

// settle takes over a judgement. It reports whether the line can be made.
func (l *line) settle(there bool, wrong *RefusalError) bool {
	l.there, l.refusal = there, wrong
	if wrong != nil {
		wrong.Line = l.number
	}
	return l.open()
}

// take makes the missing payments of a batch's lines. If another transaction changes an order or a name meanwhile, the next
// round judges the line again; each round has fewer lines.
func (i *importer) take(ctx context.Context, batch []*line) error {
	for {
		wanted, err := i.judge(ctx, batch)
		if err != nil || len(wanted) == 0 {
			return err
		}
		write := i.write
		if i.trial != nil {
			write = i.keep
		}
		if err = write(ctx, wanted); errors.Is(err, errMeanwhile) {
			continue
		}
		for _, l := range wanted {
			l.made = err == nil
		}
		return err
	}
}

// judge settles lines that need no transaction, and returns the lines that can be made.
func (i *importer) judge(ctx context.Context, batch []*line) (wanted []*line, err error) {
	for _, l := range batch {
		if l.open() {
			l.settle(false, i.elsewhere(l.past.Order))
		}
	}
	ids, names := asked(batch)
	if len(ids) == 0 {
		return nil, nil
	}
	owners, err := i.Store.ReferencesKnown(ctx, names)
	if err != nil {
		return nil, err
	}
	orders, err := i.Store.Orders(ctx, ids) // after the names: the attempt of each is among them
	if err != nil {
		return nil, err
	}
	if i.trial != nil {
		if err := i.try(ctx, orders, owners, ids, names); err != nil {
			return nil, err
		}
	}
	k := newKnown(orders, func(n payment.Reference) (payment.AttemptID, bool) { id, taken := owners[n]; return id, taken })
	for _, l := range batch {
		if l.open() && l.settle(k.judge(&l.past)) {
			a := l.past.attempt(k.orders[l.past.Order], i.Rules, i.Now()).Attempt
			wanted, l.attempt = append(wanted, l), a.ID
			k.add(&l.past, a)
		}
	}
	return wanted, nil
}

// elsewhere refuses an order of another cell.
func (i *importer) elsewhere(id payment.OrderID) *RefusalError {
	if i.CellOf == nil {
		return nil
	}
	if n := i.CellOf(id); n != i.Rules.Cell {
		return refuse("order_id", "order %s is in cell %d, and this import is for cell %d: import the line with an account of cell %d", id, n, i.Rules.Cell, n)
	}
	return nil
}

// asked returns the orders and names of open lines.
func asked(batch []*line) (ids []payment.OrderID, names []payment.Reference) {
	seen := map[payment.OrderID]bool{}
	for _, l := range batch {
		if !l.open() {
			continue
		}
		if !seen[l.past.Order] {
			ids, seen[l.past.Order] = append(ids, l.past.Order), true
		}
		names = append(names, l.past.Names()...)
	}
	return ids, changeset.Sorted(names)
}

// write makes lines in one transaction. If a line can't be made after all, it writes nothing and returns errMeanwhile; the other
// lines are judged again without it.
func (i *importer) write(ctx context.Context, wanted []*line) error {
	return changeset.Run(ctx, i.Store.InImportTx, i.Rules, func(ctx context.Context, s *changeset.Changeset, tx Tx) error {
		attempts, err := i.under(ctx, s, tx, wanted)
		if err != nil {
			return err
		}
		if err := tx.AttemptsImport(ctx, attempts); err != nil {
			return err
		}
		for n := range attempts {
			s.Import(attempts[n].Attempt, wanted[n].past.Names())
		}
		return s.Save(ctx)
	})
}

// under returns the attempts of lines, judged again while all rows that could contradict are locked.
func (i *importer) under(ctx context.Context, s *changeset.Changeset, tx Tx, wanted []*line) ([]changeset.AttemptWrite, error) {
	_, names := asked(wanted)
	if _, err := s.Take(ctx, nil, names); err != nil {
		return nil, err
	}
	var orders []payment.Order
	seen := map[payment.OrderID]bool{}
	for _, l := range wanted {
		if !seen[l.past.Order] {
			orders, seen[l.past.Order] = append(orders, l.past.order()), true
		}
	}
	there, err := tx.OrdersMake(ctx, orders)
	if err != nil {
		return nil, err
	}
	k := newKnown(there, s.Owner)
	attempts := make([]changeset.AttemptWrite, 0, len(wanted))
	for _, l := range wanted {
		o, found := k.orders[l.past.Order]
		judged, wrong := k.judge(&l.past)
		if !found {
			judged, wrong = false, refuse("order_id", "another order of this user has the request id import:%s, which this order needs", l.past.Order)
		}
		if !l.settle(judged, wrong) {
			return nil, errMeanwhile
		}
		a := l.past.attempt(o, s.Rules, s.Now())
		attempts = append(attempts, a)
		k.add(&l.past, a.Attempt)
	}
	return attempts, nil
}
