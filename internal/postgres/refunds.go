package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// Refund implements commands.Store.
func (s *Store) Refund(ctx context.Context, id payment.RefundID) (payment.Refund, error) {
	var r payment.Refund
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.RefundRead(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read refund %s: %w", id, pool.Missing(err, payment.ErrRefundNotFound))
		}
		r = refundFromRow(&row.Refunds, row.ReadAt)
		r.LeaseUntil, r.NextAt = row.LeaseUntil, row.NextAt
		return nil
	})
	return r, err
}

// RefundByRequest implements commands.Store.
func (s *Store) RefundByRequest(ctx context.Context, attempt payment.AttemptID, user payment.UserID, request payment.RequestID) (payment.Refund, error) {
	var r payment.Refund
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.RefundByRequest(ctx, c, &dbsqlc.RefundByRequestParams{
			AttemptID: uuid.UUID(attempt), UserID: string(user), ClientRequestID: string(request),
		})
		if err != nil {
			return fmt.Errorf("read a refund of attempt %s: %w", attempt, pool.Missing(err, payment.ErrRefundNotFound))
		}
		r = refundFromRow(&row.Refunds, row.ReadAt)
		r.LeaseUntil, r.NextAt = row.LeaseUntil, row.NextAt
		return nil
	})
	if err == nil {
		err = s.promised()
	}
	return r, err
}

// RefundsLock implements changeset.Tx.
func (t *txn) RefundsLock(ctx context.Context, ids []payment.AttemptID) ([]payment.Refund, error) {
	rows, err := t.q.RefundsOfAttempts(ctx, t, asUUIDs(ids))
	if err != nil {
		return nil, fmt.Errorf("lock refunds: %w", err)
	}
	refunds := make([]payment.Refund, 0, len(rows))
	for _, row := range rows {
		refunds = append(refunds, refundFromRow(&row.Refunds, row.ReadAt))
	}
	return refunds, nil
}

func (t *txn) saveRefunds(ctx context.Context, writes []changeset.RefundWrite) error {
	for _, w := range writes {
		var err error
		if w.Was == 0 {
			err = t.insertRefund(ctx, w.Refund)
		} else {
			err = t.advanceRefund(ctx, w.Refund, w.Was)
		}
		if err != nil {
			return fmt.Errorf("save refund %s: %w", w.Refund.ID, err)
		}
	}
	return nil
}

func (t *txn) insertRefund(ctx context.Context, r payment.Refund) error {
	return t.q.RefundInsert(ctx, t.DeferredRows(1, pool.ErrGuard), refundInsertParams(r))
}

func (t *txn) advanceRefund(ctx context.Context, r payment.Refund, was int) error {
	_, err := t.q.RefundAdvance(ctx, t.DeferredRows(1, pool.ErrGuard), refundAdvanceParams(r, was))
	return err
}
