package cells

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/backoffice/parts"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/console"
	"github.com/paylatch/paylatch/internal/payment"
)

// Desks shows staff several cells as if they were one.
//
//	a read ─► each cell's use case, at once, each with an entry in its own audit log ─► merged
//	                 └─ a cell that does not respond ─► left out, and named by a *parts.OmittedError beside the results of the others
//
// A list has the order, the filters and the limits of one cell's list. A page begins at one place for all cells, or at a place
// for each cell (support.Merge). Counts and sums are added up. Requests that name an id do not come here: package cells leads
// them to the id's cell. A command on all items that match a filter is refused, since it would act in one cell alone. So is the log of an endpoint.

// BackOffice is the use cases of staff, of one cell or of all.
type BackOffice struct {
	Support   Support
	Worklist  Worklist
	Overview  console.Overview
	Jobs      api.Jobs
	Requests  api.RefundRequests
	Endpoints api.Endpoints
	Payments  console.Payments
}

// Support has the reads and commands of staff; *support.Service in the program.
type Support interface {
	api.Support
	console.Support
	console.AuditLog
}

// Worklist has the list of discrepancies and its commands; *worklist.Service in the program.
type Worklist interface {
	api.Worklist
	Page(ctx context.Context, who support.Staff, f worklist.Filter, p support.Page) ([]worklist.Entry, string, error)
	Changed(ctx context.Context, who support.Staff, f worklist.Filter, p support.Page) ([]worklist.Entry, string, error)
	Waiting(ctx context.Context) (int64, error)
}

// Desk is the BackOffice of one cell, that is of one of the databases, with the cell's number.
type Desk struct {
	Number payment.Cell
	BackOffice
}

// Desks are all cells. Reads list them in the order of their numbers; cell 0 has the objects that name no cell.
type Desks []Desk

// All returns the back office of all cells. A request that names an id must be led to the id's cell before.
func (c Desks) All() BackOffice {
	all := slices.SortedFunc(slices.Values(c), func(a, b Desk) int { return cmp.Compare(a.Number, b.Number) })
	first := all[0].BackOffice
	return BackOffice{
		Support: auditLog{first.Support, all}, Worklist: worklists{first.Worklist, all}, Overview: overviews{all}, Jobs: jobs{first.Jobs, all},
		Requests: requests{first.Requests, all}, Endpoints: endpoints{all}, Payments: accounts{first.Payments, all},
	}
}

// Waiting counts the work that waits for staff in the cell of a number, or in all cells if no cell has this number.
func (c Desks) Waiting(ctx context.Context, number string) (int64, error) {
	if i := slices.Index(c.numbers(), number); i >= 0 || len(c) == 1 {
		return c[max(i, 0)].Worklist.Waiting(ctx)
	}
	return worklists{cells: c}.Waiting(ctx)
}

// DeadLetters counts the dead letters of all endpoints, in the cells in which Waiting counts.
func (c Desks) DeadLetters(ctx context.Context, number string) (n int64, err error) {
	of := c
	if i := slices.Index(c.numbers(), number); i >= 0 {
		of = c[i : i+1]
	}
	list, err := endpoints{cells: of}.List(ctx)
	for _, e := range list {
		n += e.Dead
	}
	return n, err
}

// numbers returns the names of the cells, for a cursor for instance.
func (c Desks) numbers() []string {
	all := make([]string, len(c))
	for i, one := range c {
		all[i] = strconv.Itoa(int(one.Number))
	}
	return all
}

// names returns the cells as people read them.
func (c Desks) names() []string {
	all := c.numbers()
	for i := range all {
		all[i] = "cell " + all[i]
	}
	return all
}

// number returns a cell's number, for the items that were read from it.
func (c Desks) number(i int) *int { return new(int(c[i].Number)) }

// missing reports whether an error is only that cells were left out.
func missing(err error) bool { return errors.As(err, new(*parts.OmittedError)) }

// of returns the cell of an id, or the first cell if no cell has the id's number.
func (c Desks) of(id payment.AttemptID) BackOffice {
	for _, one := range c {
		if one.Number == payment.CellOf(id) {
			return one.BackOffice
		}
	}
	return c[0].BackOffice
}

// choose refuses a request that would act in one cell, and names no cell.
func (c Desks) choose() error {
	return payment.Invalid("cell", "must be in the query: this command acts in one cell, and there are "+strings.Join(c.numbers(), ", ")+"; send the command once to each cell")
}

// list reads a page of each cell and merges them.
func list[T any](
	c Desks, p support.Page, o support.Order[T], read func(i int, d BackOffice, p support.Page) (items []T, next string, err error),
) ([]T, string, error) {
	all := make([]support.Part[T], len(c))
	for i, number := range c.numbers() {
		all[i] = support.Part[T]{Name: number, Away: true}
	}
	came, err := parts.Each(c.names(), func(i int) (support.Part[T], error) {
		items, next, err := read(i, c[i].BackOffice, p.Of(all[i].Name))
		return support.Part[T]{Name: all[i].Name, Items: items, More: next != ""}, err
	})
	if err != nil && !missing(err) {
		return nil, "", err
	}
	for _, one := range came {
		all[one.Part] = one.Value
	}
	items, next := support.Merge(p, o, all)
	return items, next, err
}

// concat reads a list of each cell as a whole, in the order of the cells.
func concat[T any](c Desks, read func(i int, d BackOffice) ([]T, error)) (all []T, err error) {
	came, err := parts.Each(c.names(), func(i int) ([]T, error) { return read(i, c[i].BackOffice) })
	if err != nil && !missing(err) {
		return nil, err
	}
	for _, one := range came {
		all = append(all, one.Value...)
	}
	return all, err
}
