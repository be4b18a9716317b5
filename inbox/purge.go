package inbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrAge is returned for an age that would remove the markers of messages that are just being
// delivered.
var ErrAge = errors.New("inbox: the age must be longer than 0")

// DB is the part of a database handle that [Purge] uses: a *pgxpool.Pool, a *pgx.Conn or a pgx.Tx.
type DB interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// purgeBatch bounds how many rows one statement locks.
const purgeBatch = 1000

// Purge removes the markers of all consumers that are older than an age, by the database's
// clock, and returns how many. A message that is delivered again after that is acted on again: keep markers
// for longer than the sender repeats or keeps its messages (paylatch's feed: 30 days). Each batch of 1,000 is a
// statement of its own; markers that another purge has locked are left to it.
func Purge(ctx context.Context, db DB, olderThan time.Duration) (removed int64, err error) {
	if olderThan <= 0 {
		return 0, ErrAge
	}
	for {
		tag, err := db.Exec(ctx, `DELETE FROM processed_messages m USING (
				SELECT consumer, message_id FROM processed_messages
				WHERE processed_at < now() - make_interval(secs => $1)
				ORDER BY processed_at LIMIT $2 FOR UPDATE SKIP LOCKED
			) old
			WHERE m.consumer = old.consumer AND m.message_id = old.message_id`, olderThan.Seconds(), purgeBatch)
		if err != nil {
			return removed, fmt.Errorf("inbox: purge markers older than %s: %w", olderThan, err)
		}
		if removed += tag.RowsAffected(); tag.RowsAffected() < purgeBatch {
			return removed, nil
		}
	}
}
