package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// ErasureStore gives customers' rows to a pseudonym, for an Erasure, and deletes old entries of the logs.
//
// It runs functions of the database. The functions of an erasure need the role that owns the tables. The purges run with
// the owner's rights and delete nothing that is younger than 30 days, for any caller.

var _ support.ErasureStore = (*ErasureStore)(nil)

// ErasureStore erases. It is safe for concurrent use.
type ErasureStore struct {
	*SupportStore

	pool *pool.Pool
	q    *dbsqlc.Queries
}

// NewErasureStore returns a store on the connections of p.
func NewErasureStore(p *pool.Pool) *ErasureStore {
	return &ErasureStore{SupportStore: NewSupportStore(p, nil), pool: p, q: dbsqlc.New()}
}

// Count implements support.ErasureStore.
func (s *ErasureStore) Count(ctx context.Context, user payment.UserID, disputes int) (found support.ErasureFound, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.ErasureCount(ctx, c, string(user))
		if err != nil {
			return fmt.Errorf("count a user's orders: %w", err)
		}
		found = support.ErasureFound{Orders: row.Orders, Waiting: row.Waiting}
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

// Begin implements support.ErasureStore.
func (s *ErasureStore) Begin(ctx context.Context, marks [][]byte, fresh string, begun func(string) support.AuditEntry) (pseudonym string, err error) {
	err = s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) (err error) {
		if pseudonym, err = s.q.ErasureBegin(ctx, tx, &dbsqlc.ErasureBeginParams{Marks: marks, Fresh: fresh}); err != nil {
			return fmt.Errorf("begin an erasure: %w", err)
		}
		return s.InsertEntry(ctx, tx, begun(pseudonym))
	})
	return pseudonym, err
}

// Orders implements support.ErasureStore. The requests' digests are committed first: a request that comes meanwhile finds its order or its
// digest.
func (s *ErasureStore) Orders(ctx context.Context, user payment.UserID, pseudonym string, behind payment.OrderID, limit int) (support.ErasureStep, error) {
	err := s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		return s.q.EraseRequests(ctx, tx, &dbsqlc.EraseRequestsParams{Person: string(user), Behind: string(behind), Most: int32(limit)}) //nolint:gosec // a batch size
	})
	if err != nil {
		return support.ErasureStep{}, fmt.Errorf("keep the digests of requests behind order %q: %w", behind, err)
	}
	return s.step(ctx, "erase orders behind "+string(behind), func(ctx context.Context, tx *pipeline.Tx) ([]byte, error) {
		return s.q.EraseOrders(ctx, tx, &dbsqlc.EraseOrdersParams{
			Person: string(user), Pseudonym: pseudonym, Behind: string(behind), Most: int32(limit), //nolint:gosec // a batch size
		})
	})
}

// Details implements support.ErasureStore.
func (s *ErasureStore) Details(ctx context.Context, user payment.UserID, pseudonym string, everything bool, behind payment.OrderID, limit int) (support.ErasureStep, error) {
	return s.step(ctx, "erase details behind "+string(behind), func(ctx context.Context, tx *pipeline.Tx) ([]byte, error) {
		return s.q.EraseDetails(ctx, tx, &dbsqlc.EraseDetailsParams{
			Person: string(user), Pseudonym: pseudonym, Everything: everything, Behind: string(behind), Most: int32(limit), //nolint:gosec // a batch size
		})
	})
}

// Keys implements support.ErasureStore.
func (s *ErasureStore) Keys(ctx context.Context, user payment.UserID, limit int) (support.ErasureStep, error) {
	return s.step(ctx, "erase keys", func(ctx context.Context, tx *pipeline.Tx) ([]byte, error) {
		return s.q.EraseKeys(ctx, tx, &dbsqlc.EraseKeysParams{Person: string(user), Most: int32(limit)}) //nolint:gosec // a batch size
	})
}

// End implements support.ErasureStore.
func (s *ErasureStore) End(ctx context.Context, pseudonym string, done support.AuditEntry) error {
	return s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		if err := s.q.ErasureEnd(ctx, tx, pseudonym); err != nil {
			return fmt.Errorf("end erasure %s: %w", pseudonym, err)
		}
		return s.InsertEntry(ctx, tx, done)
	})
}

func (s *ErasureStore) step(ctx context.Context, what string, run func(ctx context.Context, tx *pipeline.Tx) ([]byte, error)) (step support.ErasureStep, err error) {
	err = s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		text, err := run(ctx, tx)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		step = support.ErasureStep{}
		return json.Unmarshal(text, &step)
	})
	return step, err
}

// PurgeAudit deletes limit entries at most of the audit log that are older than keep, and returns how many there were.
func (s *ErasureStore) PurgeAudit(ctx context.Context, keep time.Duration, limit int) (n int, err error) {
	return s.purge(ctx, "the audit log", func(ctx context.Context, c *pgxpool.Conn, entry uuid.UUID) (int64, error) {
		return s.q.PurgeAudit(ctx, c, &dbsqlc.PurgeAuditParams{Keep: keep.Seconds(), Entry: entry, Most: int32(limit)}) //nolint:gosec // a batch size
	})
}

// PurgeLog deletes limit entries at most of the attempts' log that are older than keep, and returns how many there were.
func (s *ErasureStore) PurgeLog(ctx context.Context, keep time.Duration, limit int) (n int, err error) {
	return s.purge(ctx, "the attempts' log", func(ctx context.Context, c *pgxpool.Conn, entry uuid.UUID) (int64, error) {
		return s.q.PurgeAttemptLog(ctx, c, &dbsqlc.PurgeAttemptLogParams{Keep: keep.Seconds(), Entry: entry, Most: int32(limit)}) //nolint:gosec // a batch size
	})
}

func (s *ErasureStore) purge(ctx context.Context, what string, run func(context.Context, *pgxpool.Conn, uuid.UUID) (int64, error)) (n int, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		gone, err := run(ctx, c, payment.OnlyCell.NewID())
		if err != nil {
			return fmt.Errorf("purge %s: %w", what, err)
		}
		n = int(gone)
		return nil
	})
	return n, err
}
