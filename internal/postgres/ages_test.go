package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/postgres"
)

const day = 24 * time.Hour

// aged makes entries of the audit log and of an attempt's log: the oldest of this many days ago, and one for each day
// since then. It chains the audit entries again.
func aged(t *testing.T, dsn string, store *postgres.Store, days int) {
	t.Helper()
	for range days + 1 {
		require.NoError(t, store.Support().AuditInsert(t.Context(), deedOf("ann")))
	}
	_, err := testdb.Connect(t, dsn).Exec(t.Context(), fmt.Sprintf(`
		ALTER TABLE staff_audit DISABLE TRIGGER ALL;
		DO $$ DECLARE e staff_audit; p bytea := decode(repeat('00', 32), 'hex'); BEGIN FOR e IN SELECT * FROM staff_audit ORDER BY position LOOP
			e.at := now() - make_interval(days => %[1]d - e.position::int + 1, mins => 1); e.previous := p; p := audit_hash(e);
			UPDATE staff_audit SET at = e.at, previous = e.previous, hash = p WHERE position = e.position;
		END LOOP; END $$;
		ALTER TABLE staff_audit ENABLE TRIGGER ALL;
		INSERT INTO attempt_log (order_id, entry_id, kind, what, at, until)
			SELECT 'A-1', gen_random_uuid(), 'press', 'pay', now() - make_interval(days => d), now() - make_interval(days => d) FROM generate_series(0, %[1]d) d`, days))
	require.NoError(t, err)
}

func TestAuditLogBeginsBehindWhatWasPurged(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	store, admin := enginetest.Store(t, serving(t, dsn)), testdb.Connect(t, dsn)
	aged(t, dsn, store, 50)
	all := followed(t, store, support.Head{}).Head
	early := support.Chain{}
	_, err := early.Follow(t.Context(), store.Support(), 5)
	require.NoError(t, err)
	require.Equal(t, int64(5), early.Entries)

	n, err := store.Erasures().PurgeAudit(t.Context(), 40*day, 6)
	require.NoError(t, err)
	require.Equal(t, 6, n, "as many as are allowed at a time")
	n, err = store.Erasures().PurgeAudit(t.Context(), 40*day, 100)
	require.NoError(t, err)
	require.Equal(t, 5, n, "51 entries, of 50 to 0 days; 39 of 39 days or less, and one of 40 days and a minute")
	n, err = store.Erasures().PurgeAudit(t.Context(), 40*day, 100)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, int64(42), testdb.One[int64](t, admin, "SELECT count(*) FROM staff_audit"), "two of purges beside them")

	chain := followed(t, store, support.Head{})
	require.Nil(t, chain.Broken)
	require.Equal(t, int64(53), chain.Entries)
	require.Nil(t, followed(t, store, all).Broken, "an earlier head is still there")
	_, err = early.Follow(t.Context(), store.Support(), 1000)
	require.NoError(t, err)
	require.Nil(t, early.Broken, "who followed the chain before goes on behind the purge")
	require.Equal(t, chain.Head, early.Head)

	last, err := support.ParseHead(testdb.One[string](t, admin, "SELECT target FROM staff_audit WHERE action = 'audit.purge' ORDER BY position DESC LIMIT 1"))
	require.NoError(t, err)
	require.Nil(t, followed(t, store, last).Broken, "the last that was purged is known by the next")
	require.Equal(t, "the entry had another hash before: the log was rewritten", followed(t, store, support.Head{Entries: last.Entries}).Broken.Text)
	require.Contains(t, followed(t, store, support.Head{Entries: 3, Hash: last.Hash}).Broken.Text, "was purged")

	for range 2 { // it is found each time anew
		_, err = admin.Exec(t.Context(), "ALTER TABLE staff_audit DISABLE TRIGGER ALL; DELETE FROM staff_audit WHERE position = (SELECT min(position) FROM staff_audit)")
		require.NoError(t, err)
		broken := followed(t, store, support.Head{}).Broken
		require.NotNil(t, broken, "one more is gone, and no entry names it")
		require.Equal(t, int64(1), broken.Position)
		_, err = early.Follow(t.Context(), store.Support(), 1000)
		require.NoError(t, err)
	}
	broken := support.Chain{}
	for range 2 {
		_, err := broken.Follow(t.Context(), store.Support(), 1000)
		require.NoError(t, err)
		require.NotNil(t, broken.Broken)
		broken.Broken = nil
		require.Zero(t, broken.Entries)
	}
}

func TestWhatIsYoungerThanAMonthIsNotPurged(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	as := serving(t, dsn)
	store, role, admin := enginetest.Store(t, as), testdb.Connect(t, as), testdb.Connect(t, dsn)
	aged(t, dsn, store, 33)
	for range 3 {
		_, err := role.Exec(t.Context(), "SELECT purge_audit('-1 day', gen_random_uuid(), 1000), purge_attempt_log('0', gen_random_uuid(), 1000)")
		require.NoError(t, err)
	}
	require.Equal(t, 30, int(testdb.One[int64](t, admin, "SELECT count(*) FROM staff_audit WHERE action = 'attempt.view'")))
	require.Equal(t, 30, int(testdb.One[int64](t, admin, "SELECT count(*) FROM attempt_log")))
	require.Equal(t, "4", testdb.One[string](t, admin, "SELECT detail->>'entries' FROM staff_audit WHERE action = 'log.purge'"))
	require.Nil(t, followed(t, store, support.Head{}).Broken)

	for _, attack := range []string{
		"INSERT INTO lifted_guards VALUES ('purging')", "DELETE FROM staff_audit", "DELETE FROM attempt_log",
		"SELECT erase_orders('ann', 'erased-00000000000000000000000a', '', 10)",
		"INSERT INTO lifted_guards VALUES ('erasing')", "UPDATE attempt_log SET actor = ''",
		"CREATE OR REPLACE FUNCTION purge_audit(interval, uuid, integer) RETURNS bigint LANGUAGE sql AS 'SELECT 1'",
	} {
		_, err := role.Exec(t.Context(), attack)
		var refused *pgconn.PgError
		require.ErrorAs(t, err, &refused, attack)
		require.Equal(t, "42501", refused.Code, attack)
	}

	// With the right to write orders, the name in them is still not the role's to take.
	placed(t, store, "A-7")
	var refused *pgconn.PgError
	_, err := role.Exec(t.Context(), "UPDATE orders SET user_id = 'erased-00000000000000000000000a' WHERE order_id = 'A-7'")
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "orders_terms_fixed", refused.ConstraintName)

	// Tables of the caller's own don't stand for ours.
	_, err = role.Exec(t.Context(), `CREATE TEMP TABLE attempt_log (LIKE public.attempt_log INCLUDING DEFAULTS); INSERT INTO attempt_log (order_id, entry_id, kind, what, at, until)
		VALUES ('A-1', gen_random_uuid(), 'press', 'pay', '2001-01-01', '2001-01-01'); SELECT purge_attempt_log('0', gen_random_uuid(), 1000)`)
	require.NoError(t, err)
	require.Equal(t, 1, int(testdb.One[int64](t, role, "SELECT count(*) FROM pg_temp.attempt_log")))
}
