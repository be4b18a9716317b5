package pool_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// commits gives new sessions of the database another synchronous_commit.
func commits(t *testing.T, admin *pgx.Conn, value string) {
	t.Helper()
	name := pgx.Identifier{testdb.One[string](t, admin, "SELECT current_database()")}.Sanitize()
	_, err := admin.Exec(t.Context(), "ALTER DATABASE "+name+" SET synchronous_commit = "+value)
	require.NoError(t, err)
}

func openDurable(t *testing.T, url string) *pool.Pool {
	t.Helper()
	return openDurableAt(t, pool.Address{URL: url})
}

func openDurableAt(t *testing.T, a pool.Address) *pool.Pool {
	t.Helper()
	a.URL = testdb.Patient(a.URL)
	p, err := pool.OpenDurable(t.Context(), a)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	p.Patiently(testdb.Patience)
	return p
}

// TestDurableOrRefused: the server of tests has fsync and full_page_writes off.
func TestDurableOrRefused(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	admin := testdb.Connect(t, dsn)
	for _, value := range []string{"off", "local", "remote_write", "on", "remote_apply"} {
		commits(t, admin, value)
		off := []string{"fsync", "full_page_writes"}
		if value == "off" {
			off = append(off, "synchronous_commit")
		}
		for name, p := range map[string]*pool.Pool{"demanded": openDurable(t, dsn), "looked at": open(t, dsn)} {
			var weak *pool.NotDurableError
			require.ErrorAs(t, p.Durable(t.Context()), &weak, name)
			require.Equal(t, off, weak.Settings, value)
			require.NoError(t, p.Ping(t.Context()))
			require.NoError(t, p.Migrated(t.Context()))
			if name == "demanded" {
				require.ErrorIs(t, read(t, p), payment.ErrUnavailable)
				require.ErrorAs(t, write(t, p), &weak)
			} else {
				require.NoError(t, read(t, p))
			}
		}
	}
	commits(t, admin, "on")
	named := openDurable(t, testdb.With(t, dsn, "synchronous_commit", "off"))
	var weak *pool.NotDurableError
	require.ErrorAs(t, named.Durable(t.Context()), &weak)
	require.Contains(t, weak.Settings, "synchronous_commit", "by the address")
}

// TestDurableByItsStorage: the storage may stand for the server's files, but not for the wait for it.
func TestDurableByItsStorage(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	for value, refused := range map[string]bool{"off": true, "on": false} {
		p := openDurableAt(t, pool.Address{URL: testdb.With(t, dsn, "synchronous_commit", value), Stored: true})
		if !refused {
			require.NoError(t, p.Durable(t.Context()))
			require.NoError(t, write(t, p))
			continue
		}
		var weak *pool.NotDurableError
		require.ErrorAs(t, p.Durable(t.Context()), &weak)
		require.Equal(t, []string{"synchronous_commit"}, weak.Settings)
		require.ErrorAs(t, write(t, p), &weak)
	}
}

// A session that begins after the setting was turned off commits durably like the others. A session with a stricter
// setting keeps it.
func TestDurableSessions(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	admin := testdb.Connect(t, dsn)
	for value, want := range map[string]string{"off": "on", "local": "local", "on": "on", "remote_apply": "remote_apply"} {
		commits(t, admin, value)
		var got string
		require.NoError(t, openDurable(t, dsn).Conns().QueryRow(t.Context(), "SHOW synchronous_commit").Scan(&got))
		require.Equal(t, want, got)
	}
}
