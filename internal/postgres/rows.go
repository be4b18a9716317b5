package postgres

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

func positions(events []outbox.Event) []int64 {
	all := make([]int64, len(events))
	for i, e := range events {
		all[i] = int64(e.Position)
	}
	return all
}

// advanced has the last success and failure of a result.
func advanced(l lease.Lease, r endpoint.Result) *dbsqlc.EndpointAdvanceParams {
	p := &dbsqlc.EndpointAdvanceParams{Position: int64(r.Position), Gone: r.Gone, Name: l.Name, Fence: l.Fence}
	for _, a := range r.Attempts {
		switch {
		case a.Error == "" && (p.LastSuccessAt == nil || p.LastSuccessAt.Before(a.At)):
			p.LastSuccessAt = &a.At
		case a.Error != "" && (p.LastFailureAt == nil || p.LastFailureAt.Before(a.At)):
			p.LastFailureAt, p.LastFailure = &a.At, a.Error
		}
	}
	return p
}

// retryParams separates new retries from retries that failed again.
func retryParams(name string, retries []endpoint.Retry, now time.Time) (*dbsqlc.EndpointRetriesInsertParams, *dbsqlc.EndpointRetriesFailedParams) {
	fresh := newParams[dbsqlc.EndpointRetriesInsertParams](len(retries))
	failed := newParams[dbsqlc.EndpointRetriesFailedParams](len(retries))
	fresh.Endpoint, failed.Endpoint = name, name
	// Rows are locked in one order, in any order of sending.
	slices.SortFunc(retries, func(a, b endpoint.Retry) int { return cmp.Compare(a.Event.Position, b.Event.Position) })
	for _, r := range retries {
		if !r.New {
			failed.Positions = append(failed.Positions, int64(r.Event.Position))
			failed.Tries = append(failed.Tries, int32(r.Tries)) //nolint:gosec // at most the schedule's
			failed.NextAts, failed.Ats = append(failed.NextAts, now.Add(r.Pause)), append(failed.Ats, now)
			failed.Statuses = append(failed.Statuses, int32(r.Status)) //nolint:gosec // of HTTP
			failed.Errors, failed.Dead = append(failed.Errors, r.Error), append(failed.Dead, r.Dead)
			continue
		}
		fresh.Positions = append(fresh.Positions, int64(r.Event.Position))
		fresh.OrderIds = append(fresh.OrderIds, r.Event.OrderID)
		fresh.MessageIds, fresh.Subjects = append(fresh.MessageIds, r.Event.ID), append(fresh.Subjects, r.Event.Subject)
		fresh.Tries = append(fresh.Tries, int32(r.Tries)) //nolint:gosec // at most the schedule's
		fresh.NextAts, fresh.Ats = append(fresh.NextAts, now.Add(r.Pause)), append(fresh.Ats, now)
		fresh.Statuses = append(fresh.Statuses, int32(r.Status)) //nolint:gosec // of HTTP
		fresh.Errors, fresh.Dead = append(fresh.Errors, r.Error), append(fresh.Dead, r.Dead)
	}
	return fresh, failed
}

func deliveries(name string, attempts []endpoint.Attempt) *dbsqlc.EndpointDeliveriesInsertParams {
	p := newParams[dbsqlc.EndpointDeliveriesInsertParams](len(attempts))
	p.Endpoint = name
	for _, a := range attempts {
		p.Positions, p.OrderIds = append(p.Positions, int64(a.Position)), append(p.OrderIds, a.OrderID)
		p.MessageIds = append(p.MessageIds, a.EventID)
		p.Ats, p.Errors = append(p.Ats, a.At), append(p.Errors, a.Error)
		p.Statuses = append(p.Statuses, int32(a.Status))          //nolint:gosec // of HTTP
		p.TookMs = append(p.TookMs, int32(a.Took.Milliseconds())) //nolint:gosec // bounded by the time of a request
	}
	return p
}

func status(row *dbsqlc.EndpointsStatusRow) endpoint.Status {
	out := endpoint.Status{
		Name: row.Name, State: endpoint.State(row.State), Cursor: outbox.Cursor{Epoch: row.Epoch, Position: outbox.Position(row.Position)}, Behind: row.Behind,
		Retries: row.Retries, Dead: row.Dead,
		LastSuccess: row.LastSuccessAt, LastFailure: row.LastFailureAt, LastError: row.LastFailure,
	}
	if row.Oldest.Unix() != 0 {
		out.Oldest = row.Oldest
	}
	return out
}

func attempt(row *dbsqlc.EndpointDeliveriesRow) endpoint.Attempt {
	return endpoint.Attempt{
		Number: row.DeliveryID, Position: outbox.Position(row.Position), OrderID: row.OrderID, EventID: row.MessageID, Type: row.Type,
		At: row.At, Status: int(row.Status), Took: time.Duration(row.TookMs) * time.Millisecond, Error: row.Error,
	}
}

func beforeOrAll(number int64) int64 {
	if number == 0 {
		return math.MaxInt64
	}
	return number
}

// without returns the ids that no row has.
func without(ids []uuid.UUID, rows []*dbsqlc.EndpointEventsRow) (unknown []uuid.UUID) {
	for _, id := range ids {
		if !slices.ContainsFunc(rows, func(row *dbsqlc.EndpointEventsRow) bool { return row.MessageID == id }) {
			unknown = append(unknown, id)
		}
	}
	return unknown
}
