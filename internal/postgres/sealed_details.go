package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// OrderDetails implements commands.Store.
func (s *Store) OrderDetails(ctx context.Context, id payment.OrderID) (sealed []byte, revision int, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		sealed, revision, err = orderDetails(ctx, s.q, c, id)
		return err
	})
	return sealed, revision, err
}

// OrderDetails implements commands.Tx.
func (t *txn) OrderDetails(ctx context.Context, id payment.OrderID) ([]byte, int, error) {
	return orderDetails(ctx, t.q, t, id)
}

func orderDetails(ctx context.Context, q *dbsqlc.Queries, db dbsqlc.DBTX, id payment.OrderID) ([]byte, int, error) {
	row, err := q.OrderDetailsRead(ctx, db, string(id))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, 0, nil
	case err != nil:
		return nil, 0, fmt.Errorf("read the details of order %s: %w", id, err)
	}
	return row.Sealed, int(row.Revision), nil
}

// Receipt implements runner.Store.
func (s *Store) Receipt(ctx context.Context, a payment.Attempt) ([]byte, error) {
	return s.details(ctx, a.OrderID, a.ID)
}

func (s *Store) details(ctx context.Context, order payment.OrderID, attempt payment.AttemptID) (sealed []byte, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		sealed, err = s.q.SealedDetailsRead(ctx, c, &dbsqlc.SealedDetailsReadParams{OrderID: string(order), AttemptID: uuid.UUID(attempt)})
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return fmt.Errorf("read the details of order %s: %w", order, err)
		}
		return nil
	})
	return sealed, err
}

// keepDetails keeps the details of an order, and the receipts of attempts.
func (t *txn) keepDetails(ctx context.Context, p *dbsqlc.SealedDetailsInsertParams) error {
	if len(p.OrderIds) == 0 {
		return nil
	}
	if err := t.q.SealedDetailsInsert(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("keep the details of %d: %w", len(p.OrderIds), err)
	}
	return nil
}

// PurgeDetails erases details that are not needed any more, and details that are older than keep. It checks at most
// limit due rows, and returns their number.
func (s *Store) PurgeDetails(ctx context.Context, keep time.Duration, limit int) (int, error) {
	var n int64
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var err error
		n, err = s.q.SealedDetailsPurge(ctx, c, &dbsqlc.SealedDetailsPurgeParams{Keep: keep.Seconds(), Most: int32(limit)}) //nolint:gosec // a batch size
		return err
	})
	return int(n), err
}
