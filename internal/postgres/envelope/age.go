package envelope

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// portion is how many events' bytes are encrypted anew in one transaction.
const portion = 200

// Age drops a month that has been over for longer than keep. Before that, it moves the data that is still needed into
// the present month. It reports whether there may be more to do. If needed data of a month can't be opened, the month
// stays, and Age returns an error. Later months are dropped nevertheless.
func (k *Keys) Age(ctx context.Context, keep time.Duration) (more bool, err error) {
	var old []time.Time
	err = k.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		old, err = k.q.EventBytesOld(ctx, c, keep.Seconds())
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look for old months of event_bytes: %w", err)
	}
	var closed []error
	for _, m := range old {
		more, err = k.age(ctx, m, keep)
		if !errors.Is(err, ErrClosed) && (err != nil || more) {
			return more, err
		}
		closed = append(closed, err)
	}
	return false, errors.Join(closed...)
}

// age does one step with an old month, and reports whether it did.
func (k *Keys) age(ctx context.Context, m time.Time, keep time.Duration) (done bool, err error) {
	moved, err := k.move(ctx, m)
	if err != nil || moved > 0 {
		return moved > 0, err
	}
	err = k.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) (err error) {
		if err = k.q.MoreTime(ctx, tx); err == nil {
			done, err = k.q.EventBytesDrop(ctx, tx, &dbsqlc.EventBytesDropParams{Month: m, Keep: keep.Seconds()})
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("drop %s of event_bytes: %w", m.Format("2006-01"), err)
	}
	if done {
		_, err = k.load(ctx) // the key leaves the memory, too
	}
	return done, err
}

// move encrypts a portion of the still needed data of a month with the present key, and returns the number of rows.
func (k *Keys) move(ctx context.Context, old time.Time) (n int, err error) {
	with, err := k.Sealing(ctx)
	if err != nil {
		return 0, err
	}
	err = k.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		if err := k.q.MoreTime(ctx, tx); err != nil {
			return err
		}
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
