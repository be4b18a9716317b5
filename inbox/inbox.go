package inbox

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Schema makes the table of markers, processed_messages, where it is not there. Put it in a
// migration, or run it at the start of the only process that does. The role that consumes needs
// SELECT, INSERT and, for [Purge], DELETE.
//
//go:embed schema.sql
var Schema string

// ErrNoMessageID is returned for a message without an id: all such would be taken for one.
var ErrNoMessageID = errors.New("inbox: a message without an id")

// Consumer names one consumer of messages. Consumers that share a table act on the same message
// once each. The empty name is that of [Once].
type Consumer string

// Once is [Consumer.Once] of the one consumer of a database.
func Once(ctx context.Context, tx pgx.Tx, messageID string, fn func(ctx context.Context) error) (done bool, err error) {
	return Consumer("").Once(ctx, tx, messageID, fn)
}

// Once runs fn unless the consumer has acted on the message before, and reports whether fn ran.
// fn's writes through tx and the marker of the message become visible when the caller commits.
//
// fn's error is returned as it is, its writes and the marker are undone, and tx can be used
// further: the next delivery acts, also where the caller commits. Where a statement of fn failed
// and fn returned nil, Once fails with SQLSTATE 25P02.
//
// While another transaction acts on the same message Once waits for it, for as long as ctx and
// the database's lock_timeout allow. In a transaction of REPEATABLE READ or SERIALIZABLE the
// second then gets SQLSTATE 40001, and must be run again.
func (c Consumer) Once(ctx context.Context, tx pgx.Tx, messageID string, fn func(ctx context.Context) error) (done bool, err error) {
	if messageID == "" {
		return false, ErrNoMessageID
	}
	err = pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) error {
		tag, err := savepoint.Exec(ctx,
			`INSERT INTO processed_messages (consumer, message_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, string(c), messageID)
		if err != nil {
			return fmt.Errorf("inbox: mark message %s: %w", messageID, err)
		}
		if done = tag.RowsAffected() > 0; !done {
			return nil
		}
		return fn(ctx)
	})
	return done && err == nil, err //nolint:wrapcheck // it is fn's, or says what it is
}
