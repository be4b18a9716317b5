package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/backoffice/rejected"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// RejectedStore stores deliveries with a signature that no secret matches.

var _ rejected.Store = (*RejectedStore)(nil)

// RejectedStore keeps rejected deliveries. It is safe for concurrent use.
type RejectedStore struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
}

// NewRejectedStore returns a store on the connections of p.
func NewRejectedStore(p *pool.Pool) *RejectedStore { return &RejectedStore{pool: p, q: dbsqlc.New()} }

// RejectedKeep implements rejected.Store. Processes that store at once may leave an account with more than its bounds until the
// next one does.
func (s *RejectedStore) RejectedKeep(ctx context.Context, deliveries []rejected.Sealed) error {
	p := &dbsqlc.RejectedInsertParams{}
	for _, d := range deliveries {
		p.DeliveryIds, p.Accounts, p.Sealed = append(p.DeliveryIds, d.ID), append(p.Accounts, d.Account), append(p.Sealed, d.Text)
		p.Tried, p.ReceivedAts = append(p.Tried, d.Fingerprint), append(p.ReceivedAts, d.At)
		p.Networks = append(p.Networks, d.Network)
	}
	return s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		if err := s.q.RejectedInsert(ctx, tx, p); err != nil {
			return fmt.Errorf("keep %d rejected deliveries: %w", len(deliveries), err)
		}
		_, err := s.q.RejectedTrim(ctx, tx, &dbsqlc.RejectedTrimParams{
			Accounts: slices.Compact(slices.Sorted(slices.Values(p.Accounts))), Most: rejected.Most, MostBytes: rejected.MostBytes,
		})
		if err != nil {
			return fmt.Errorf("bound the rejected deliveries: %w", err)
		}
		return nil
	})
}

// RejectedUntried implements rejected.Store.
func (s *RejectedStore) RejectedUntried(ctx context.Context, fingerprints map[string][]byte, after uuid.UUID, limit, bytes int) ([]rejected.Sealed, error) {
	p := &dbsqlc.RejectedUntriedParams{
		Accounts: []string{}, Fingerprints: [][]byte{}, After: after, Most: int32(limit), MostBytes: int64(bytes), //nolint:gosec // a batch size
	}
	for account, fingerprint := range fingerprints {
		p.Accounts, p.Fingerprints = append(p.Accounts, account), append(p.Fingerprints, fingerprint)
	}
	var list []rejected.Sealed
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.RejectedUntried(ctx, c, p)
		if err != nil {
			return fmt.Errorf("read rejected deliveries: %w", err)
		}
		list = make([]rejected.Sealed, len(rows))
		for i, row := range rows {
			list[i] = rejected.Sealed{ID: row.DeliveryID, Account: row.Account, Text: row.Sealed, At: row.ReceivedAt}
		}
		return nil
	})
	return list, err
}

// RejectedTried implements rejected.Store.
func (s *RejectedStore) RejectedTried(ctx context.Context, deliveries []rejected.Sealed) error {
	p := &dbsqlc.RejectedTriedParams{}
	for _, d := range deliveries {
		p.DeliveryIds, p.Fingerprints = append(p.DeliveryIds, d.ID), append(p.Fingerprints, d.Fingerprint)
	}
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := s.q.RejectedTried(ctx, c, p); err != nil {
			return fmt.Errorf("note what %d rejected deliveries were tried by: %w", len(deliveries), err)
		}
		return nil
	})
}

// RejectedErase implements rejected.Store.
func (s *RejectedStore) RejectedErase(ctx context.Context, ids []uuid.UUID) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := s.q.RejectedErase(ctx, c, ids); err != nil {
			return fmt.Errorf("erase %d rejected deliveries: %w", len(ids), err)
		}
		return nil
	})
}

// PurgeRejected deletes at most limit deliveries that are older than keep, and returns how many there were.
func (s *RejectedStore) PurgeRejected(ctx context.Context, keep time.Duration, limit int) (int, error) {
	var n int64
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		n, err = s.q.RejectedPurge(ctx, c, &dbsqlc.RejectedPurgeParams{Keep: keep.Seconds(), Most: int32(limit)}) //nolint:gosec // a batch size
		return err
	})
	return int(n), err
}

// Counts returns how many deliveries are kept, by account.
func (s *RejectedStore) Counts(ctx context.Context) (map[string]int64, error) {
	kept := map[string]int64{}
	err := s.pool.Aside(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.RejectedCount(ctx, c)
		if err != nil {
			return fmt.Errorf("count rejected deliveries: %w", err)
		}
		for _, row := range rows {
			kept[row.Account] = row.Kept
		}
		return nil
	})
	return kept, err
}
