package cells

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/payment"
)

// byID is the order of a list by the ids of its items, the newest first; they rise with time.
func byID[T any](at func(T) (time.Time, uuid.UUID)) support.Order[T] {
	return support.Order[T]{
		At: func(item T) (time.Time, string) {
			at, id := at(item)
			return at, id.String()
		},
		Compare: func(_ time.Time, a string, _ time.Time, b string) int { return cmp.Compare(b, a) },
	}
}

type worklists struct {
	Worklist

	cells Desks
}

// List implements api.Worklist.
func (w worklists) List(ctx context.Context, who support.Staff, f worklist.Filter, p support.Page) ([]worklist.Entry, string, error) {
	return w.read(f, p, func(d BackOffice, p support.Page) ([]worklist.Entry, string, error) {
		return d.Worklist.List(ctx, who, f, p)
	})
}

// Page implements the pages' interface.
func (w worklists) Page(ctx context.Context, who support.Staff, f worklist.Filter, p support.Page) ([]worklist.Entry, string, error) {
	return w.read(f, p, func(d BackOffice, p support.Page) ([]worklist.Entry, string, error) {
		return d.Worklist.Page(ctx, who, f, p)
	})
}

// Changed implements the pages' interface.
func (w worklists) Changed(ctx context.Context, who support.Staff, f worklist.Filter, p support.Page) ([]worklist.Entry, string, error) {
	return w.read(f, p, func(d BackOffice, p support.Page) ([]worklist.Entry, string, error) {
		return d.Worklist.Changed(ctx, who, f, p)
	})
}

func (w worklists) read(
	f worklist.Filter, p support.Page, read func(d BackOffice, p support.Page) ([]worklist.Entry, string, error),
) ([]worklist.Entry, string, error) {
	return list(w.cells, p, f.Sorted(), func(_ int, d BackOffice, p support.Page) ([]worklist.Entry, string, error) { return read(d, p) })
}

// Waiting counts the open discrepancies of all cells. If a cell does not respond, it returns the count of the others with the
// error.
func (w worklists) Waiting(ctx context.Context) (open int64, err error) {
	all, err := concat(w.cells, func(_ int, d BackOffice) ([]int64, error) {
		n, err := d.Worklist.Waiting(ctx)
		return []int64{n}, err
	})
	for _, n := range all {
		open += n
	}
	return open, err
}

type ofJobs = api.Jobs

type jobs struct {
	ofJobs

	cells Desks
}

// Jobs implements api.Jobs.
func (j jobs) Jobs(ctx context.Context, who support.Staff, p support.Page) ([]bulk.Job, string, error) {
	return list(j.cells, p, byID(func(b bulk.Job) (time.Time, uuid.UUID) { return b.CreatedAt, b.ID }),
		func(_ int, d BackOffice, p support.Page) ([]bulk.Job, string, error) { return d.Jobs.Jobs(ctx, who, p) })
}

// Try and Begin implement api.Jobs. They are refused.
func (j jobs) Try(context.Context, support.Staff, bulk.Order) (bulk.Counts, error) {
	return bulk.Counts{}, j.cells.choose()
}

// Begin is as Try.
func (j jobs) Begin(context.Context, support.Staff, bulk.Order) (bulk.Job, error) {
	return bulk.Job{}, j.cells.choose()
}

type requests struct {
	api.RefundRequests

	cells Desks
}

// Create implements api.RefundRequests, in the cell of the attempt, which is named in the body.
func (r requests) Create(ctx context.Context, who support.Staff, cmd refundrequest.Create) (refundrequest.Request, bool, error) {
	return r.cells.of(cmd.AttemptID).Requests.Create(ctx, who, cmd)
}

// Requests implements api.RefundRequests.
func (r requests) Requests(ctx context.Context, who support.Staff, state refundrequest.State, p support.Page) ([]refundrequest.Request, string, error) {
	return list(r.cells, p, byID(func(q refundrequest.Request) (time.Time, uuid.UUID) { return q.CreatedAt, q.ID }),
		func(_ int, d BackOffice, p support.Page) ([]refundrequest.Request, string, error) {
			return d.Requests.Requests(ctx, who, state, p)
		})
}

type auditLog struct {
	Support

	cells Desks
}

// Audit implements api.Support. Each entry names its cell, since each cell has its own chain of entries.
func (a auditLog) Audit(ctx context.Context, who support.Staff, f support.AuditFilter, p support.Page) ([]support.AuditEntry, string, error) {
	return list(a.cells, p, byID(func(e support.AuditEntry) (time.Time, uuid.UUID) { return e.At, e.ID }),
		func(i int, d BackOffice, p support.Page) ([]support.AuditEntry, string, error) {
			entries, next, err := d.Support.Audit(ctx, who, f, p)
			for n := range entries {
				entries[n].Cell = a.cells.number(i)
			}
			return entries, next, err
		})
}

// Watch implements api.Support. The entry is in the audit log of the first cell that responds.
func (a auditLog) Watch(ctx context.Context, who support.Staff, action support.Action, targetType, target string, act func() error) (err error) {
	acted := false
	for _, c := range a.cells {
		err = c.Support.Watch(ctx, who, action, targetType, target, func() error {
			acted = true
			return act()
		})
		if acted || !errors.Is(err, payment.ErrUnavailable) {
			return err
		}
	}
	return err
}
