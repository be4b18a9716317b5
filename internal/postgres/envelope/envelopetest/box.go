// Package envelopetest has encryption keys for tests.
package envelopetest

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"encoding/json"
	"github.com/paylatch/paylatch/internal/auth"
	"github.com/paylatch/paylatch/internal/postgres/envelope"
	"time"
)

// Box returns a ring of keys by their ids, the first of which encrypts; of one key without ids. A key's 32 bytes repeat its id.
func Box(tb testing.TB, ids ...string) envelope.Box {
	tb.Helper()
	if len(ids) == 0 {
		ids = []string{"k1"}
	}
	ring := make([]auth.Key, len(ids))
	for i, id := range ids {
		ring[i] = auth.Key{ID: id, Secret: []byte(strings.Repeat(id, 32)[:32])}
	}
	box, err := auth.NewSealer(ring)
	require.NoError(tb, err)
	return box
}

// Put stores the body of an event, encrypted.
func Put(tb testing.TB, conn *pgx.Conn, keys *envelope.Keys, event uuid.UUID, body string) {
	tb.Helper()
	with, err := keys.Sealing(tb.Context())
	require.NoError(tb, err)
	_, err = conn.Exec(tb.Context(), "INSERT INTO event_bytes VALUES ($1, $2, $3)", event, with.At, with.Seal(event, []byte("{}"), []byte(body)))
	require.NoError(tb, err)
}

// DB is a connection or a pool.
type DB interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Before is a clock that is so many months behind.
func Before(months int) func() time.Time {
	return func() time.Time { return time.Now().AddDate(0, -months, 0) }
}

// Back has all that is stored be encrypted by keys with a clock of the past, as if it had come then.
func Back(tb testing.TB, db DB, now, then *envelope.Keys) {
	tb.Helper()
	rows, err := db.Query(tb.Context(), "DELETE FROM event_bytes RETURNING event_id, sealed")
	require.NoError(tb, err)
	type row struct {
		Event  uuid.UUID
		Sealed []byte
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	require.NoError(tb, err)
	with, err := then.Sealing(tb.Context())
	require.NoError(tb, err)
	for _, r := range all {
		headers, body, err := now.Open(tb.Context(), r.Event, r.Sealed)
		require.NoError(tb, err)
		text, err := json.Marshal(headers)
		require.NoError(tb, err)
		_, err = db.Exec(tb.Context(), "INSERT INTO event_bytes VALUES ($1, $2, $3)", r.Event, with.At, with.Seal(r.Event, text, body))
		require.NoError(tb, err)
	}
}

// PutAll stores one body for each event that there is.
func PutAll(tb testing.TB, conn *pgx.Conn, keys *envelope.Keys, body string) {
	tb.Helper()
	rows, err := conn.Query(tb.Context(), "SELECT event_id FROM provider_events")
	require.NoError(tb, err)
	events, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	require.NoError(tb, err)
	for _, event := range events {
		Put(tb, conn, keys, event, body)
	}
}
