// Package erasurestore gives customers' rows to a pseudonym, for package erasure, and deletes old entries of the logs.
//
// It runs functions of the database. The functions of an erasure need the role that owns the tables. The purges run with
// the owner's rights and delete nothing that is younger than 30 days, for any caller.
package erasurestore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/cell"
	"github.com/paylatch/paylatch/internal/erasure"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
	"github.com/paylatch/paylatch/internal/postgres/supportstore"
	"github.com/paylatch/paylatch/internal/support"
)

var _ erasure.Store = (*Store)(nil)

// Store erases. It is safe for concurrent use.
type Store struct {
	*supportstore.Store

	pool *pool.Pool
	q    *dbsqlc.Queries
}

// New returns a store on the connections of p.
func New(p *pool.Pool) *Store {
	return &Store{Store: supportstore.New(p, nil), pool: p, q: dbsqlc.New()}
}

// Count implements erasure.Store.
func (s *Store) Count(ctx context.Context, user payment.UserID, disputes int) (found erasure.Found, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.ErasureCount(ctx, c, string(user))
		if err != nil {
			return fmt.Errorf("count a user's orders: %w", err)
		}
		found = erasure.Found{Orders: row.Orders, Waiting: row.Waiting}
		open, err := s.q.ErasureDisputes(ctx, c, &dbsqlc.ErasureDisputesParams{Person: string(user), Most: int32(disputes)}) //nolint:gosec // some
		if err != nil {
			return fmt.Errorf("read a user's open disputes: %w", err)
		}
		for _, d := range open {
			found.Disputes = append(found.Disputes, d.ProviderDisputeID+" of account "+d.Account+", order "+d.OrderID)
		}
		return nil
	})
	return found, err
}

// Begin implements erasure.Store.
func (s *Store) Begin(ctx context.Context, marks [][]byte, fresh string, begun func(string) support.AuditEntry) (pseudonym string, err error) {
	err = s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) (err error) {
		if pseudonym, err = s.q.ErasureBegin(ctx, tx, &dbsqlc.ErasureBeginParams{Marks: marks, Fresh: fresh}); err != nil {
			return fmt.Errorf("begin an erasure: %w", err)
		}
		return s.InsertEntry(ctx, tx, begun(pseudonym))
	})
	return pseudonym, err
}

// Orders implements erasure.Store. The requests' digests are committed first: a request that comes meanwhile finds its order or its
// digest.
func (s *Store) Orders(ctx context.Context, user payment.UserID, pseudonym string, behind payment.OrderID, limit int) (erasure.Step, error) {
	err := s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		return s.q.EraseRequests(ctx, tx, &dbsqlc.EraseRequestsParams{Person: string(user), Behind: string(behind), Most: int32(limit)}) //nolint:gosec // a batch size
	})
	if err != nil {
		return erasure.Step{}, fmt.Errorf("keep the digests of requests behind order %q: %w", behind, err)
	}
	return s.step(ctx, "erase orders behind "+string(behind), func(ctx context.Context, tx *pipeline.Tx) ([]byte, error) {
		return s.q.EraseOrders(ctx, tx, &dbsqlc.EraseOrdersParams{
			Person: string(user), Pseudonym: pseudonym, Behind: string(behind), Most: int32(limit), //nolint:gosec // a batch size
		})
	})
}

// Details implements erasure.Store.
func (s *Store) Details(ctx context.Context, user payment.UserID, pseudonym string, everything bool, behind payment.OrderID, limit int) (erasure.Step, error) {
	return s.step(ctx, "erase details behind "+string(behind), func(ctx context.Context, tx *pipeline.Tx) ([]byte, error) {
		return s.q.EraseDetails(ctx, tx, &dbsqlc.EraseDetailsParams{
			Person: string(user), Pseudonym: pseudonym, Everything: everything, Behind: string(behind), Most: int32(limit), //nolint:gosec // a batch size
		})
	})
}

// Keys implements erasure.Store.
func (s *Store) Keys(ctx context.Context, user payment.UserID, limit int) (erasure.Step, error) {
	return s.step(ctx, "erase keys", func(ctx context.Context, tx *pipeline.Tx) ([]byte, error) {
		return s.q.EraseKeys(ctx, tx, &dbsqlc.EraseKeysParams{Person: string(user), Most: int32(limit)}) //nolint:gosec // a batch size
	})
}

// End implements erasure.Store.
func (s *Store) End(ctx context.Context, pseudonym string, done support.AuditEntry) error {
	return s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		if err := s.q.ErasureEnd(ctx, tx, pseudonym); err != nil {
			return fmt.Errorf("end erasure %s: %w", pseudonym, err)
		}
		return s.InsertEntry(ctx, tx, done)
	})
}

func (s *Store) step(ctx context.Context, what string, run func(ctx context.Context, tx *pipeline.Tx) ([]byte, error)) (step erasure.Step, err error) {
	err = s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		text, err := run(ctx, tx)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		step = erasure.Step{}
		return json.Unmarshal(text, &step)
	})
	return step, err
}

// PurgeAudit deletes limit entries at most of the audit log that are older than keep, and returns how many there were.
func (s *Store) PurgeAudit(ctx context.Context, keep time.Duration, limit int) (n int, err error) {
	return s.purge(ctx, "the audit log", func(ctx context.Context, c *pgxpool.Conn, entry uuid.UUID) (int64, error) {
		return s.q.PurgeAudit(ctx, c, &dbsqlc.PurgeAuditParams{Keep: keep.Seconds(), Entry: entry, Most: int32(limit)}) //nolint:gosec // a batch size
	})
}

// PurgeLog deletes limit entries at most of the attempts' log that are older than keep, and returns how many there were.
func (s *Store) PurgeLog(ctx context.Context, keep time.Duration, limit int) (n int, err error) {
	return s.purge(ctx, "the attempts' log", func(ctx context.Context, c *pgxpool.Conn, entry uuid.UUID) (int64, error) {
		return s.q.PurgeAttemptLog(ctx, c, &dbsqlc.PurgeAttemptLogParams{Keep: keep.Seconds(), Entry: entry, Most: int32(limit)}) //nolint:gosec // a batch size
	})
}

func (s *Store) purge(ctx context.Context, what string, run func(context.Context, *pgxpool.Conn, uuid.UUID) (int64, error)) (n int, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		gone, err := run(ctx, c, cell.Only.NewID())
		if err != nil {
			return fmt.Errorf("purge %s: %w", what, err)
		}
		n = int(gone)
		return nil
	})
	return n, err
}
