package cells

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/backoffice/overview"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/console"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

type overviews struct{ cells Desks }

// Overview implements console.Overview.
func (o overviews) Overview(ctx context.Context, who support.Staff) (overview.Overview, error) {
	return o.sum(func(d BackOffice) (overview.Overview, error) { return d.Overview.Overview(ctx, who) })
}

// Glance implements console.Overview.
func (o overviews) Glance(ctx context.Context, who support.Staff) (overview.Overview, error) {
	return o.sum(func(d BackOffice) (overview.Overview, error) { return d.Overview.Glance(ctx, who) })
}

func (o overviews) sum(read func(d BackOffice) (overview.Overview, error)) (sum overview.Overview, err error) {
	all, err := concat(o.cells, func(_ int, d BackOffice) ([]overview.Overview, error) {
		one, err := read(d)
		return []overview.Overview{one}, err
	})
	for i, one := range all {
		if i == 0 {
			sum = one
			continue
		}
		sum = sum.Plus(one)
	}
	return sum, err
}

type endpoints struct{ cells Desks }

// List implements api.Endpoints. An endpoint gets the events of each cell by itself, and so is in the list once a cell.
func (e endpoints) List(ctx context.Context) ([]endpoint.Status, error) {
	all, err := concat(e.cells, func(i int, d BackOffice) ([]endpoint.Status, error) {
		found, err := d.Endpoints.List(ctx)
		for n := range found {
			found[n].Cell = e.cells.number(i)
		}
		return found, err
	})
	slices.SortStableFunc(all, func(a, b endpoint.Status) int { return cmp.Compare(a.Name, b.Name) })
	return all, err
}

// Attempts implements api.Endpoints. It is refused, since each cell numbers the attempts of its log.
func (e endpoints) Attempts(context.Context, string, int64, bool, int) ([]endpoint.Attempt, error) {
	return nil, e.cells.choose()
}

// Test implements api.Endpoints. A test event is of no cell.
func (e endpoints) Test(ctx context.Context, name string) (endpoint.Attempt, error) {
	return e.cells[0].Endpoints.Test(ctx, name)
}

// RedeliverAfter implements api.Endpoints. It is refused, since an endpoint's cursor belongs to one cell.
func (e endpoints) RedeliverAfter(context.Context, string, outbox.Cursor) error {
	return e.cells.choose()
}

// RedeliverEvents implements api.Endpoints. The id of an event does not contain its cell, so the request goes to each cell in turn.
// A cell that lacks one of the events sends nothing and names the events that it lacks; these go to the next cell. So nothing is sent until
// each event has its cell.
func (e endpoints) RedeliverEvents(ctx context.Context, name string, ids []uuid.UUID) error {
	home := make([][]uuid.UUID, len(e.cells))
	var lack *endpoint.UnknownError
	var failed error
	for i, d := range e.cells {
		err := d.Endpoints.RedeliverEvents(ctx, name, ids)
		if err == nil { // this cell had the remaining events and has sent them; the earlier cells send theirs now
			return e.redeliver(ctx, name, home)
		}
		if !errors.As(err, &lack) {
			failed = err
			continue
		}
		home[i] = slices.DeleteFunc(slices.Clone(ids), func(id uuid.UUID) bool { return slices.Contains(lack.IDs, id) })
		ids = lack.IDs
	}
	if failed != nil {
		return failed
	}
	return lack
}

// redeliver sends the events of each cell again.
func (e endpoints) redeliver(ctx context.Context, name string, home [][]uuid.UUID) error {
	for i, ids := range home {
		if len(ids) == 0 {
			continue
		}
		if err := e.cells[i].Endpoints.RedeliverEvents(ctx, name, ids); err != nil {
			return err
		}
	}
	return nil
}

// accounts warn of accounts wherever they are.
type accounts struct {
	console.Payments

	cells Desks
}

// Stale implements console.Payments.
func (a accounts) Stale(ctx context.Context) ([]intake.StaleAccount, error) {
	return concat(a.cells, func(_ int, d BackOffice) ([]intake.StaleAccount, error) { return d.Payments.Stale(ctx) })
}

// ForeignLastDay implements console.Payments.
func (a accounts) ForeignLastDay(ctx context.Context) (map[string]int64, error) {
	all, err := concat(a.cells, func(_ int, d BackOffice) ([]map[string]int64, error) {
		found, err := d.Payments.ForeignLastDay(ctx)
		return []map[string]int64{found}, err
	})
	sum := map[string]int64{}
	for _, one := range all {
		for account, n := range one {
			sum[account] += n
		}
	}
	return sum, err
}
