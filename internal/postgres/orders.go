package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// Order implements payment.Store.
func (s *Store) Order(ctx context.Context, id payment.OrderID) (payment.Order, error) {
	var o payment.Order
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var err error
		o, err = readOrder(ctx, s.q, c, id)
		return err
	})
	return o, err
}

// OrderRead implements payment.Tx.
func (t *txn) OrderRead(ctx context.Context, id payment.OrderID) (payment.Order, error) {
	return readOrder(ctx, t.q, t, id)
}

func readOrder(ctx context.Context, q *dbsqlc.Queries, db dbsqlc.DBTX, id payment.OrderID) (payment.Order, error) {
	row, err := q.OrderRead(ctx, db, string(id))
	if err != nil {
		return payment.Order{}, fmt.Errorf("read order %s: %w", id, missing(err, payment.ErrOrderNotFound))
	}
	o, err := orderFromRow(row)
	if err != nil {
		return o, err
	}
	o.Attempts, err = attemptsOf(ctx, q, db, string(id))
	return o, err
}

// OrderInsert implements payment.Tx.
func (t *txn) OrderInsert(ctx context.Context, o payment.Order) (bool, error) {
	metadata, err := json.Marshal(o.Metadata)
	if err != nil {
		return false, fmt.Errorf("encode metadata of order %s: %w", o.ID, err)
	}
	if o.Metadata == nil {
		metadata = []byte("{}")
	}
	rows, err := t.q.OrderInsert(ctx, t, &dbsqlc.OrderInsertParams{
		OrderID: string(o.ID), UserID: string(o.UserID), CreatedBy: string(o.CreatedBy), ClientRequestID: string(o.RequestID), RequestHash: o.RequestHash[:],
		Amount: o.Money.Minor, Currency: string(o.Money.Currency), Description: o.Description, Metadata: metadata, CreatedAt: o.CreatedAt,
	})
	if err != nil {
		return false, fmt.Errorf("insert order %s: %w", o.ID, err)
	}
	return rows == 1, nil
}

// OrderByRequest implements payment.Tx.
func (t *txn) OrderByRequest(ctx context.Context, user payment.UserID, request payment.RequestID) (payment.Order, error) {
	row, err := t.q.OrderByRequest(ctx, t, &dbsqlc.OrderByRequestParams{UserID: string(user), ClientRequestID: string(request)})
	if err != nil {
		return payment.Order{}, fmt.Errorf("read an order by its request: %w", missing(err, payment.ErrOrderNotFound))
	}
	return orderFromRow(row)
}

// OrderLock implements payment.Tx.
func (t *txn) OrderLock(ctx context.Context, id payment.OrderID) (payment.Order, error) {
	row, err := t.q.OrderLock(ctx, t, string(id))
	if err != nil {
		return payment.Order{}, fmt.Errorf("lock order %s: %w", id, missing(err, payment.ErrOrderNotFound))
	}
	o, err := orderFromRow(row)
	if err != nil {
		return o, err
	}
	rows, err := t.q.AttemptsOfOrderLock(ctx, t, string(id))
	if err != nil {
		return o, fmt.Errorf("lock the attempts of order %s: %w", id, err)
	}
	for _, r := range rows {
		o.Attempts = append(o.Attempts, attemptFromRow(&r.PaymentAttempts, r.ReadAt, len(rows) > 1))
	}
	return o, nil
}

// OrdersTake implements payment.Tx.
func (t *txn) OrdersTake(ctx context.Context, keys []idempotency.Request, ids []payment.OrderID) (map[idempotency.Name]idempotency.Record, map[payment.OrderID]payment.Order, error) {
	p := &dbsqlc.KeysReadParams{}
	for _, r := range keys {
		p.UserIds, p.Endpoints, p.Keys = append(p.UserIds, r.User), append(p.Endpoints, r.Endpoint), append(p.Keys, string(r.Key))
	}
	var there []*dbsqlc.KeysReadRow
	var locked []*dbsqlc.Orders
	var attempts []payment.Attempt
	err := t.Pipeline(ctx, func(db pipeline.DB) (err error) {
		there, err = t.q.KeysRead(ctx, db, p)
		return err
	}, func(db pipeline.DB) (err error) {
		locked, err = t.q.OrdersLockFree(ctx, db, orderNames(ids))
		return err
	}, func(db pipeline.DB) (err error) {
		attempts, err = attemptsOf(ctx, t.q, db, orderNames(ids)...)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("take %d orders: %w", len(ids), err)
	}
	records := make(map[idempotency.Name]idempotency.Record, len(there))
	for _, row := range there {
		k := &row.IdempotencyKeys
		if row.Expired {
			continue
		}
		name := idempotency.Name{User: k.UserID, Endpoint: k.Endpoint, Key: idempotency.Key(k.Key)}
		if records[name], err = recordFromRow(k); err != nil {
			return nil, nil, err
		}
	}
	orders, err := ordersFromRows(locked, attempts)
	return records, orders, err
}

func orderNames(ids []payment.OrderID) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = string(id)
	}
	return names
}

// ordersFromRows gives orders their attempts; those of other orders are left out.
func ordersFromRows(rows []*dbsqlc.Orders, attempts []payment.Attempt) (map[payment.OrderID]payment.Order, error) {
	orders := make(map[payment.OrderID]payment.Order, len(rows))
	for _, row := range rows {
		var err error
		if orders[payment.OrderID(row.OrderID)], err = orderFromRow(row); err != nil {
			return nil, err
		}
	}
	for _, a := range attempts {
		if o, ok := orders[a.OrderID]; ok {
			o.Attempts = append(o.Attempts, a)
			orders[a.OrderID] = o
		}
	}
	return orders, nil
}

// OrderCancel implements payment.Tx.
func (t *txn) OrderCancel(ctx context.Context, id payment.OrderID) error {
	if err := t.q.OrderCancel(ctx, t, &dbsqlc.OrderCancelParams{OrderID: string(id), At: t.Now()}); err != nil {
		return fmt.Errorf("cancel order %s: %w", id, err)
	}
	return nil
}

// OrderAccept implements payment.Tx.
func (t *txn) OrderAccept(ctx context.Context, id payment.OrderID, attempt payment.AttemptID) error {
	_, err := t.q.OrderAccept(ctx, t.DeferredRows(1, errGuard), &dbsqlc.OrderAcceptParams{OrderID: string(id), AttemptID: uuid.UUID(attempt), At: t.Now()})
	if err != nil {
		return fmt.Errorf("accept what order %s holds: %w", id, err)
	}
	return nil
}

// OrdersBeside implements payment.Tx.
func (t *txn) OrdersBeside(ctx context.Context, ids, stop []payment.OrderID) (map[payment.OrderID]payment.Order, []payment.Attempt, error) {
	var live []*dbsqlc.AttemptsLiveLockFreeRow
	var rows []*dbsqlc.Orders
	var attempts []payment.Attempt
	names := orderNames(ids)
	reads := []pipeline.Query{func(db pipeline.DB) (err error) {
		rows, err = t.q.OrdersRead(ctx, db, names)
		return err
	}, func(db pipeline.DB) (err error) {
		attempts, err = attemptsOf(ctx, t.q, db, names...)
		return err
	}}
	if len(stop) > 0 {
		reads = slices.Insert(reads, 0, func(db pipeline.DB) (err error) {
			live, err = t.q.AttemptsLiveLockFree(ctx, db, orderNames(stop))
			return err
		})
	}
	if err := t.Pipeline(ctx, reads...); err != nil {
		return nil, nil, fmt.Errorf("read %d orders beside their attempts: %w", len(ids), err)
	}
	locked := make([]payment.Attempt, len(live))
	for i, r := range live {
		locked[i] = attemptFromRow(&r.PaymentAttempts, r.ReadAt, r.Siblings)
	}
	orders, err := ordersFromRows(rows, attempts)
	return orders, locked, err
}

// Orders implements payment.Store.
func (s *Store) Orders(ctx context.Context, ids []payment.OrderID) (map[payment.OrderID]payment.Order, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var orders map[payment.OrderID]payment.Order
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		orders, err = readOrders(ctx, s.q, c, orderNames(ids))
		return err
	})
	return orders, err
}

func readOrders(ctx context.Context, q *dbsqlc.Queries, db dbsqlc.DBTX, names []string) (map[payment.OrderID]payment.Order, error) {
	rows, err := q.OrdersRead(ctx, db, names)
	if err != nil {
		return nil, fmt.Errorf("read orders: %w", err)
	}
	attempts, err := attemptsOf(ctx, q, db, names...)
	if err != nil {
		return nil, err
	}
	return ordersFromRows(rows, attempts)
}

func orderFromRow(row *dbsqlc.Orders) (payment.Order, error) {
	o := payment.Order{
		ID: payment.OrderID(row.OrderID), UserID: payment.UserID(row.UserID), RequestID: payment.RequestID(row.ClientRequestID),
		CreatedBy: payment.Role(row.CreatedBy), RequestHash: hashFromRow(row.RequestHash),
		Money:       payment.Money{Minor: row.Amount, Currency: payment.Currency(row.Currency)},
		Description: row.Description, Accepted: (*payment.AttemptID)(row.AcceptedAttemptID), CancelRequestedAt: row.CancelRequestedAt, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
	if err := json.Unmarshal(row.Metadata, &o.Metadata); err != nil {
		return o, fmt.Errorf("decode metadata of order %s: %w", o.ID, err)
	}
	return o, nil
}
