package envelope

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// portion is how many events' bytes are encrypted anew in one transaction.
const portion = 200

// Age makes the partitions of this month and the next, and drops the oldest month that has been over for longer than keep. What is still
// needed of it goes on into the present month before. It reports whether there may be more to do.
func (k *Keys) Age(ctx context.Context, keep time.Duration) (more bool, err error) {
	var old []time.Time
	err = k.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if _, err := k.q.EventBytesMake(ctx, c); err != nil {
			return fmt.Errorf("make the partitions of event_bytes: %w", err)
		}
		if old, err = k.q.EventBytesOld(ctx, c, keep.Seconds()); err != nil {
			return fmt.Errorf("look for old months of event_bytes: %w", err)
		}
		return nil
	})
	if err != nil || len(old) == 0 {
		return false, err
	}
	moved, err := k.move(ctx, old[0])
	if err != nil || moved > 0 {
		return true, err
	}
	err = k.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		more, err = k.q.EventBytesDrop(ctx, c, &dbsqlc.EventBytesDropParams{Month: old[0], Keep: keep.Seconds()})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("drop %s of event_bytes: %w", old[0].Format("2006-01"), err)
	}
	if more {
		_, err = k.load(ctx) // the key leaves the memory, too
	}
	return more, err
}

// move encrypts a portion of what is still needed of a month with the present key, and returns how much it was. What can't be opened keeps its
// month until it is no longer needed, or its key is back: that is an error.
func (k *Keys) move(ctx context.Context, old time.Time) (n int, err error) {
	with, err := k.Sealing(ctx)
	if err != nil {
		return 0, err
	}
	err = k.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		rows, err := k.q.EventBytesNeeded(ctx, tx, &dbsqlc.EventBytesNeededParams{Begins: old, Ends: old.AddDate(0, 1, 0), Most: portion})
		if n = len(rows); err != nil || n == 0 {
			return err
		}
		p := &dbsqlc.EventBytesInsertParams{SealedAt: with.At}
		for _, row := range rows {
			text, err := k.text(ctx, row.EventID, row.Sealed)
			if err != nil {
				return fmt.Errorf("event %s: %w", row.EventID, err)
			}
			p.EventIds, p.Sealeds = append(p.EventIds, row.EventID), append(p.Sealeds, with.text(row.EventID, text))
		}
		return k.q.EventBytesInsert(ctx, tx, p)
	})
	if err != nil {
		return 0, fmt.Errorf("move what is needed of %s of event_bytes: %w", old.Format("2006-01"), err)
	}
	return n, nil
}
