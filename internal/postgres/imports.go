package postgres

import (
	"context"
	"fmt"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/ledger/imports"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// InImportTx implements imports.Store.
func (s *Store) InImportTx(ctx context.Context, fn func(ctx context.Context, tx imports.Tx) error) error {
	return s.inTx(ctx, func(ctx context.Context, tx *txn) error { return fn(ctx, tx) })
}

// AttemptsImport implements imports.Tx.
func (t *txn) AttemptsImport(ctx context.Context, attempts []changeset.AttemptWrite) error {
	if err := t.q.AttemptsImport(ctx, t.Deferred(), attemptsImportParams(attempts)); err != nil {
		return fmt.Errorf("insert %d attempts: %w", len(attempts), err)
	}
	if err := t.name(ctx, attempts); err != nil {
		return err
	}
	if err := t.searchedAgain(ctx, attempts); err != nil {
		return err
	}
	if err := t.appendLog(ctx, attempts); err != nil {
		return err
	}
	return t.appendMovements(ctx, attempts)
}

// searchedAgain sets the copy for the search back to before attempts of the past.
func (t *txn) searchedAgain(ctx context.Context, attempts []changeset.AttemptWrite) error {
	if len(attempts) == 0 {
		return nil
	}
	first := attempts[0].Attempt.CreatedAt
	for _, a := range attempts {
		if a.Attempt.CreatedAt.Before(first) {
			first = a.Attempt.CreatedAt
		}
	}
	if err := t.q.SearchCursorsBack(ctx, t.Deferred(), first); err != nil {
		return fmt.Errorf("set the search back to %s: %w", first, err)
	}
	return nil
}

// OrdersMake implements imports.Tx.
func (t *txn) OrdersMake(ctx context.Context, orders []payment.Order) (map[payment.OrderID]payment.Order, error) {
	if err := t.q.CellMapShare(ctx, t.Deferred()); err != nil {
		return nil, fmt.Errorf("insert %d orders: %w", len(orders), err)
	}
	if err := t.q.OrdersInsert(ctx, t.Deferred(), ordersInsertParams(orders)); err != nil {
		return nil, fmt.Errorf("insert %d orders: %w", len(orders), err)
	}
	names, ids := make([]string, len(orders)), make([]payment.OrderID, len(orders))
	for i := range orders {
		names[i], ids[i] = string(orders[i].ID), orders[i].ID
	}
	var maps []*dbsqlc.CellMapsOpenRow
	var rows []*dbsqlc.Orders
	var locked []*dbsqlc.AttemptsOfOrdersLockRow
	err := t.Pipeline(ctx, func(db pipeline.DB) (err error) {
		rows, err = t.q.OrdersLock(ctx, db, names)
		return err
	}, func(db pipeline.DB) (err error) {
		locked, err = t.q.AttemptsOfOrdersLock(ctx, db, names)
		return err
	}, func(db pipeline.DB) (err error) {
		maps, err = t.q.CellMapsOpen(ctx, db)
		return err
	})
	if err == nil {
		err = leadsHere(maps, ids...)
	}
	if err != nil {
		return nil, fmt.Errorf("make and lock %d orders: %w", len(orders), err)
	}
	attempts := make([]payment.Attempt, len(locked))
	for i, r := range locked {
		attempts[i] = attemptFromRow(&r.PaymentAttempts, r.ReadAt, false)
	}
	return ordersFromRows(rows, attempts)
}
