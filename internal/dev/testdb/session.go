package testdb

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Connect opens a session of its own, which is closed when the test ends.
func Connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// With adds settings of the session to a database's URL, in pairs.
func With(t *testing.T, dsn string, settings ...string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	q := u.Query()
	for i := 0; i < len(settings); i += 2 {
		q.Set(settings[i], settings[i+1]) //nolint:gosec // they are pairs
	}
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // which pgx takes for a space, and + for a plus
	return u.String()
}

// One returns the one value that a query returns.
func One[T any](t *testing.T, conn *pgx.Conn, query string, args ...any) T {
	t.Helper()
	var v T
	require.NoError(t, conn.QueryRow(t.Context(), query, args...).Scan(&v))
	return v
}

// Waiting returns once n sessions of the database wait for a lock.
func Waiting(t *testing.T, conn *pgx.Conn, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		return One[int](t, conn, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) >= n
	}, Patience, time.Millisecond)
}
