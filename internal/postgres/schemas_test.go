package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/migrations"
)

// portableSoon is how long a test waits for an expected event.
const portableSoon = testdb.Patience

// TestNeighbours looks at two schemas of one database, beside a third.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	first, second := neighbours(t)
	for name, test := range map[string]func(t *testing.T, first, second string){"leads": leads, "notices": notices, "locks": locks, "chains": chains} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, first, second)
		})
	}
}

// neighbours are two schemas of one database. Their names differ only in ways that are lost if a statement folds or
// splits names.
func neighbours(t *testing.T) (first, second string) {
	t.Helper()
	dsn := testdb.New(t)
	return testdb.Schema(t, dsn, "Cell 1"), testdb.Schema(t, dsn, "cell 1")
}

func open(t *testing.T, dsn string) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), testdb.Patient(dsn))
	require.NoError(t, err)
	store.Patiently(testdb.Patience)
	t.Cleanup(store.Close)
	return store
}

// leads looks for references from one schema to the other: only references to PostgreSQL's own objects lead out of it.
func leads(t *testing.T, first, _ string) {
	t.Helper()
	conn := testdb.Connect(t, first)
	rows, err := conn.Query(t.Context(), `
		WITH ours AS (SELECT oid FROM pg_namespace WHERE nspname = current_schema()),
		foreign_ones AS (SELECT oid FROM pg_namespace WHERE nspname NOT IN (current_schema(), 'pg_catalog') AND nspname !~ '^pg_toast')
		SELECT 'constraint ' || c.conname FROM pg_constraint c JOIN pg_class r ON r.oid = c.confrelid
			WHERE c.connamespace IN (TABLE ours) AND r.relnamespace IN (TABLE foreign_ones)
		UNION ALL SELECT 'trigger ' || t.tgname FROM pg_trigger t JOIN pg_class r ON r.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
			WHERE r.relnamespace IN (TABLE ours) AND p.pronamespace IN (TABLE foreign_ones)
		UNION ALL SELECT 'column ' || r.relname || '.' || a.attname FROM pg_attribute a JOIN pg_class r ON r.oid = a.attrelid JOIN pg_type y ON y.oid = a.atttypid
			WHERE r.relnamespace IN (TABLE ours) AND y.typnamespace IN (TABLE foreign_ones)
		UNION ALL SELECT 'default of ' || r.relname FROM pg_attrdef d JOIN pg_class r ON r.oid = d.adrelid JOIN pg_depend n ON n.classid = 'pg_attrdef'::regclass
			AND n.objid = d.oid AND n.refclassid IN ('pg_class'::regclass, 'pg_proc'::regclass)
			LEFT JOIN pg_class s ON n.refclassid = 'pg_class'::regclass AND s.oid = n.refobjid LEFT JOIN pg_proc p ON n.refclassid = 'pg_proc'::regclass AND p.oid = n.refobjid
			WHERE r.relnamespace IN (TABLE ours) AND (s.relnamespace IN (TABLE foreign_ones) OR p.pronamespace IN (TABLE foreign_ones))
		UNION ALL SELECT 'function ' || p.proname FROM pg_proc p, unnest(p.proconfig) setting
			WHERE p.pronamespace IN (TABLE ours) AND setting LIKE 'search_path=%'
			AND setting NOT IN ('search_path=pg_catalog, pg_temp', 'search_path=' || quote_ident(current_schema()), 'search_path="' || quote_ident(current_schema()) || '"',
				'search_path=pg_catalog, ' || quote_ident(current_schema()) || ', pg_temp')
		UNION ALL SELECT 'takes a table of the caller: ' || p.proname FROM pg_proc p
			WHERE p.pronamespace IN (TABLE ours) AND NOT EXISTS (SELECT FROM unnest(p.proconfig) setting WHERE setting LIKE 'search_path=%pg_temp')
			AND (p.prosecdef OR EXISTS (SELECT FROM pg_proc d WHERE d.pronamespace IN (TABLE ours) AND d.prosecdef AND d.oid <> p.oid AND d.prosrc LIKE '%' || p.proname || '(%'))
		UNION ALL SELECT 'lock of ' || p.proname FROM pg_proc p
			WHERE p.pronamespace IN (TABLE ours) AND p.prosrc LIKE '%advisory%' AND p.prosrc NOT LIKE '%TG_TABLE_SCHEMA%' AND p.prosrc NOT LIKE '%nspname%'
		UNION ALL SELECT 'no primary key: ' || r.relname FROM pg_class r
			WHERE r.relnamespace IN (TABLE ours) AND r.relkind = 'r' AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = r.oid AND i.indisprimary)`)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Empty(t, found)
	require.Greater(t, testdb.One[int](t, conn, `SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = quote_ident(current_schema())::regnamespace`), 30)
}

// TestMigratedApart: a schema does not count as migrated because another schema of the database is.
func TestMigratedApart(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	_, err := testdb.Connect(t, dsn).Exec(t.Context(), `CREATE SCHEMA "Cell 1"`)
	require.NoError(t, err)
	empty := testdb.With(t, dsn, "search_path", `"Cell 1"`)
	require.ErrorIs(t, migrations.Check(t.Context(), testdb.Connect(t, empty)), migrations.ErrBehind)
	require.ErrorIs(t, open(t, empty).Migrated(t.Context()), migrations.ErrBehind)
}

// notices: an announcement in a schema reaches the listeners there.
func notices(t *testing.T, first, second string) {
	t.Helper()
	here, there := portableListen(t, open(t, first)), portableListen(t, open(t, second))
	require.NoError(t, open(t, first).Bus().Announce(t.Context(), []string{"of the first"}))
	require.NoError(t, open(t, second).Bus().Announce(t.Context(), []string{"of the second"}))
	require.Equal(t, "of the first", heard(t, here))
	require.Equal(t, "of the second", heard(t, there))
}

// portableListen returns the announcements to a store until the test ends.
func portableListen(t *testing.T, store *postgres.Store) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	told, ready, ended := make(chan string, 10), make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		_ = store.Bus().Listen(ctx, func() { ready <- "ready" }, func(notice string) { told <- notice })
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	require.Equal(t, "ready", heard(t, ready))
	return told
}

func heard(t *testing.T, from <-chan string) string {
	t.Helper()
	limit := time.NewTimer(portableSoon)
	defer limit.Stop()
	select {
	case v := <-from:
		return v
	case <-limit.C:
		require.Fail(t, "waited in vain")
		return ""
	}
}

const audit = `INSERT INTO staff_audit (entry_id, deed_id, actor, roles, action, outcome) VALUES (gen_random_uuid(), gen_random_uuid(), 'ann', '{}', 'look', 'done')`

// locks: a lock in one schema blocks others in its own schema, and no one in another schema.
func locks(t *testing.T, first, second string) {
	t.Helper()
	q := dbsqlc.New()
	for name, lock := range map[string]func(ctx context.Context, db dbsqlc.DBTX) error{
		"audit": func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := db.Exec(ctx, audit)
			return err
		},
		"reconcile": func(ctx context.Context, db dbsqlc.DBTX) error { return q.ReconciliationsLock(ctx, db, "acc") },
		"verify": func(ctx context.Context, db dbsqlc.DBTX) error {
			alone, err := q.EvidenceAlone(ctx, db)
			if err == nil && !alone {
				err = context.DeadlineExceeded
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, dsn := range []string{first, second} { // other tests have the locks for a moment
				require.NoError(t, lock(t.Context(), begin(t, testdb.Patient(dsn))))
			}
			require.Error(t, lock(t.Context(), begin(t, testdb.With(t, first, "lock_timeout", "500ms"))))
		})
	}
}

// begin returns a transaction.
func begin(t *testing.T, dsn string) pgx.Tx {
	t.Helper()
	tx, err := testdb.Connect(t, dsn).Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	return tx
}

// chains: each schema has an audit log of its own. Its positions begin with 1 and its hashes are those of its entries.
func chains(t *testing.T, first, second string) {
	t.Helper()
	for _, dsn := range []string{first, second, first} {
		_, err := testdb.Connect(t, dsn).Exec(t.Context(), audit)
		require.NoError(t, err)
	}
	for dsn, want := range map[string]int{first: 2, second: 1} {
		conn := testdb.Connect(t, dsn)
		require.Equal(t, want, testdb.One[int](t, conn, "SELECT max(position)::int FROM staff_audit"))
		require.Equal(t, want, testdb.One[int](t, conn, "SELECT count(*)::int FROM staff_audit a WHERE hash = audit_hash(a)"))
	}
}
