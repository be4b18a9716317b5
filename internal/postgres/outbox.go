package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// publish writes events for the merchant. That an order is cancelled is written only where it is.
func (t *txn) publish(ctx context.Context, messages []outbox.Message) error {
	always := make([]outbox.Message, 0, len(messages))
	var ifCancelled []outbox.Message
	for _, m := range messages {
		if m.Type == outbox.OrderCancelled {
			ifCancelled = append(ifCancelled, m)
			continue
		}
		always = append(always, m)
	}
	if len(always) > 0 {
		if err := t.q.OutboxInsert(ctx, t.Deferred(), outboxInsertParams(always)); err != nil {
			return fmt.Errorf("write events for the merchant: %w", err)
		}
	}
	if len(ifCancelled) > 0 {
		if err := t.q.OutboxInsertCancelled(ctx, t.Deferred(), outboxInsertCancelledParams(ifCancelled)); err != nil {
			return fmt.Errorf("write that orders are cancelled: %w", err)
		}
	}
	return nil
}

// NumberEvents implements outbox.Store.
func (s *Store) NumberEvents(ctx context.Context, limit int) (from, to outbox.Position, err error) {
	err = s.inTx(ctx, func(ctx context.Context, t *txn) error {
		from, to = 0, 0
		last, err := t.q.OutboxHeadLock(ctx, t)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // another process numbers
		}
		if err != nil {
			return fmt.Errorf("lock the head of the outbox: %w", err)
		}
		now, err := t.q.OutboxNumber(ctx, t, &dbsqlc.OutboxNumberParams{Behind: last, AtMost: int32(limit)}) //nolint:gosec // a batch
		if err != nil {
			return fmt.Errorf("number events: %w", err)
		}
		from, to = outbox.Position(last), outbox.Position(now.Last)
		if to > from {
			t.witness(watermark.Commit{Kind: watermark.CommitNumbered, Batch: now.Batch, Position: now.Last, At: t.Now()})
		}
		return nil
	})
	return from, to, err
}

// EventsHead implements outbox.Store.
func (s *Store) EventsHead(ctx context.Context) (head outbox.Position, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		last, err := s.q.OutboxHead(ctx, c)
		if err != nil {
			return fmt.Errorf("read the head of the outbox: %w", err)
		}
		head = outbox.Position(last)
		return nil
	})
	return head, err
}

// EventsLine implements outbox.Store.
func (s *Store) EventsLine(ctx context.Context) (line outbox.Line, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.OutboxLine(ctx, c)
		if err != nil {
			return fmt.Errorf("read the head and the epochs of the outbox: %w", err)
		}
		line = outbox.Line{Head: outbox.Position(row.Last)}
		for i, number := range row.Epochs {
			line.Epochs = append(line.Epochs, outbox.Epoch{Number: number, Shared: outbox.Position(row.Shared[i])})
		}
		return nil
	})
	if err == nil {
		err = s.promised()
	}
	return line, err
}

// EventsAfter implements outbox.Store.
func (s *Store) EventsAfter(ctx context.Context, q outbox.Query) (events []outbox.Event, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.OutboxAfter(ctx, c, &dbsqlc.OutboxAfterParams{
			After: int64(q.After), Until: int64(q.Until), Types: append([]string{}, q.Types...), AtMost: int32(q.Limit), //nolint:gosec // a page
		})
		if err != nil {
			return fmt.Errorf("read events after %d: %w", q.After, err)
		}
		events = make([]outbox.Event, len(rows))
		for i, row := range rows {
			events[i] = outboxEventFromRow(row)
		}
		return nil
	})
	return events, err
}

// OldestEvent implements outbox.Store.
func (s *Store) OldestEvent(ctx context.Context) (oldest outbox.Position, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		position, err := s.q.OutboxOldest(ctx, c)
		if err != nil {
			return fmt.Errorf("read the oldest event: %w", pool.Missing(err, outbox.ErrNoEvent))
		}
		oldest = outbox.Position(position)
		return nil
	})
	return oldest, err
}

// PurgeEvents implements outbox.Store.
func (s *Store) PurgeEvents(ctx context.Context, before time.Time, limit int) (purged int, err error) {
	err = s.inTx(ctx, func(ctx context.Context, t *txn) error {
		n, err := t.q.OutboxPurge(ctx, t, &dbsqlc.OutboxPurgeParams{Before: before, AtMost: int32(limit)}) //nolint:gosec // a batch
		purged = int(n)
		if err != nil {
			return fmt.Errorf("purge events: %w", err)
		}
		return nil
	})
	return purged, err
}
