package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/backoffice/overview"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// OverviewStore counts ended attempts by hours, and reads the counts and the open work.

var _ overview.Store = (*OverviewStore)(nil)

// batches is how many batches of events a portion has: of pays that share their commits some ten thousand events.
const batches = 200

// OverviewStore is safe for concurrent use.
type OverviewStore struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
}

// NewOverviewStore returns a store on the connections of p.
func NewOverviewStore(p *pool.Pool) *OverviewStore { return &OverviewStore{pool: p, q: dbsqlc.New()} }

// counted returns the types of events that are counted.
func counted() []string {
	return []string{outbox.AttemptSucceeded, outbox.AttemptFailed, outbox.RefundSucceeded, outbox.RefundFailed, outbox.DiscrepancyOpened}
}

// Count implements overview.Store.
func (s *OverviewStore) Count(ctx context.Context) (added []overview.Added, more bool, err error) {
	err = s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		added, more = nil, false
		after, err := s.q.HourlyLock(ctx, tx)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // another process counts
		}
		if err != nil {
			return fmt.Errorf("lock the progress of counting: %w", err)
		}
		until, err := s.q.HourlyPortion(ctx, tx, &dbsqlc.HourlyPortionParams{After: after, Batches: batches})
		if err != nil {
			return fmt.Errorf("look for events after %d: %w", after, err)
		}
		if until == after {
			return nil
		}
		more = true
		added, err = s.count(ctx, tx, after, until)
		return err
	})
	return added, more, err
}

func (s *OverviewStore) count(ctx context.Context, tx *pipeline.Tx, after, until int64) ([]overview.Added, error) {
	rows, err := s.q.HourlyAdvance(ctx, tx, &dbsqlc.HourlyAdvanceParams{Types: counted(), After: after, Until: until})
	if err != nil {
		return nil, fmt.Errorf("count events after %d: %w", after, err)
	}
	added := make([]overview.Added, len(rows))
	for i, r := range rows {
		added[i] = overview.Added{Hour: r.Hour, Subject: r.Subject, Account: r.Account, Status: r.Status, Code: r.Code, Count: r.Count}
	}
	return added, nil
}

// read runs a query on a connection.
func read[R any](ctx context.Context, s *OverviewStore, what string, query func(ctx context.Context, c *pgxpool.Conn) (R, error)) (found R, err error) {
	err = s.pool.Aside(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		if found, err = query(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	})
	return found, err
}

// Purge implements overview.Store.
func (s *OverviewStore) Purge(ctx context.Context, before time.Time) error {
	_, err := read(ctx, s, "delete old hours", func(ctx context.Context, c *pgxpool.Conn) (int64, error) { return s.q.HourlyPurge(ctx, c, before) })
	return err
}

// Uncounted implements overview.Store.
func (s *OverviewStore) Uncounted(ctx context.Context) (int64, error) {
	return read(ctx, s, "read how much is counted", func(ctx context.Context, c *pgxpool.Conn) (int64, error) { return s.q.HourlyBehind(ctx, c) })
}

// Series implements overview.Store.
func (s *OverviewStore) Series(ctx context.Context, since time.Time) ([]overview.Outcome, error) {
	rows, err := read(ctx, s, "read the hours", func(ctx context.Context, c *pgxpool.Conn) ([]*dbsqlc.HourlySeriesRow, error) {
		return s.q.HourlySeries(ctx, c, since)
	})
	list := make([]overview.Outcome, len(rows))
	for i, r := range rows {
		list[i] = overview.Outcome(*r)
	}
	return list, err
}

// Rates implements overview.Store.
func (s *OverviewStore) Rates(ctx context.Context, day, week, before time.Time) ([]overview.Rates, error) {
	rows, err := read(ctx, s, "read the approval rates", func(ctx context.Context, c *pgxpool.Conn) ([]*dbsqlc.HourlyRatesRow, error) {
		return s.q.HourlyRates(ctx, c, &dbsqlc.HourlyRatesParams{Day: day, Week: week, Before: before})
	})
	list := make([]overview.Rates, len(rows))
	for i, r := range rows {
		list[i] = overview.Rates{
			Account: r.Account, Currency: r.Currency,
			Day:    overview.Share{Succeeded: r.DaySucceeded, Ended: r.DayEnded},
			Week:   overview.Share{Succeeded: r.WeekSucceeded, Ended: r.WeekEnded},
			Before: overview.Share{Succeeded: r.BeforeSucceeded, Ended: r.BeforeEnded},
		}
	}
	return list, err
}

// Cases implements overview.Store.
func (s *OverviewStore) Cases(ctx context.Context) ([]overview.Cases, error) {
	rows, err := read(ctx, s, "count the open discrepancies", func(ctx context.Context, c *pgxpool.Conn) ([]*dbsqlc.DiscrepanciesWaitingRow, error) {
		return s.q.DiscrepanciesWaiting(ctx, c)
	})
	list := make([]overview.Cases, len(rows))
	for i, r := range rows {
		list[i] = overview.Cases{Kind: r.Kind, Count: r.Waiting, Oldest: time.Duration(r.OldestSeconds * float64(time.Second))}
	}
	return list, err
}

// Open implements overview.Store.
func (s *OverviewStore) Open(ctx context.Context, atMost int) ([]overview.Operations, error) {
	rows, err := read(ctx, s, "read open operations", func(ctx context.Context, c *pgxpool.Conn) ([]*dbsqlc.OperationsOpenRow, error) {
		return s.q.OperationsOpen(ctx, c, int32(atMost)) //nolint:gosec // a bound of ours
	})
	list := make([]overview.Operations, len(rows))
	for i, r := range rows {
		list[i] = overview.Operations{Account: r.Account, Refund: r.Refund, Band: overview.Band(r.Band), Count: r.Count, Oldest: r.Oldest}
	}
	return list, err
}
