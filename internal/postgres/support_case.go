package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/support"
)

var _ support.Store = (*Store)(nil)

// AttemptHistory implements support.Store, by a few statements on one connection: what
// happens between them is seen by the later ones only.
func (s *Store) AttemptHistory(ctx context.Context, id payment.AttemptID) (support.AttemptHistory, error) {
	var c support.AttemptHistory
	err := s.read(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		row, err := s.q.AttemptRead(ctx, conn, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read attempt %s: %w", id, missing(err, payment.ErrAttemptNotFound))
		}
		c = support.AttemptHistory{Attempt: attemptFromRow(&row.PaymentAttempts, row.ReadAt, row.Siblings), ReadAt: row.ReadAt}
		if c.Order, err = readOrder(ctx, s.q, conn, c.Attempt.OrderID); err != nil {
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

// course reads the attempt's own log and what was noted around it.
func (s *Store) course(ctx context.Context, db dbsqlc.DBTX, c *support.AttemptHistory) error {
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
	notes, err := s.q.LogOfAttempt(ctx, db, &dbsqlc.LogOfAttemptParams{OrderID: string(c.Attempt.OrderID), AttemptID: uuid.UUID(c.Attempt.ID)})
	for _, row := range slices.Backward(notes) {
		c.Activity = append(c.Activity, noteFromRow(row))
	}
	return err
}

func (s *Store) events(ctx context.Context, db dbsqlc.DBTX, c *support.AttemptHistory) error {
	rows, err := s.q.EventsOfAttempt(ctx, db, uuid.UUID(c.Attempt.ID))
	if err != nil {
		return err
	}
	for _, row := range rows {
		c.Events = append(c.Events, shownFromRow((*dbsqlc.EventReadRow)(row)))
	}
	return nil
}

func shownFromRow(row *dbsqlc.EventReadRow) support.Event {
	e := support.Event{
		ID: payment.EventID(row.EventID), Account: row.Account, ProviderEventID: row.ProviderEventID, Type: row.EventType, Kind: row.Kind,
		Verdict: fsm.Verdict(row.Verdict), OrderID: payment.OrderID(orEmpty(row.OrderID)), AttemptID: (*payment.AttemptID)(row.AttemptID),
		ReceivedAt: row.ReceivedAt, OccurredAt: row.OccurredAt, Kept: row.Kept, Body: row.Body,
	}
	// What can't be read is shown by its columns; it must not hide all else of the case.
	news, _ := newsFromRow(row.ProviderEventID, row.News)
	e.Unsigned = news.NeedsFetch && news.SecretIndex < 0
	if news.Money != nil {
		e.Money = &payment.Money{Minor: news.Money.Minor, Currency: payment.Currency(news.Money.Currency)}
	}
	var headers map[string]string
	_ = json.Unmarshal(row.Headers, &headers)
	e.ContentType = headers["content-type"]
	return e
}

// EventShown implements support.Store.
func (s *Store) EventShown(ctx context.Context, id payment.EventID) (support.Event, error) {
	var e support.Event
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.EventRead(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read event %s: %w", id, missing(err, payment.ErrEventNotFound))
		}
		e = shownFromRow(row)
		return nil
	})
	return e, err
}

// consequences reads refunds, news for the merchant, and what people had to do
// with the attempt.
func (s *Store) consequences(ctx context.Context, db dbsqlc.DBTX, c *support.AttemptHistory) error {
	id := uuid.UUID(c.Attempt.ID)
	refunds, err := s.q.RefundsOfAttempt(ctx, db, id)
	if err != nil {
		return err
	}
	for _, row := range refunds {
		c.Refunds = append(c.Refunds, refundFromRow(&row.Refunds, row.ReadAt))
	}
	told, err := s.q.OutboxOfAttempt(ctx, db, &dbsqlc.OutboxOfAttemptParams{OrderID: string(c.Attempt.OrderID), AttemptID: id})
	if err != nil {
		return err
	}
	for _, row := range told {
		c.Messages = append(c.Messages, support.OutboxMessage{ID: row.MessageID, Type: row.Type, Version: int(row.Version), CreatedAt: row.CreatedAt, SentAt: row.SentAt})
	}
	open, err := s.q.DiscrepanciesOfAttempt(ctx, db, id)
	if err != nil {
		return err
	}
	for _, row := range open {
		c.Discrepancies = append(c.Discrepancies, listedFromRow((*dbsqlc.DiscrepanciesListRow)(row)))
	}
	if err := s.circumstances(ctx, db, c.Discrepancies); err != nil {
		return err
	}
	deeds, err := s.q.AuditOfAttempt(ctx, db, id)
	if err != nil {
		return err
	}
	for _, row := range slices.Backward(deeds) {
		d, err := deedFromRow(row)
		if err != nil {
			return err
		}
		c.Audit = append(c.Audit, d)
	}
	return nil
}
