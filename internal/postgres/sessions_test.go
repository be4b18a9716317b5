package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// TestARequestUnderWayDoesNotBeginASessionAgain: it read the session before its
// person signed out, and writes it after.
func TestARequestUnderWayDoesNotBeginASessionAgain(t *testing.T) {
	t.Parallel()
	store, later := sessionOpen(t, testdb.New(t)), time.Now().Add(time.Hour)
	require.NoError(t, store.Commit("t1", []byte("who"), later))
	data, found, err := store.Find("t1")
	require.NoError(t, err)
	require.True(t, found)
	require.NoError(t, store.Delete("t1"))
	require.NoError(t, store.Commit("t1", data, later))
	_, found, err = store.Find("t1")
	require.NoError(t, err)
	require.False(t, found)
}

// TestASessionThatEndsWhileAWriteWaitsStaysSo: the write began before the end, and
// waits for it.
func TestASessionThatEndsWhileAWriteWaitsStaysSo(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	store, conn, eye := sessionOpen(t, dsn), testdb.Connect(t, dsn), testdb.Connect(t, dsn)
	later := time.Now().Add(time.Hour)
	require.NoError(t, store.Commit("t1", []byte("who"), later))
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(), `SELECT FROM sessions FOR UPDATE`)
	require.NoError(t, err)
	wrote := make(chan error, 1)
	go func() { wrote <- store.Commit("t1", []byte("who"), later) }()
	testdb.Waiting(t, eye, 1)
	_, err = tx.Exec(t.Context(), `UPDATE sessions SET data = '', expiry = clock_timestamp()`)
	require.NoError(t, err)
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-wrote)
	_, found, err := store.Find("t1")
	require.NoError(t, err)
	require.False(t, found)
}

func TestSessionsThatEndedAnHourAgoArePurged(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	store, conn := sessionOpen(t, dsn), testdb.Connect(t, dsn)
	for token, expiry := range map[string]time.Duration{"old": -61 * time.Minute, "ended": -59 * time.Minute, "alive": time.Minute} {
		require.NoError(t, store.Commit(token, []byte("who"), time.Now().Add(expiry)))
	}
	require.NoError(t, store.Delete("alive"))
	n, err := store.PurgeSessions(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, 2, testdb.One[int](t, conn, `SELECT count(*) FROM sessions WHERE token <> 'old'`))
	require.Zero(t, testdb.One[int](t, conn, `SELECT length(data) FROM sessions WHERE token = 'alive'`), "of who has signed out nothing is kept")
}
