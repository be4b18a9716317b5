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

	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/postgres/envelope"
)

// Box returns a ring of keys by their ids. The first key encrypts. Without ids the ring has one key. A key's 32 bytes
// repeat its id.
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
}

// Back makes all stored data and their keys older by this many months. Keys that have encrypted keep their state in
// memory: use new keys afterwards.
func Back(tb testing.TB, db DB, months int) {
	tb.Helper()
	_, err := db.Exec(tb.Context(), "UPDATE event_bytes SET sealed_at = sealed_at - make_interval(months => $1)", months)
	require.NoError(tb, err)
	_, err = db.Exec(tb.Context(), "UPDATE data_keys SET month = month - make_interval(months => $1)", months)
	require.NoError(tb, err)
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
