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

// MethodRemoved implements commands.Store.
func (s *Store) MethodRemoved(ctx context.Context, name payment.MethodName) (removed bool, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.MethodsNamed(ctx, c, (*dbsqlc.MethodsNamedParams)(methodNamesParams([]payment.MethodName{name})))
		if err != nil {
			return fmt.Errorf("read a stored payment method: %w", err)
		}
		removed = len(rows) > 0 && rows[0].RemovedAt != nil
		return nil
	})
	return removed, err
}

// addMethods replaces the stored payment methods of attempts by what events have made of them.
func addMethods(ctx context.Context, q *dbsqlc.Queries, db dbsqlc.DBTX, attempts []payment.Attempt) error {
	var names []payment.MethodName
	for i := range attempts {
		if a := &attempts[i]; a.Saved != nil {
			names = append(names, payment.MethodName{Account: a.Account, Token: a.Saved.Token})
		}
	}
	if len(names) == 0 {
		return nil
	}
	rows, err := q.MethodsNamed(ctx, db, (*dbsqlc.MethodsNamedParams)(methodNamesParams(names)))
	if err != nil {
		return fmt.Errorf("read %d stored payment methods: %w", len(names), err)
	}
	now := make(map[payment.MethodName]payment.StoredMethod, len(rows))
	for _, row := range rows {
		m := methodFromRow(row)
		now[m.Name()] = m
	}
	for i := range attempts {
		a := &attempts[i]
		if a.Saved == nil {
			continue
		}
		if m, known := now[payment.MethodName{Account: a.Account, Token: a.Saved.Token}]; known {
			a.Saved = a.Saved.Now(m)
		}
	}
	return nil
}

// MethodsLock implements changeset.Tx.
func (t *txn) MethodsLock(ctx context.Context, names []payment.MethodName) ([]payment.StoredMethod, error) {
	rows, err := t.q.MethodsLock(ctx, t, methodNamesParams(names))
	if err != nil {
		return nil, fmt.Errorf("lock %d stored payment methods: %w", len(names), err)
	}
	all := make([]payment.StoredMethod, len(rows))
	for i, row := range rows {
		all[i] = methodFromRow(row)
	}
	return all, nil
}

func (t *txn) saveMethods(ctx context.Context, writes []changeset.MethodWrite) error {
	for _, w := range writes {
		p := methodAdvanceParams(w)
		var err error
		if w.Was == 0 {
			err = t.q.MethodInsert(ctx, t.DeferredRows(1, pool.ErrGuard), methodInsertParams(p))
		} else {
			_, err = t.q.MethodAdvance(ctx, t.DeferredRows(1, pool.ErrGuard), p)
		}
		if err != nil {
			return fmt.Errorf("save a stored payment method: %w", err)
		}
	}
	return nil
}

// methodNamesParams returns names as a statement takes them.
func methodNamesParams(names []payment.MethodName) *dbsqlc.MethodsLockParams {
	p := &dbsqlc.MethodsLockParams{}
	for _, n := range names {
		p.Accounts, p.Tokens = append(p.Accounts, n.Account), append(p.Tokens, n.Token)
	}
	return p
}

func methodFromRow(row *dbsqlc.SavedMethods) payment.StoredMethod {
	m := payment.StoredMethod{
		Account:     row.Account,
		SavedMethod: payment.SavedMethod{Token: row.Token, Type: row.Type, Display: row.Display, Expires: row.Expires, RemovedAt: row.RemovedAt},
		UserID:      payment.UserID(row.UserID), OrderID: payment.OrderID(row.OrderID),
		ChangedAt: orZero(row.ChangedAt), RestoredAt: orZero(row.RestoredAt), Version: int(row.Version), UpdatedAt: row.UpdatedAt,
	}
	if row.AttemptID != nil {
		m.AttemptID = payment.AttemptID(*row.AttemptID)
	}
	return m
}

// methodAdvanceParams returns the columns of a stored payment method.
func methodAdvanceParams(w changeset.MethodWrite) *dbsqlc.MethodAdvanceParams {
	m := w.Method
	p := &dbsqlc.MethodAdvanceParams{
		Account: m.Account, Token: m.Token, UserID: string(m.UserID), OrderID: string(m.OrderID), Type: m.Type, Display: m.Display, Expires: m.Expires,
		RemovedAt: m.RemovedAt, ChangedAt: nullTime(m.ChangedAt), RestoredAt: nullTime(m.RestoredAt),
		Version: int32(m.Version), Was: int32(w.Was), UpdatedAt: m.UpdatedAt, //nolint:gosec // versions
	}
	if m.AttemptID != (payment.AttemptID{}) {
		id := uuid.UUID(m.AttemptID)
		p.AttemptID = &id
	}
	return p
}

func methodInsertParams(p *dbsqlc.MethodAdvanceParams) *dbsqlc.MethodInsertParams {
	return &dbsqlc.MethodInsertParams{
		Account: p.Account, Token: p.Token, UserID: p.UserID, OrderID: p.OrderID, AttemptID: p.AttemptID, Type: p.Type, Display: p.Display, Expires: p.Expires,
		RemovedAt: p.RemovedAt, ChangedAt: p.ChangedAt, RestoredAt: p.RestoredAt, Version: p.Version, UpdatedAt: p.UpdatedAt,
	}
}
