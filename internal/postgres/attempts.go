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

// Attempt implements payment.Store.
func (s *Store) Attempt(ctx context.Context, id payment.AttemptID) (payment.Attempt, error) {
	var a payment.Attempt
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.AttemptRead(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read attempt %s: %w", id, missing(err, payment.ErrAttemptNotFound))
		}
		a = attemptFromRow(&row.PaymentAttempts, row.ReadAt, row.Siblings)
		return nil
	})
	return a, err
}

// AttemptByRequest implements payment.Store.
func (s *Store) AttemptByRequest(ctx context.Context, order payment.OrderID, user payment.UserID, request payment.RequestID) (payment.Attempt, error) {
	var a payment.Attempt
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.AttemptByRequest(ctx, c, &dbsqlc.AttemptByRequestParams{
			OrderID: string(order), UserID: string(user), ClientRequestID: string(request),
		})
		if err != nil {
			return fmt.Errorf("read an attempt of order %s: %w", order, missing(err, payment.ErrAttemptNotFound))
		}
		a = attemptFromRow(&row.PaymentAttempts, row.ReadAt, row.Siblings)
		return nil
	})
	return a, err
}

// DueAttempts implements payment.Store.
func (s *Store) DueAttempts(ctx context.Context, limit int) ([]payment.AttemptID, error) {
	var due []payment.AttemptID
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		ids, err := s.q.AttemptsDue(ctx, c, int32(limit)) //nolint:gosec // a batch size
		for _, id := range ids {
			due = append(due, payment.AttemptID(id))
		}
		return err
	})
	return due, err
}

// AttemptInsert implements payment.Tx.
func (t *txn) AttemptInsert(ctx context.Context, a payment.Attempt) error {
	err := t.q.AttemptInsert(ctx, t.later(1, errGuard), &dbsqlc.AttemptInsertParams{
		OrderID: string(a.OrderID), AttemptID: uuid.UUID(a.ID), UserID: string(a.UserID), ClientRequestID: string(a.RequestID),
		RequestHash: a.RequestHash[:], Account: a.Account, Amount: a.Money.Minor, Currency: string(a.Money.Currency),
		CaptureManual: a.Capture == payment.CaptureManual, ReturnUrl: a.ReturnURL, SealedToken: a.SealedToken,
		LeaseUntil: a.LeaseUntil, NextCheckAt: a.NextCheckAt, CreatedAt: a.CreatedAt,
	})
	if err != nil {
		return fmt.Errorf("insert attempt %s: %w", a.ID, err)
	}
	_, err = t.q.ReferencesInsert(ctx, t.later(1, errGuard), &dbsqlc.ReferencesInsertParams{
		Accounts: []string{a.Account}, Refs: []string{a.ID.String()}, OrderIds: []string{string(a.OrderID)}, AttemptIds: []uuid.UUID{uuid.UUID(a.ID)},
	})
	if err != nil {
		return fmt.Errorf("name attempt %s: %w", a.ID, err)
	}
	return t.appendLog(ctx, []payment.Change{{Attempt: a, Transitions: []payment.Transition{a.Born()}}})
}

// AttemptLock implements payment.Tx.
func (t *txn) AttemptLock(ctx context.Context, id payment.AttemptID) (payment.Attempt, error) {
	row, err := t.q.AttemptLock(ctx, t, uuid.UUID(id))
	if err != nil {
		return payment.Attempt{}, fmt.Errorf("lock attempt %s: %w", id, missing(err, payment.ErrAttemptNotFound))
	}
	return attemptFromRow(&row.PaymentAttempts, row.ReadAt, row.Siblings), nil
}

// AttemptsByReference implements payment.Tx.
func (t *txn) AttemptsByReference(ctx context.Context, refs []payment.Reference) ([]payment.Found, error) {
	arg := &dbsqlc.ReferencesFindParams{}
	for _, r := range refs {
		arg.Accounts, arg.Refs = append(arg.Accounts, r.Account), append(arg.Refs, r.Name)
	}
	hits, err := t.q.ReferencesFind(ctx, t, arg)
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	ids := make([]uuid.UUID, 0, len(hits))
	for _, h := range hits {
		ids = append(ids, h.AttemptID)
	}
	rows, err := t.q.AttemptsLockFree(ctx, t, ids)
	if err != nil {
		return nil, fmt.Errorf("lock attempts: %w", err)
	}
	locked := make(map[uuid.UUID]*payment.Attempt, len(rows))
	for _, r := range rows {
		a := attemptFromRow(&r.PaymentAttempts, r.ReadAt, r.Siblings)
		locked[r.PaymentAttempts.AttemptID] = &a
	}
	found := make([]payment.Found, 0, len(hits))
	for _, h := range hits {
		found = append(found, payment.Found{Reference: payment.Reference{Account: h.Account, Name: h.Reference}, ID: payment.AttemptID(h.AttemptID), Attempt: locked[h.AttemptID]})
	}
	return found, nil
}

func attemptsOf(ctx context.Context, q *dbsqlc.Queries, db dbsqlc.DBTX, orders ...string) ([]payment.Attempt, error) {
	rows, err := q.AttemptsOfOrders(ctx, db, orders)
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	attempts := make([]payment.Attempt, 0, len(rows))
	for _, r := range rows {
		attempts = append(attempts, attemptFromRow(&r.PaymentAttempts, r.ReadAt, r.Siblings))
	}
	return attempts, nil
}

func attemptFromRow(row *dbsqlc.PaymentAttempts, readAt time.Time, siblings bool) payment.Attempt {
	a := payment.Attempt{
		ID: payment.AttemptID(row.AttemptID), OrderID: payment.OrderID(row.OrderID), UserID: payment.UserID(row.UserID),
		RequestID: payment.RequestID(row.ClientRequestID), RequestHash: hashFromRow(row.RequestHash),
		Account: row.Account, ProviderPaymentID: row.ProviderPaymentID, State: stateFromRow(row.Status, row.Stage),
		Money:      payment.Money{Minor: row.Amount, Currency: payment.Currency(row.Currency)},
		Authorized: row.AmountAuthorized, Captured: row.AmountCaptured, Reversed: row.AmountReversed, Refunded: row.AmountRefunded,
		Capture: payment.CaptureAutomatic, NextActionURL: row.NextActionUrl, ReturnURL: row.ReturnUrl,
		Intent:      payment.Intent{Kind: payment.IntentKind(row.Intent), Amount: row.IntentAmount, Number: int(row.IntentNumber), At: orZero(row.IntentAt)},
		SealedToken: row.SealedToken, Version: int(row.Version), Fence: row.Fence, LeaseUntil: row.LeaseUntil,
		Checks: int(row.Checks), NextCheckAt: row.NextCheckAt, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
		FinalizedAt: row.FinalizedAt, ReadAt: readAt, Siblings: siblings,
	}
	if row.CaptureManual {
		a.Capture = payment.CaptureManual
	}
	if row.FailureCode != "" {
		a.Failure = &payment.Failure{Code: row.FailureCode, Message: row.FailureMessage, ProviderCode: row.FailureProviderCode}
	}
	return a
}

func stateFromRow(status dbsqlc.AttemptStatus, stage dbsqlc.AttemptStage) fsm.State {
	switch status {
	case dbsqlc.AttemptStatusSucceeded:
		return fsm.Succeeded
	case dbsqlc.AttemptStatusFailed:
		return fsm.Failed
	case dbsqlc.AttemptStatusPending:
	}
	return fsm.State(stage)
}
