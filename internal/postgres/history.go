package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/activity"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// AttemptHistory implements support.Store with a few statements on one connection. Only the later statements see a
// change between them.
func (s *SupportStore) AttemptHistory(ctx context.Context, id payment.AttemptID) (support.AttemptHistory, error) {
	var c support.AttemptHistory
	err := s.pool.Read(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		row, err := s.q.AttemptRead(ctx, conn, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read attempt %s: %w", id, pool.Missing(err, payment.ErrAttemptNotFound))
		}
		c = support.AttemptHistory{Attempt: shownAttempt(&row.PaymentAttempts, row.ReadAt, row.HasDisputes), ReadAt: row.ReadAt}
		if c.Order, err = s.order(ctx, conn, c.Attempt.OrderID); err != nil {
			return err
		}
		if err := s.besideAttempt(ctx, conn, &c.Attempt); err != nil {
			return err
		}
		if err := s.movements(ctx, conn, &c); err != nil {
			return err
		}
		for _, read := range []func(context.Context, dbsqlc.DBTX, *support.AttemptHistory) error{s.course, s.events, s.consequences} {
			if err := read(ctx, conn, &c); err != nil {
				return fmt.Errorf("read the course of attempt %s: %w", id, err)
			}
		}
		return nil
	})
	return c, err
}

func (s *SupportStore) order(ctx context.Context, db dbsqlc.DBTX, id payment.OrderID) (payment.Order, error) {
	row, err := s.q.OrderRead(ctx, db, string(id))
	if err != nil {
		return payment.Order{}, fmt.Errorf("read order %s: %w", id, pool.Missing(err, payment.ErrOrderNotFound))
	}
	o, err := orderFromRow(row)
	if err != nil {
		return o, err
	}
	attempts, err := s.q.AttemptsOfOrders(ctx, db, []string{string(id)})
	if err != nil {
		return o, fmt.Errorf("read attempts: %w", err)
	}
	o.Attempts = attemptsFromRows(attempts)
	return o, addMethods(ctx, s.q, db, o.Attempts)
}

// movements reads the movements of all attempts of the order.
func (s *SupportStore) movements(ctx context.Context, db dbsqlc.DBTX, c *support.AttemptHistory) error {
	ids := make([]uuid.UUID, len(c.Order.Attempts))
	for i, a := range c.Order.Attempts {
		ids[i] = uuid.UUID(a.ID)
	}
	rows, err := s.q.MovementsOfAttempts(ctx, db, ids)
	if err != nil {
		return fmt.Errorf("read the movements of order %s: %w", c.Order.ID, err)
	}
	all := movementsFromRows(rows)
	for i := range c.Order.Attempts {
		c.Order.Attempts[i].Movements = all[c.Order.Attempts[i].ID]
	}
	c.Attempt.Movements = all[c.Attempt.ID]
	return nil
}

// besideAttempt reads the operations and the disputes of an attempt.
func (s *SupportStore) besideAttempt(ctx context.Context, db dbsqlc.DBTX, a *payment.Attempt) error {
	ids := []uuid.UUID{uuid.UUID(a.ID)}
	operations, err := s.q.OperationsOfAttempts(ctx, db, ids)
	if err != nil {
		return fmt.Errorf("read the operations of attempt %s: %w", a.ID, err)
	}
	a.Operations = operationsFromRows(operations)[a.ID]
	if a.Disputes != nil {
		return nil // it has none
	}
	disputes, err := s.q.DisputesOfAttempts(ctx, db, ids)
	if err != nil {
		return fmt.Errorf("read the disputes of attempt %s: %w", a.ID, err)
	}
	a.Disputes = disputesFromRows(disputes)
	return nil
}

// course reads the attempt's own log and the notes around it.
func (s *SupportStore) course(ctx context.Context, db dbsqlc.DBTX, c *support.AttemptHistory) error {
	moves, err := s.q.TransitionsOfAttempt(ctx, db, &dbsqlc.TransitionsOfAttemptParams{
		OrderID: string(c.Attempt.OrderID), AttemptID: uuid.UUID(c.Attempt.ID),
	})
	if err != nil {
		return err
	}
	for _, row := range moves {
		t, err := transitionFromRow(row)
		if err != nil {
			return err
		}
		c.Transitions = append(c.Transitions, t)
	}
	c.Activity, err = s.log(ctx, db, c.Attempt.OrderID, c.Attempt.ID)
	return err
}

// log reads the notes of an attempt or its order, oldest first; without an attempt, only the order's.
func (s *SupportStore) log(ctx context.Context, db dbsqlc.DBTX, order payment.OrderID, id payment.AttemptID) (notes []activity.Note, err error) {
	rows, err := s.q.LogOfAttempt(ctx, db, &dbsqlc.LogOfAttemptParams{OrderID: string(order), AttemptID: uuid.UUID(id)})
	for _, row := range slices.Backward(rows) {
		notes = append(notes, noteFromRow(row))
	}
	return notes, err
}

// OrderActivity implements support.Store.
func (s *SupportStore) OrderActivity(ctx context.Context, id payment.OrderID) (notes []activity.Note, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		if notes, err = s.log(ctx, conn, id, payment.AttemptID{}); err != nil {
			return fmt.Errorf("read what happened around order %s: %w", id, err)
		}
		return nil
	})
	return notes, err
}

func (s *SupportStore) events(ctx context.Context, db dbsqlc.DBTX, c *support.AttemptHistory) error {
	rows, err := s.q.EventsOfAttempt(ctx, db, uuid.UUID(c.Attempt.ID))
	if err != nil {
		return err
	}
	for _, row := range rows {
		e, err := s.shownFromRow(ctx, (*dbsqlc.EventReadRow)(row))
		if err != nil {
			return err
		}
		c.Events = append(c.Events, e)
	}
	return nil
}

// consequences reads refunds, updates for the merchant, and staff's actions on the attempt.
func (s *SupportStore) consequences(ctx context.Context, db dbsqlc.DBTX, c *support.AttemptHistory) error {
	id := uuid.UUID(c.Attempt.ID)
	refunds, err := s.q.RefundsOfAttempt(ctx, db, id)
	if err != nil {
		return err
	}
	for _, row := range refunds {
		c.Refunds = append(c.Refunds, refundFromRow(&row.Refunds, row.ReadAt))
	}
	settled, err := s.q.SettlementsOfAttempt(ctx, db, id)
	if err != nil {
		return err
	}
	c.Settlements = settlementsFromRows(settled)
	if err := s.messages(ctx, db, c); err != nil {
		return err
	}
	open, err := s.q.DiscrepanciesOfAttempt(ctx, db, id)
	if err != nil {
		return err
	}
	for _, row := range open {
		c.Discrepancies = append(c.Discrepancies, support.Discrepancy{
			Discrepancy: discrepancyFromRow(&row.Discrepancies), EventID: (*payment.EventID)(row.EventID),
		})
	}
	audit, err := s.q.AuditOfAttempt(ctx, db, id)
	if err != nil {
		return err
	}
	for _, row := range slices.Backward(audit) {
		d, err := entryFromRow(row)
		if err != nil {
			return err
		}
		c.Audit = append(c.Audit, d)
	}
	return s.jobs(ctx, db, c)
}

// jobs reads which of the attempt's events a bulk job replayed: the audit log has one entry for the whole job.
func (s *SupportStore) jobs(ctx context.Context, db dbsqlc.DBTX, c *support.AttemptHistory) error {
	rows, err := s.q.JobItemsOfAttempt(ctx, db, uuid.UUID(c.Attempt.ID))
	if err != nil {
		return err
	}
	for _, row := range rows {
		c.Audit = append(c.Audit, support.AuditEntry{
			ID: row.ItemID, ActionID: row.DeedID, Actor: row.Actor, Action: support.ReplayedMany, TargetType: "event", Target: row.ItemID.String(),
			OrderID: c.Attempt.OrderID, AttemptID: &c.Attempt.ID, Reason: row.Reason, Outcome: support.Done, At: row.At,
			Detail: map[string]any{"job_id": row.JobID.String()},
		})
	}
	return nil
}

// messages reads the updates for the merchant, and how each stands with the endpoints.
func (s *SupportStore) messages(ctx context.Context, db dbsqlc.DBTX, c *support.AttemptHistory) error {
	order, id := string(c.Attempt.OrderID), uuid.UUID(c.Attempt.ID)
	rows, err := s.q.OutboxOfAttempt(ctx, db, &dbsqlc.OutboxOfAttemptParams{OrderID: order, AttemptID: &id})
	if err != nil || len(rows) == 0 {
		return err
	}
	at, ids := make(map[uuid.UUID]int, len(rows)), make([]uuid.UUID, len(rows))
	for i, row := range rows {
		at[row.MessageID], ids[i] = i, row.MessageID
		c.Messages = append(c.Messages, support.OutboxMessage{ID: row.MessageID, Type: row.Type, Version: int(row.Version), CreatedAt: row.CreatedAt})
	}
	deliveries, err := s.q.OutboxDeliveries(ctx, db, &dbsqlc.OutboxDeliveriesParams{OrderID: order, MessageIds: ids})
	for _, row := range deliveries {
		m := &c.Messages[at[row.MessageID]]
		m.Deliveries = append(m.Deliveries, deliveryFromRow(row))
	}
	return err
}

func deliveryFromRow(row *dbsqlc.OutboxDeliveriesRow) support.Delivery {
	d := support.Delivery{Endpoint: row.Endpoint, State: support.DeliveryOver, Tries: int(row.Tries), Gone: row.State == "gone"}
	switch {
	case row.Retry == "dead":
		d.State = support.DeliveryDead
	case row.Retry != "":
		d.State = support.DeliveryWaiting
	case row.Ahead:
		d.State = support.DeliveryAhead
	}
	if row.DeliveredAt.Unix() != 0 {
		d.DeliveredAt = &row.DeliveredAt
	}
	return d
}
