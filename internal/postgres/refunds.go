package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// Refund implements payment.Store.
func (s *Store) Refund(ctx context.Context, id payment.RefundID) (payment.Refund, error) {
	var r payment.Refund
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.RefundRead(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read refund %s: %w", id, missing(err, payment.ErrRefundNotFound))
		}
		r = refundFromRow(&row.Refunds, row.ReadAt)
		return nil
	})
	return r, err
}

// RefundByRequest implements payment.Store.
func (s *Store) RefundByRequest(ctx context.Context, attempt payment.AttemptID, user payment.UserID, request payment.RequestID) (payment.Refund, error) {
	var r payment.Refund
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.RefundByRequest(ctx, c, &dbsqlc.RefundByRequestParams{
			AttemptID: uuid.UUID(attempt), UserID: string(user), ClientRequestID: string(request),
		})
		if err != nil {
			return fmt.Errorf("read a refund of attempt %s: %w", attempt, missing(err, payment.ErrRefundNotFound))
		}
		r = refundFromRow(&row.Refunds, row.ReadAt)
		return nil
	})
	return r, err
}

// DueRefunds implements payment.Store.
func (s *Store) DueRefunds(ctx context.Context, account string, limit int) ([]payment.RefundID, error) {
	var due []payment.RefundID
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		ids, err := s.q.RefundsDue(ctx, c, &dbsqlc.RefundsDueParams{Account: account, Most: int32(limit)}) //nolint:gosec // a batch size
		for _, id := range ids {
			due = append(due, payment.RefundID(id))
		}
		return err
	})
	return due, err
}

// RefundsLock implements payment.Tx.
func (t *txn) RefundsLock(ctx context.Context, ids []payment.AttemptID) ([]payment.Refund, error) {
	rows, err := t.q.RefundsLock(ctx, t, uuids(ids))
	if err != nil {
		return nil, fmt.Errorf("lock refunds: %w", err)
	}
	refunds := make([]payment.Refund, 0, len(rows))
	for _, row := range rows {
		refunds = append(refunds, refundFromRow(&row.Refunds, row.ReadAt))
	}
	return refunds, nil
}

// RefundInsert implements payment.Tx.
func (t *txn) RefundInsert(ctx context.Context, r payment.Refund) error {
	failure := failureOf(r.Failure)
	p := &dbsqlc.RefundInsertParams{
		OrderID: string(r.OrderID), RefundID: uuid.UUID(r.ID), AttemptID: uuid.UUID(r.AttemptID), Origin: string(r.Origin),
		Account: r.Account, ProviderRefundID: r.ProviderRefundID,
		Status: dbsqlc.RefundStatus(r.State), Amount: r.Money.Minor, Currency: string(r.Money.Currency), Reason: r.Reason,
		FailureCode: failure.Code, FailureMessage: failure.Message, FailureProviderCode: failure.ProviderCode, Reversed: r.Reversed,
		Version: int32(r.Version), Fence: r.Fence, LeaseUntil: r.LeaseUntil, Checks: int32(r.Checks), NextCheckAt: r.NextCheckAt, //nolint:gosec // counts
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, FinalizedAt: r.FinalizedAt,
	}
	if r.Origin == payment.RefundByRequest {
		user, request := string(r.UserID), string(r.RequestID)
		p.UserID, p.ClientRequestID, p.RequestHash = &user, &request, r.RequestHash[:]
	}
	if err := t.q.RefundInsert(ctx, t.DeferredRows(1, errGuard), p); err != nil {
		return fmt.Errorf("insert refund %s: %w", r.ID, err)
	}
	return nil
}

// RefundSave implements payment.Tx.
func (t *txn) RefundSave(ctx context.Context, r payment.Refund, was int) error {
	failure := failureOf(r.Failure)
	_, err := t.q.RefundAdvance(ctx, t.DeferredRows(1, errGuard), &dbsqlc.RefundAdvanceParams{
		OrderID: string(r.OrderID), RefundID: uuid.UUID(r.ID), Was: int32(was), //nolint:gosec // a version
		ProviderRefundID: r.ProviderRefundID, FormerProviderRefundID: r.FormerProviderRefundID,
		Status:      dbsqlc.RefundStatus(r.State),
		FailureCode: failure.Code, FailureMessage: failure.Message, FailureProviderCode: failure.ProviderCode, Reversed: r.Reversed,
		Version: int32(r.Version), Fence: r.Fence, LeaseUntil: r.LeaseUntil, Checks: int32(r.Checks), NextCheckAt: r.NextCheckAt, //nolint:gosec // counts
		UpdatedAt: r.UpdatedAt, FinalizedAt: r.FinalizedAt,
	})
	if err != nil {
		return fmt.Errorf("save refund %s: %w", r.ID, err)
	}
	return nil
}

func failureOf(f *payment.Failure) payment.Failure {
	if f == nil {
		return payment.Failure{}
	}
	return *f
}

func refundFromRow(row *dbsqlc.Refunds, readAt time.Time) payment.Refund {
	r := payment.Refund{
		ID: payment.RefundID(row.RefundID), OrderID: payment.OrderID(row.OrderID), AttemptID: payment.AttemptID(row.AttemptID),
		Origin: payment.RefundOrigin(row.Origin), UserID: payment.UserID(orEmpty(row.UserID)), RequestID: payment.RequestID(orEmpty(row.ClientRequestID)),
		RequestHash: hashFromRow(row.RequestHash), Account: row.Account, ProviderRefundID: row.ProviderRefundID,
		FormerProviderRefundID: row.FormerProviderRefundID, State: fsm.RefundState(row.Status),
		Money:  payment.Money{Minor: row.Amount, Currency: payment.Currency(row.Currency)},
		Reason: row.Reason, Reversed: row.Reversed, Version: int(row.Version), Fence: row.Fence, LeaseUntil: row.LeaseUntil,
		Checks: int(row.Checks), NextCheckAt: row.NextCheckAt, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
		FinalizedAt: row.FinalizedAt, ReadAt: readAt,
	}
	if row.FailureCode != "" {
		r.Failure = &payment.Failure{Code: row.FailureCode, Message: row.FailureMessage, ProviderCode: row.FailureProviderCode}
	}
	return r
}
