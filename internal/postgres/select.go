package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// lookedAt is how many events a statement looks at: there is no index for each filter, and a statement has its time limit.
const lookedAt = 20_000

// Count implements bulk.Store.
func (s *JobStore) Count(ctx context.Context, o bulk.Order, before uuid.UUID) (bulk.Counts, error) {
	if o.Kind == bulk.Resolve {
		return s.countDiscrepancies(ctx, o.Filter, before)
	}
	c, behind := bulk.Counts{By: map[string]int64{}}, firstOf(o.Filter)
	for {
		last, err := s.countEvents(ctx, o.Filter, behind, before, &c)
		if err != nil || last == uuid.Nil {
			return c, err
		}
		behind = last
	}
}

// countEvents counts a part, and returns the last event of it, or uuid.Nil at the end.
func (s *JobStore) countEvents(ctx context.Context, f bulk.Filter, behind, before uuid.UUID, c *bulk.Counts) (last uuid.UUID, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		rows, err := s.q.JobEventsCount(ctx, conn, &dbsqlc.JobEventsCountParams{
			Account: f.Account, Verdict: f.Verdict, EventType: f.Type, Since: f.Since, Until: f.Until, Behind: behind, Before: before, LookedAt: lookedAt,
		})
		if err != nil {
			return fmt.Errorf("count events: %w", err)
		}
		for _, row := range rows {
			if row.Last.String() > last.String() {
				last = row.Last
			}
			if row.Chosen > 0 {
				c.By[row.Verdict] += row.Chosen
				c.Total += row.Chosen
			}
		}
		return nil
	})
	return last, err
}

func (s *JobStore) countDiscrepancies(ctx context.Context, f bulk.Filter, before uuid.UUID) (bulk.Counts, error) {
	c := bulk.Counts{By: map[string]int64{}}
	err := s.pool.Read(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		rows, err := s.q.JobDiscrepanciesCount(ctx, conn, &dbsqlc.JobDiscrepanciesCountParams{
			DiscrepancyKind: f.Kind, Account: f.Account, Since: f.Since, Until: f.Until, Before: before,
		})
		if err != nil {
			return fmt.Errorf("count discrepancies: %w", err)
		}
		for _, row := range rows {
			c.By[row.Kind] = row.Chosen
			c.Total += row.Chosen
		}
		return nil
	})
	return c, err
}

// Next implements bulk.Queue.
func (q *JobQueue) Next(ctx context.Context, h bulk.Held, limit int) (p bulk.Portion, err error) {
	most := int32(limit) //nolint:gosec // a portion
	err = q.s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if h.Kind == bulk.Resolve {
			p.IDs, err = q.s.q.JobDiscrepanciesNext(ctx, c, &dbsqlc.JobDiscrepanciesNextParams{
				DiscrepancyKind: h.Filter.Kind, Account: h.Filter.Account, Since: h.Filter.Since, Until: h.Filter.Until,
				Behind: h.Behind, Before: h.ID, OpenAt: h.CreatedAt, Most: most,
			})
			if p.End = len(p.IDs) < limit; !p.End {
				p.Behind = p.IDs[limit-1]
			}
			return wrap(err, h)
		}
		p, err = q.nextEvents(ctx, c, h, most)
		return wrap(err, h)
	})
	return p, err
}

func wrap(err error, h bulk.Held) error {
	if err != nil {
		return fmt.Errorf("read what is next for job %s: %w", h.ID, err)
	}
	return nil
}

func (q *JobQueue) nextEvents(ctx context.Context, db dbsqlc.DBTX, h bulk.Held, most int32) (p bulk.Portion, err error) {
	f, behind := h.Filter, h.Behind
	if first := firstOf(f); first.String() > behind.String() {
		behind = first
	}
	rows, err := q.s.q.JobEventsNext(ctx, db, &dbsqlc.JobEventsNextParams{
		Account: f.Account, Verdict: f.Verdict, EventType: f.Type, Since: f.Since, Until: f.Until, Behind: behind, Before: h.ID, LookedAt: lookedAt, Most: most,
	})
	p.End = len(rows) == 0
	for _, row := range rows {
		if p.Behind = row.EventID; row.Chosen {
			p.IDs = append(p.IDs, row.EventID)
		}
	}
	return p, err
}

func beginParams(j bulk.Job) *dbsqlc.JobBeginParams {
	roles := make([]string, len(j.By.Roles))
	for i, r := range j.By.Roles {
		roles[i] = string(r)
	}
	return &dbsqlc.JobBeginParams{
		JobID: j.ID, DeedID: j.ActionID, Kind: string(j.Kind), Account: j.Filter.Account, Verdict: j.Filter.Verdict, EventType: j.Filter.Type,
		DiscrepancyKind: j.Filter.Kind, Since: j.Filter.Since, Until: j.Filter.Until, Resolution: string(j.Resolution), Reason: j.Reason,
		Actor: j.By.Subject, Roles: roles, Address: j.By.Address, RequestID: j.By.RequestID, Total: j.Total,
	}
}

func jobFromRow(row *dbsqlc.SupportJobs) (bulk.Job, error) {
	j := bulk.Job{
		Order: bulk.Order{
			Kind: bulk.Kind(row.Kind), Resolution: payment.Resolution(row.Resolution), Reason: row.Reason,
			Filter: bulk.Filter{
				Account: row.Account, Verdict: row.Verdict, Type: row.EventType, Kind: row.DiscrepancyKind, Since: row.Since, Until: row.Until,
			},
		},
		ID: row.JobID, ActionID: row.DeedID, CreatedAt: row.CreatedAt, State: bulk.State(row.State), Total: row.Total, Done: row.Done,
		FinishedAt: row.FinishedAt,
	}
	j.By.Actor = authz.Actor{Subject: row.Actor}
	for _, r := range row.Roles {
		j.By.Roles = append(j.By.Roles, payment.Role(r))
	}
	j.By.Address, j.By.RequestID = row.Address, row.RequestID
	if err := json.Unmarshal(row.Results, &j.Results); err != nil {
		return j, fmt.Errorf("decode the results of job %s: %w", row.JobID, err)
	}
	return j, nil
}

// early is how far a process's clock may be behind the clock that dated an event's receipt.
const early = time.Hour

// firstOf is a lower bound of the ids of the filter's events: an event gets its id on receipt, and ids begin with the
// time.
func firstOf(f bulk.Filter) uuid.UUID {
	if f.Since == nil || f.Since.Unix() < int64(early.Seconds()) {
		return uuid.Nil
	}
	id := payment.OnlyCell.NewIDAt(f.Since.Add(-early))
	return uuid.UUID(append(id[:6:6], make([]byte, len(id)-6)...))
}
