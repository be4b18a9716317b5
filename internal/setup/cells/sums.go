package cells

import (
	"cmp"
	"context"
	"slices"

	"github.com/paylatch/paylatch/internal/api"
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

type endpoints struct {
	api.Endpoints

	cells Desks
}

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

// RedeliverAfter implements api.Endpoints. It is refused, since an endpoint's cursor belongs to one cell.
func (e endpoints) RedeliverAfter(context.Context, string, outbox.Cursor) error {
	return e.cells.choose()
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
