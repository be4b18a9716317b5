package cells

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// Maps keep the number of a database, and the maps of order ids to cells under which it serves.
type Maps interface {
	// ReadMaps returns all maps, the oldest first; none of a database that no service has claimed.
	ReadMaps(ctx context.Context) ([]payment.CellEpoch, error)
	// OpenMap adds an open map, and reports false if its epoch is taken. When it returns, all orders that were created without this
	// map can be seen.
	OpenMap(ctx context.Context, e payment.CellEpoch) (opened bool, err error)
	// CloseMaps closes the maps before an epoch.
	CloseMaps(ctx context.Context, before int64) error
	// WithdrawMap deletes an open map.
	WithdrawMap(ctx context.Context, epoch int64) error
	// OrderElsewhere returns a stored order that a map leads to another cell than n.
	OrderElsewhere(ctx context.Context, n payment.Cell, m payment.CellMap) (id payment.OrderID, found bool, err error)
	// OwnElsewhere is OrderElsewhere for the ids that begin with payment.OwnOrderPrefix. It reads all these ids.
	OwnElsewhere(ctx context.Context, n payment.Cell, m payment.CellMap) (id payment.OrderID, found bool, err error)
	// CellOfAttempts returns the cell of the stored attempts, want if there are none.
	CellOfAttempts(ctx context.Context, want payment.Cell) (payment.Cell, error)
}

// Database is the database of a cell as the configuration has it.
type Database struct {
	Number payment.Cell
	Maps   Maps
}

// refuse returns a payment.CellMapError; format and args are its problem.
func refuse(key, remedy, format string, args ...any) error {
	return &payment.CellMapError{Key: key, Problem: fmt.Sprintf(format, args...), Remedy: remedy}
}

// Compare returns a payment.CellMapError unless the database of a cell has the cell's number, serves under the map m, and has no order that m
// leads elsewhere. It claims a database that has no number.
func Compare(ctx context.Context, d Database, m payment.CellMap) error {
	had, err := d.Maps.ReadMaps(ctx)
	if err == nil && len(had) == 0 {
		had, err = claim(ctx, d, m)
	}
	if err != nil {
		return err
	}
	return d.serves(ctx, had, m)
}

// Examine is Compare without a write: it leaves a database without a number unclaimed.
func Examine(ctx context.Context, d Database, m payment.CellMap) error {
	had, err := d.Maps.ReadMaps(ctx)
	if err == nil && len(had) == 0 {
		err = d.suits(ctx)
	}
	if err != nil {
		return err
	}
	return d.serves(ctx, had, m)
}

// serves refuses a database that is another cell, serves under another map, or has an order that m leads elsewhere.
func (d Database) serves(ctx context.Context, had []payment.CellEpoch, m payment.CellMap) error {
	if err := d.itself(had); err != nil {
		return err
	}
	for _, e := range had {
		if e.Open && !e.Map.Same(m) {
			return refuse("order_prefixes", "If this configuration is newer than the other processes' configuration, run `paylatch migrate "+
				"up` with it, which checks that no stored order changes its cell. Otherwise start with the configuration of the "+
				"other processes",
				"the database of cell %d has another map of cells, epoch %d (%s); the configuration assigns %s", d.Number, e.Epoch, e.Map, m)
		}
	}
	return d.keeps(ctx, m)
}

// claim gives a database its number and its first map.
func claim(ctx context.Context, d Database, m payment.CellMap) ([]payment.CellEpoch, error) {
	if err := d.suits(ctx); err != nil {
		return nil, err
	}
	if _, err := d.Maps.OpenMap(ctx, payment.CellEpoch{Epoch: 1, Number: d.Number, Map: m}); err != nil {
		return nil, err
	}
	return d.Maps.ReadMaps(ctx)
}

// suits refuses an unclaimed database whose attempts were made in another cell.
func (d Database) suits(ctx context.Context) error {
	n, err := d.Maps.CellOfAttempts(ctx, d.Number)
	if err == nil && n != d.Number {
		err = refuse("database_url", "Correct the address or the number of the cell",
			"the configured database of cell %d has payment attempts of cell %d", d.Number, n)
	}
	return err
}

// itself refuses a database that is another cell.
func (d Database) itself(had []payment.CellEpoch) error {
	for _, e := range had {
		if e.Number != d.Number {
			return payment.OtherCell(e.Number, d.Number)
		}
	}
	return nil
}

// keeps refuses a map that leads a stored order elsewhere.
func (d Database) keeps(ctx context.Context, m payment.CellMap) error {
	return d.none(ctx, m, d.Maps.OrderElsewhere)
}

// keepsOwn is keeps for the ids that begin with payment.OwnOrderPrefix. Only a change of the map calls it, because it reads too much for a
// start.
func (d Database) keepsOwn(ctx context.Context, m payment.CellMap) error {
	return d.none(ctx, m, d.Maps.OwnElsewhere)
}

// none refuses a map if look finds a stored order that the map leads to another cell.
func (d Database) none(
	ctx context.Context, m payment.CellMap, look func(context.Context, payment.Cell, payment.CellMap) (payment.OrderID, bool, error),
) error {
	id, found, err := look(ctx, d.Number, m)
	if err != nil || !found {
		return err
	}
	if !payment.IsPrefix(string(id)) {
		return refuse("cells", "An order stays in its cell: give the new cell a number that no order id of this form has in its digits",
			"order %s is stored in cell %d, but the configuration assigns it to cell %d, where a request would charge it again", id, d.Number, m.Of(id))
	}
	return refuse("order_prefixes", "An order stays in its cell: leave order_prefixes as they were for such orders, and give the new cell a prefix "+
		"that no stored order has, which the shop uses for new orders",
		"order %s is stored in cell %d, but the configuration assigns it to cell %d, where a request would charge it again", id, d.Number, m.Of(id))
}

const (
	changeTries = 60
	changePause = time.Second
)

// Change makes m the map of all databases, or returns a payment.CellMapError and leaves their maps as they are. Cell 0 is the first database.
// Orders go on being created: during a change each database takes only orders that both the old and the new map lead to it, so no order
// is ever created in two cells. A change that was interrupted is completed by the next call. Unless back is set, a map is refused that
// the databases have had before: a process with an old configuration must not undo the change of a newer one.
func Change(ctx context.Context, all []Database, m payment.CellMap, back bool) error {
	for range changeTries {
		done, err := change(ctx, all, m, back)
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("change the map of cells: %w", ctx.Err())
		case <-time.After(changePause):
		}
	}
	return errors.New("change the map of cells: other processes keep changing it; stop them, and run `paylatch migrate up` again")
}

// change reports false if another process is changing the map.
func change(ctx context.Context, all []Database, m payment.CellMap, back bool) (done bool, err error) {
	newest, same := int64(0), true
	for _, d := range all {
		had, err := d.look(ctx, all)
		if err != nil {
			return false, err
		}
		open := 0
		for _, e := range had {
			newest = max(newest, e.Epoch)
			switch {
			case e.Open:
				open++
				same = same && e.Map.Same(m)
			case !back && e.Map.Same(m) && !current(had, m):
				return false, refuse("order_prefixes", "Start with the configuration of the other processes; to return to this one, run `paylatch migrate up` with it",
					"the configuration is older than the map of cell %d: it fits epoch %d", d.Number, e.Epoch)
			}
		}
		same = same && open > 0
	}
	if same {
		return true, nil
	}
	return replace(ctx, all, payment.CellEpoch{Epoch: newest + 1, Map: m})
}

// look reads the maps of a database, and refuses a database that is another cell, or whose orders may be in a cell that is not configured.
func (d Database) look(ctx context.Context, all []Database) ([]payment.CellEpoch, error) {
	had, err := d.Maps.ReadMaps(ctx)
	if err != nil {
		return nil, err
	}
	if len(had) == 0 {
		return nil, d.suits(ctx)
	}
	if err := d.itself(had); err != nil {
		return nil, err
	}
	for _, e := range had {
		for prefix, n := range e.Map {
			if e.Open && payment.IsPrefix(prefix) && !slices.ContainsFunc(all, func(d Database) bool { return d.Number == n }) {
				return nil, refuse("cells", "Keep the cell. If it has no such order, first remove its prefix, and remove the cell later",
					"orders with the prefix %s are in cell %d, which the configuration lacks: they would be charged again in another cell", prefix, n)
			}
		}
	}
	return had, nil
}

func current(had []payment.CellEpoch, m payment.CellMap) bool {
	return slices.ContainsFunc(had, func(e payment.CellEpoch) bool { return e.Open && e.Map.Same(m) })
}

// replace opens a map beside the others in each database, looks for orders that it leads elsewhere, and only then closes the others.
// Until the last database has the new map, all have the old one, and afterwards all have the new one: no two databases take one order.
func replace(ctx context.Context, all []Database, e payment.CellEpoch) (done bool, err error) {
	for i, d := range all {
		e.Number = d.Number
		opened, err := d.Maps.OpenMap(ctx, e)
		if err != nil || !opened {
			return false, errors.Join(err, withdraw(ctx, all[:i], e.Epoch))
		}
	}
	for _, d := range all {
		err := d.keeps(ctx, e.Map)
		if err == nil {
			err = d.keepsOwn(ctx, e.Map)
		}
		if err != nil {
			return false, errors.Join(err, withdraw(ctx, all, e.Epoch))
		}
	}
	for _, d := range all {
		if err := d.Maps.CloseMaps(ctx, e.Epoch); err != nil {
			return false, err
		}
	}
	return true, nil
}

func withdraw(ctx context.Context, opened []Database, epoch int64) error {
	var failed []error
	for _, d := range opened {
		failed = append(failed, d.Maps.WithdrawMap(context.WithoutCancel(ctx), epoch))
	}
	return errors.Join(failed...)
}
