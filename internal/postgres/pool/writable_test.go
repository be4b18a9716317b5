package pool_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/pool"
	"github.com/paylatch/paylatch/internal/testdb"
	"github.com/paylatch/paylatch/migrations"
)

// TestWritable: a database that answers and takes no write is not writable until it takes some again; the serving role may try.
func TestWritable(t *testing.T) {
	t.Parallel()
	srv := testdb.Private(t)
	admin := testdb.Connect(t, srv.DSN("postgres"))
	do := func(statement string) {
		_, err := admin.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	do("CREATE ROLE serves LOGIN")
	_, err := migrations.Grant(t.Context(), srv.DSN("postgres"), "serves", false)
	require.NoError(t, err)
	p, err := pool.Open(t.Context(), srv.DSN("postgres")+"&user=serves")
	require.NoError(t, err)
	t.Cleanup(p.Close)
	require.NoError(t, p.Writable(t.Context()))
	for _, on := range []string{"on", "off"} {
		do("ALTER SYSTEM SET default_transaction_read_only = " + on)
		do("SELECT pg_reload_conf()")
		require.Eventually(t, func() bool { return (p.Writable(t.Context()) != nil) == (on == "on") }, time.Minute, 10*time.Millisecond, on)
		require.NoError(t, p.Ping(t.Context()), "it answers")
	}
	do("DROP TABLE service_marks")
	time.Sleep(time.Second) // the last result is as old then
	require.NoError(t, p.Writable(t.Context()), "what lacks is for Migrated to say")
}

// TestWritableStandby: a standby answers, and is not writable.
func TestWritableStandby(t *testing.T) {
	t.Parallel()
	follower, leader := standby(t, testdb.Private(t))
	for dsn, writable := range map[string]bool{leader.DSN("postgres"): true, follower.DSN("postgres"): false} {
		p, err := pool.Open(t.Context(), dsn)
		require.NoError(t, err)
		t.Cleanup(p.Close)
		require.NoError(t, p.Ping(t.Context()))
		if err := p.Writable(t.Context()); writable {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, payment.ErrUnavailable)
		}
	}
}
