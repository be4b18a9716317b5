package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// JobStore stores the jobs of package bulk: actions of staff on many events or discrepancies.
//
// A transaction locks a job's row last, after the objects of the job.

var _ bulk.Store = (*JobStore)(nil)

// JobStore keeps jobs. It is safe for concurrent use.
type JobStore struct {
	pool  *pool.Pool
	q     *dbsqlc.Queries
	audit *SupportStore
}

// NewJobStore returns a store on the connections of p.
func NewJobStore(p *pool.Pool) *JobStore {
	return &JobStore{pool: p, q: dbsqlc.New(), audit: NewSupportStore(p, nil)}
}

// Queue returns the side of the store that leases jobs.
func (s *JobStore) Queue() *JobQueue { return &JobQueue{s} }

// Begin implements bulk.Store.
func (s *JobStore) Begin(ctx context.Context, j bulk.Job, begun support.AuditEntry) (got bulk.Job, began bool, err error) {
	err = s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		row, err := s.q.JobBegin(ctx, tx, beginParams(j))
		if began = err == nil; errors.Is(err, pgx.ErrNoRows) {
			row, err = s.q.JobRunning(ctx, tx, string(j.Kind))
			err = pool.Missing(err, payment.ErrBusy) // it has ended meanwhile
		}
		if err != nil {
			return fmt.Errorf("begin job %s: %w", j.ID, err)
		}
		if got, err = jobFromRow(row); err != nil || !began {
			return err
		}
		return s.audit.InsertEntry(ctx, tx.Deferred(), begun)
	})
	return got, began, err
}

// Job implements bulk.Store.
func (s *JobStore) Job(ctx context.Context, id uuid.UUID) (j bulk.Job, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.JobRead(ctx, c, id)
		if err != nil {
			return fmt.Errorf("read job %s: %w", id, pool.Missing(err, payment.ErrJobNotFound))
		}
		j, err = jobFromRow(row)
		return err
	})
	return j, err
}

// Jobs implements bulk.Store.
func (s *JobStore) Jobs(ctx context.Context, before uuid.UUID, limit int) (list []bulk.Job, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.JobsList(ctx, c, &dbsqlc.JobsListParams{BeforeID: before, Most: int32(limit)}) //nolint:gosec // a page
		if err != nil {
			return fmt.Errorf("list jobs: %w", err)
		}
		for _, row := range rows {
			j, err := jobFromRow(row)
			if err != nil {
				return err
			}
			list = append(list, j)
		}
		return nil
	})
	return list, err
}

// Stop implements bulk.Store.
func (s *JobStore) Stop(ctx context.Context, id uuid.UUID, entries func(bulk.Job) []support.AuditEntry) (j bulk.Job, stopped bool, err error) {
	err = s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		row, err := s.q.JobStop(ctx, tx, id)
		if stopped = err == nil; errors.Is(err, pgx.ErrNoRows) {
			row, err = s.q.JobRead(ctx, tx, id)
		}
		if err != nil {
			return fmt.Errorf("stop job %s: %w", id, pool.Missing(err, payment.ErrJobNotFound))
		}
		if j, err = jobFromRow(row); err != nil || !stopped {
			return err
		}
		return s.insert(ctx, tx, entries(j)...)
	})
	return j, stopped, err
}

func (s *JobStore) insert(ctx context.Context, tx *pipeline.Tx, entries ...support.AuditEntry) error {
	for _, e := range entries {
		if err := s.audit.InsertEntry(ctx, tx.Deferred(), e); err != nil {
			return err
		}
	}
	return nil
}

var _ bulk.Queue = (*JobQueue)(nil)

// JobQueue leases jobs. It is safe for concurrent use.
type JobQueue struct{ s *JobStore }

// Take implements bulk.Queue.
func (q *JobQueue) Take(ctx context.Context, life time.Duration) (h bulk.Held, err error) {
	err = q.s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := q.s.q.JobTake(ctx, c, life.Seconds())
		if err != nil {
			return fmt.Errorf("take a job: %w", pool.Missing(err, lease.ErrHeld))
		}
		h = bulk.Held{Fence: row.Fence, Behind: row.Behind}
		h.Job, err = jobFromRow(row)
		return err
	})
	return h, err
}

// Count implements bulk.Queue.
func (q *JobQueue) Count(ctx context.Context, h bulk.Held, e bulk.Ended, life time.Duration) error {
	return q.s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error { return q.count(ctx, tx, h, e, life) })
}

var errForeignTx = errors.New("the transaction is not of this storage")

// CountIn implements bulk.Queue.
func (q *JobQueue) CountIn(ctx context.Context, tx changeset.Tx, h bulk.Held, e bulk.Ended, life time.Duration) error {
	t, ours := tx.(pipeline.DB)
	if !ours {
		return errForeignTx
	}
	return q.count(ctx, t, h, e, life)
}

func (q *JobQueue) count(ctx context.Context, db dbsqlc.DBTX, h bulk.Held, e bulk.Ended, life time.Duration) error {
	n, err := q.s.q.JobItemDone(ctx, db, &dbsqlc.JobItemDoneParams{
		JobID: h.ID, Fence: h.Fence, ItemID: e.ID, AttemptID: (*uuid.UUID)(e.AttemptID), Outcome: e.Outcome, Seconds: life.Seconds(),
	})
	return pool.Touched(n, err, lease.ErrLost, "count for job "+h.ID.String())
}

// Release implements bulk.Queue.
func (q *JobQueue) Release(ctx context.Context, h bulk.Held) error {
	return q.s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		n, err := q.s.q.JobRelease(ctx, c, &dbsqlc.JobReleaseParams{JobID: h.ID, Fence: h.Fence, Behind: h.Behind})
		return pool.Touched(n, err, lease.ErrLost, "give back job "+h.ID.String())
	})
}

// Finish implements bulk.Queue.
func (q *JobQueue) Finish(ctx context.Context, h bulk.Held, entry func(bulk.Job) support.AuditEntry) error {
	return q.s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		row, err := q.s.q.JobFinish(ctx, tx, &dbsqlc.JobFinishParams{JobID: h.ID, Fence: h.Fence})
		if err != nil {
			return fmt.Errorf("finish job %s: %w", h.ID, pool.Missing(err, lease.ErrLost))
		}
		j, err := jobFromRow(row)
		if err != nil {
			return err
		}
		return q.s.insert(ctx, tx, entry(j))
	})
}
