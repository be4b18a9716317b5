package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// Order implements commands.Store.
func (s *Store) Order(ctx context.Context, id payment.OrderID) (payment.Order, error) {
	var o payment.Order
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var err error
		o, err = readOrder(ctx, s.q, c, id)
		return err
	})
	return o, err
}

// OrderRead implements commands.Tx.
func (t *txn) OrderRead(ctx context.Context, id payment.OrderID) (payment.Order, error) {
	return readOrder(ctx, t.q, t, id)
}

func readOrder(ctx context.Context, q *dbsqlc.Queries, db dbsqlc.DBTX, id payment.OrderID) (payment.Order, error) {
	row, err := q.OrderRead(ctx, db, string(id))
	if err != nil {
		return payment.Order{}, fmt.Errorf("read order %s: %w", id, pool.Missing(err, payment.ErrOrderNotFound))
	}
	o, err := orderFromRow(row)
	if err != nil {
		return o, err
	}
	o.Attempts, err = attemptsOf(ctx, q, db, string(id))
	if err == nil {
		err = addShown(ctx, q, db, o.Attempts)
	}
	return o, err
}

// OrderInsert implements commands.Tx.
func (t *txn) OrderInsert(ctx context.Context, o payment.Order) (bool, error) {
	p, err := orderInsertParams(o)
	if err != nil {
		return false, err
	}
	var inserted []string
	var maps []*dbsqlc.CellMapsOpenRow
	err = t.Pipeline(ctx, func(db pipeline.DB) error {
		return t.q.CellMapShare(ctx, db)
	}, func(db pipeline.DB) (err error) {
		maps, err = t.q.CellMapsOpen(ctx, db)
		return err
	}, func(db pipeline.DB) (err error) {
		inserted, err = t.q.OrderInsert(ctx, db, p)
		return err
	})
	if err == nil && len(inserted) == 1 {
		err = leadsHere(maps, o.ID)
	}
	if err != nil {
		return false, fmt.Errorf("insert order %s: %w", o.ID, err)
	}
	if len(inserted) == 1 {
		t.witness(watermark.Commit{Kind: watermark.CommitOrder, Order: string(o.ID), At: o.CreatedAt})
	}
	if len(inserted) == 1 && o.Detailed {
		err = t.keepDetails(ctx, orderDetailsParams(o))
	}
	return len(inserted) == 1, err
}

// OrderByRequest implements commands.Tx.
func (t *txn) OrderByRequest(ctx context.Context, user payment.UserID, request payment.RequestID) (payment.Order, error) {
	row, err := t.q.OrderByRequest(ctx, t, &dbsqlc.OrderByRequestParams{UserID: string(user), ClientRequestID: string(request)})
	if err != nil {
		return payment.Order{}, fmt.Errorf("read an order by its request: %w", pool.Missing(err, payment.ErrOrderNotFound))
	}
	return orderFromRow(row)
}

// OrderLock implements changeset.Tx.
func (t *txn) OrderLock(ctx context.Context, id payment.OrderID) (payment.Order, error) {
	row, err := t.q.OrderLock(ctx, t, string(id))
	if err != nil {
		return payment.Order{}, fmt.Errorf("lock order %s: %w", id, pool.Missing(err, payment.ErrOrderNotFound))
	}
	o, err := orderFromRow(row)
	if err != nil {
		return o, err
	}
	var rows []*dbsqlc.AttemptsOfOrderLockRow
	beside := &besideReads{tx: t, orders: []string{string(id)}}
	err = t.Pipeline(ctx, append([]pipeline.Query{func(db pipeline.DB) (err error) {
		rows, err = t.q.AttemptsOfOrderLock(ctx, db, string(id))
		return err
	}}, beside.reads(ctx)...)...)
	if err != nil {
		return o, fmt.Errorf("lock the attempts of order %s: %w", id, err)
	}
	for _, r := range rows {
		a := attemptFromRow(&r.PaymentAttempts, r.ReadAt, len(rows) > 1)
		beside.fill(&a)
		o.Attempts = append(o.Attempts, a)
	}
	return o, nil
}

// OrdersTake implements commands.Tx.
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
		if records[name], err = keyFromRow(k); err != nil {
			return nil, nil, err
		}
	}
	orders, err := ordersFromRows(locked, attempts)
	return records, orders, err
}

// OrderCancel implements commands.Tx.
func (t *txn) OrderCancel(ctx context.Context, id payment.OrderID, cancelled outbox.Message) error {
	if err := t.q.OrderCancel(ctx, t, &dbsqlc.OrderCancelParams{OrderID: string(id), At: t.Now()}); err != nil {
		return fmt.Errorf("cancel order %s: %w", id, err)
	}
	t.witness(watermark.Commit{Kind: watermark.CommitCancelled, Order: string(id), At: t.Now()})
	return t.publish(ctx, []outbox.Message{cancelled})
}

// OrderAmend implements commands.Tx.
func (t *txn) OrderAmend(ctx context.Context, a commands.Amendment) error {
	p, err := orderAmendParams(a.Order)
	if err != nil {
		return err
	}
	o := a.Order
	fail := func(err error) error { return fmt.Errorf("amend order %s: %w", o.ID, err) }
	if _, err := t.q.OrderAmend(ctx, t.DeferredRows(1, pool.ErrGuard), p); err != nil {
		return fail(err)
	}
	entry := payment.OnlyCell.NewID()
	t.witness(watermark.Commit{Kind: watermark.CommitAmended, Order: string(o.ID), ID: entry, At: o.UpdatedAt})
	if err := t.q.OrderAmendLog(ctx, t.Deferred(), &dbsqlc.OrderAmendLogParams{
		OrderID: string(o.ID), EntryID: entry, What: commands.AmendName, Actor: a.Actor, Key: string(a.Key), Outcome: a.Prices, At: o.UpdatedAt,
	}); err != nil {
		return fail(err)
	}
	words := finder.OrderWords(finder.Order{ID: string(o.ID), User: string(o.UserID), Description: o.Description, Metadata: o.Metadata, At: o.CreatedAt})
	if err := t.q.OrderAmendWords(ctx, t.Deferred(), &dbsqlc.OrderAmendWordsParams{OrderID: string(o.ID), Words: strings.Join(words, " ")}); err != nil {
		return fail(err)
	}
	switch {
	case !a.Details:
	case o.Detailed:
		err = t.q.OrderDetailsReplace(ctx, t.Deferred(), &dbsqlc.OrderDetailsReplaceParams{OrderID: string(o.ID), AttemptID: uuid.Nil, Sealed: o.SealedDetails, At: o.UpdatedAt})
	default:
		err = t.q.OrderDetailsRemove(ctx, t.Deferred(), string(o.ID))
	}
	if err != nil {
		return fail(err)
	}
	return nil
}

// OrderAccept implements commands.Tx.
func (t *txn) OrderAccept(ctx context.Context, id payment.OrderID, attempt payment.AttemptID, paid outbox.Message) error {
	_, err := t.q.OrderAccept(ctx, t.DeferredRows(1, pool.ErrGuard), &dbsqlc.OrderAcceptParams{OrderID: string(id), AttemptID: uuid.UUID(attempt), At: t.Now()})
	if err != nil {
		return fmt.Errorf("accept what order %s holds: %w", id, err)
	}
	t.witness(watermark.Commit{Kind: watermark.CommitAccepted, Order: string(id), ID: uuid.UUID(attempt), At: t.Now()})
	return t.publish(ctx, []outbox.Message{paid})
}

// OrdersBeside implements changeset.Tx.
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
	beside := &besideReads{tx: t, orders: orderNames(stop)}
	if len(stop) > 0 {
		reads = slices.Insert(reads, 0, append([]pipeline.Query{func(db pipeline.DB) (err error) {
			live, err = t.q.AttemptsLiveLockFree(ctx, db, orderNames(stop))
			return err
		}}, beside.reads(ctx)...)...)
	}
	if err := t.Pipeline(ctx, reads...); err != nil {
		return nil, nil, fmt.Errorf("read %d orders beside their attempts: %w", len(ids), err)
	}
	locked := make([]payment.Attempt, len(live))
	for i, r := range live {
		locked[i] = attemptFromRow(&r.PaymentAttempts, r.ReadAt, r.Siblings)
		beside.fill(&locked[i])
	}
	orders, err := ordersFromRows(rows, attempts)
	return orders, locked, err
}

// Orders implements commands.Store.
func (s *Store) Orders(ctx context.Context, ids []payment.OrderID) (map[payment.OrderID]payment.Order, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var orders map[payment.OrderID]payment.Order
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
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
