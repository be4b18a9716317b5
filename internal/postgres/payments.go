package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// Orders implements lists.Store.
func (s *ListStore) Orders(ctx context.Context, q lists.Query) (list []payment.Order, err error) {
	err = s.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		rows, err := s.q.OrdersList(ctx, tx, &dbsqlc.OrdersListParams{
			BeforeAt: q.Before.At, BeforeID: q.Before.ID, UntilAt: q.Until.At, UntilID: q.Until.ID, CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo,
			UpdatedFrom: q.UpdatedFrom, UpdatedTo: q.UpdatedTo, UserID: string(q.User), Account: q.Account, Currency: string(q.Currency),
			AmountMin: q.AmountMin, AmountMax: q.AmountMax, Status: q.Status, Most: most(q),
		})
		if err != nil {
			return fmt.Errorf("list orders: %w", err)
		}
		found := make([]*dbsqlc.Orders, len(rows))
		for i, row := range rows {
			found[i] = &row.Orders
		}
		orders, err := s.withAttempts(ctx, tx, found)
		for _, row := range found {
			list = append(list, orders[payment.OrderID(row.OrderID)])
		}
		return err
	})
	return list, err
}

// Attempts implements lists.Store.
func (s *ListStore) Attempts(ctx context.Context, q lists.Query) (list []payment.View, err error) {
	err = s.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		rows, err := s.q.AttemptsList(ctx, tx, &dbsqlc.AttemptsListParams{
			BeforeAt: q.Before.At, BeforeID: uuidOf(q.Before.ID), UntilAt: q.Until.At, UntilID: uuidOf(q.Until.ID), CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo,
			UpdatedFrom: q.UpdatedFrom, UpdatedTo: q.UpdatedTo, UserID: string(q.User), Account: q.Account, Currency: string(q.Currency),
			AmountMin: q.AmountMin, AmountMax: q.AmountMax, Status: q.Status, Stage: q.Stage, Most: most(q),
		})
		if err != nil {
			return fmt.Errorf("list attempts: %w", err)
		}
		attempts := make([]payment.Attempt, len(rows))
		var failed []string
		for i, row := range rows {
			attempts[i] = attemptFromRow(&row.PaymentAttempts, row.ReadAt, false)
			if attempts[i].Failed() {
				failed = append(failed, string(attempts[i].OrderID))
			}
		}
		if err := s.addShown(ctx, tx, attempts); err != nil {
			return err
		}
		orders, err := s.ordersOf(ctx, tx, failed)
		for _, a := range attempts {
			list = append(list, payment.ViewOf(a, orders[a.OrderID]))
		}
		return err
	})
	return list, err
}

// ordersOf reads the orders that decide whether another attempt may follow a failed one.
func (s *ListStore) ordersOf(ctx context.Context, db dbsqlc.DBTX, names []string) (map[payment.OrderID]payment.Order, error) {
	if len(names) == 0 {
		return nil, nil
	}
	rows, err := s.q.OrdersRead(ctx, db, names)
	if err != nil {
		return nil, fmt.Errorf("read orders: %w", err)
	}
	return s.withAttempts(ctx, db, rows)
}

// withAttempts gives orders their attempts, and these their disputes.
func (s *ListStore) withAttempts(ctx context.Context, db dbsqlc.DBTX, rows []*dbsqlc.Orders) (map[payment.OrderID]payment.Order, error) {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.OrderID
	}
	found, err := s.q.AttemptsOfOrders(ctx, db, names)
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	attempts := attemptsFromRows(found)
	if err := s.addShown(ctx, db, attempts); err != nil {
		return nil, err
	}
	return ordersFromRows(rows, attempts)
}

// addShown reads what attempts have beside their row, as the function of that name, and the disputes of the attempts that may have disputes.
func (s *ListStore) addShown(ctx context.Context, db dbsqlc.DBTX, attempts []payment.Attempt) error {
	if err := addMethods(ctx, s.q, db, attempts); err != nil {
		return err
	}
	var ids []payment.AttemptID
	for _, a := range attempts {
		if a.Disputes == nil {
			ids = append(ids, a.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := s.q.DisputesOfAttempts(ctx, db, asUUIDs(ids))
	if err != nil {
		return fmt.Errorf("read the disputes of %d attempts: %w", len(ids), err)
	}
	for i := range attempts {
		if attempts[i].Disputes == nil {
			attempts[i].Disputes = []payment.Dispute{}
		}
	}
	for _, d := range disputesFromRows(rows) {
		i := slices.IndexFunc(attempts, func(a payment.Attempt) bool { return a.ID == d.AttemptID })
		attempts[i].Disputes = append(attempts[i].Disputes, d)
	}
	return nil
}
