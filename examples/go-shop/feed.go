package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/client"
)

// againAfter is the pause after what failed.
const againAfter = 2 * time.Second

// reader reads the feed. Several may run: the inbox keeps them from acting twice.
type reader struct {
	db *pgxpool.Pool
	c  *client.Client
}

// run reads until ctx ends. It returns a refusal that no waiting ends, such as that of a token or of a cursor that has expired.
func (r *reader) run(ctx context.Context) error {
	slog.Info("the feed is read")
	for ctx.Err() == nil {
		err := r.read(ctx)
		if refused, ok := errors.AsType[*client.ProblemError](err); ok && refused.Code != "" && !refused.Retryable {
			return err
		}
		if err != nil && ctx.Err() == nil {
			slog.Warn("reading is interrupted; it goes on from the stored cursor", "error", err)
			pause(ctx, againAfter)
		}
	}
	return nil
}

// read acts on events from the stored cursor on, until something fails. It reads all types: while none of a few comes, the
// cursor would stay behind, and expire.
func (r *reader) read(ctx context.Context) error {
	var cursor string
	err := r.db.QueryRow(ctx, `SELECT cursor FROM feed_cursors WHERE consumer = 'stock'`).Scan(&cursor)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("read the cursor: %w", err)
	}
	for e, err := range r.c.Events(ctx, cursor, client.Feed{}) {
		if err != nil {
			return err
		}
		if e.Cursor == cursor && !changesStock(e.Event) {
			continue // there is nothing to write
		}
		if err := r.take(ctx, e); err != nil {
			return err
		}
		cursor = e.Cursor
	}
	return nil
}

// take acts on an event and stores the cursor with that, in one transaction: a process that dies goes on where it stopped.
func (r *reader) take(ctx context.Context, e client.Entry) error {
	ctx, cancel := context.WithTimeout(ctx, actTime)
	defer cancel()
	err := pgx.BeginFunc(ctx, r.db, func(tx pgx.Tx) error {
		if err := act(ctx, tx, e.Event); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO feed_cursors VALUES ('stock', $1) ON CONFLICT (consumer) DO UPDATE SET cursor = excluded.cursor`, e.Cursor)
		if err != nil {
			return fmt.Errorf("store the cursor: %w", err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("event %s: %w", e.ID, err)
	}
	return nil
}
