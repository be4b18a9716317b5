package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// readCursor reads the feed for consumers that keep a cursor in it: endpoints, streams, notices. It counts the events that
// were deleted before their cursor reached them.

// cursorPortion is the part of the feed that was read after a cursor.
type cursorPortion struct {
	Events []outbox.Event
	// Until is the cursor behind Events.
	Until outbox.Position
	// Lost counts the positions up to Until with events, of any type, that were deleted before this read.
	Lost int64
}

// readCursor reads a portion of the feed. Locks nothing.
func readCursor(ctx context.Context, q *dbsqlc.Queries, c *pgxpool.Conn, w outbox.Query) (cursorPortion, error) {
	rows, err := q.OutboxAfter(ctx, c, &dbsqlc.OutboxAfterParams{
		After: int64(w.After), Until: int64(w.Until), Types: append([]string{}, w.Types...), AtMost: int32(w.Limit), //nolint:gosec // a batch
	})
	if err != nil {
		return cursorPortion{}, fmt.Errorf("read events after %d: %w", w.After, err)
	}
	p := cursorPortion{Until: w.Until}
	for _, row := range rows {
		p.Events = append(p.Events, outboxEventFromRow(row))
	}
	if len(rows) == w.Limit {
		p.Until = p.Events[len(rows)-1].Position
	}
	// It is read after the events. So an event that is deleted between the two statements was read, and an event that
	// was deleted before is counted.
	oldest, err := q.OutboxOldest(ctx, c)
	if errors.Is(err, pgx.ErrNoRows) {
		oldest, err = int64(w.Until)+1, nil
	}
	if err != nil {
		return cursorPortion{}, fmt.Errorf("read the oldest event: %w", err)
	}
	p.Lost = lost(w.After, p, outbox.Position(oldest))
	return p, nil
}

// lost counts the positions behind a cursor, up to where a portion ends, that lie before the oldest event and were not read.
func lost(after outbox.Position, p cursorPortion, oldest outbox.Position) int64 {
	n := int64(min(oldest-1, p.Until) - after)
	for _, e := range p.Events {
		if e.Position < oldest {
			n--
		}
	}
	return max(n, 0)
}
