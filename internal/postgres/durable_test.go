package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/testdb"
)

// commits gives new sessions of the database another synchronous_commit.
func commits(t *testing.T, admin *pgx.Conn, value string) {
	t.Helper()
	name := pgx.Identifier{one[string](t, admin, "SELECT current_database()")}.Sanitize()
	_, err := admin.Exec(t.Context(), "ALTER DATABASE "+name+" SET synchronous_commit = "+value)
	require.NoError(t, err)
}

func openDurable(t *testing.T, url string) *postgres.Store {
	t.Helper()
	store, err := postgres.OpenDurable(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	return store
}

// TestDurableOrRefused: the server of tests has fsync and full_page_writes off.
func TestDurableOrRefused(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	admin := connect(t, dsn)
	for _, value := range []string{"off", "local", "remote_write", "on", "remote_apply"} {
		commits(t, admin, value)
		off := []string{"fsync", "full_page_writes"}
		if value == "off" {
			off = append(off, "synchronous_commit")
		}
		for name, store := range map[string]*postgres.Store{"demanded": openDurable(t, dsn), "looked at": open(t, dsn)} {
			var weak *postgres.NotDurableError
			require.ErrorAs(t, store.Durable(t.Context()), &weak, name)
			require.Equal(t, off, weak.Settings, value)
			require.NoError(t, store.Ping(t.Context()))
			require.NoError(t, store.Migrated(t.Context()))
			if name == "demanded" {
				require.ErrorIs(t, read(t, store), payment.ErrUnavailable)
				require.ErrorAs(t, write(t, store), &weak)
			} else {
				require.ErrorIs(t, read(t, store), payment.ErrOrderNotFound)
			}
		}
	}
	commits(t, admin, "on")
	named := openDurable(t, with(t, dsn, "synchronous_commit", "off"))
	var weak *postgres.NotDurableError
	require.ErrorAs(t, named.Durable(t.Context()), &weak)
	require.Contains(t, weak.Settings, "synchronous_commit", "by the address")
}

// A session that begins after somebody has set it off commits as the others do, and
// one that waits for more goes on to.
func TestDurableSessions(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	admin := connect(t, dsn)
	for value, want := range map[string]string{"off": "on", "local": "local", "on": "on", "remote_apply": "remote_apply"} {
		commits(t, admin, value)
		var got string
		require.NoError(t, openDurable(t, dsn).Pool().QueryRow(t.Context(), "SHOW synchronous_commit").Scan(&got))
		require.Equal(t, want, got)
	}
}
