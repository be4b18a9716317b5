package postgres_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/migrations"
)

// serving returns the database's address for a role that has only the rights needed for serving.
func serving(t *testing.T, dsn string) string {
	t.Helper()
	role := "serving_" + strings.ReplaceAll(uuid.NewString(), "-", "_")
	admin := testdb.Connect(t, dsn)
	_, err := admin.Exec(t.Context(), "CREATE ROLE "+role+" LOGIN PASSWORD 'of-a-test'")
	require.NoError(t, err)
	t.Cleanup(func() {
		db, err := pgx.Connect(context.WithoutCancel(t.Context()), dsn)
		require.NoError(t, err)
		_, err = db.Exec(context.WithoutCancel(t.Context()), "DROP OWNED BY "+role+"; DROP ROLE "+role)
		require.NoError(t, err)
		require.NoError(t, db.Close(context.WithoutCancel(t.Context())))
	})
	_, err = migrations.Grant(t.Context(), dsn, role, false)
	require.NoError(t, err)
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	u.User = url.UserPassword(role, "of-a-test")
	return u.String()
}

func deedOf(actor string) support.AuditEntry {
	return support.AuditEntry{
		ID: uuid.Must(uuid.NewV7()), ActionID: uuid.Must(uuid.NewV7()), Actor: actor, Action: "attempt.view", Outcome: support.Done,
		OrderID: "A-1", Target: "ü, 3:x", Detail: map[string]any{"b": 1.5, "a": []any{"x", nil}},
	}
}

// followed follows the whole audit log, two entries at a time.
func followed(t *testing.T, store *postgres.Store, known support.Head) support.Chain {
	t.Helper()
	chain := support.Chain{Known: known}
	for more := true; more; {
		var err error
		more, err = chain.Follow(t.Context(), store.Support(), 2)
		require.NoError(t, err)
	}
	return chain
}

//nolint:paralleltest,tparallel // one after the other: the audit log is one
func TestAuditCantBeEmptied(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	admin, as := testdb.Connect(t, dsn), serving(t, dsn)
	store, role := enginetest.Store(t, as), testdb.Connect(t, as)
	placed(t, store, "A-1")
	for _, actor := range []string{"ann", "bob", "ann"} {
		require.NoError(t, store.Support().AuditInsert(t.Context(), deedOf(actor)))
	}
	run := func(conn *pgx.Conn, statement string) error {
		_, err := conn.Exec(t.Context(), statement)
		return err
	}

	t.Run("by the role that serves", func(t *testing.T) {
		for _, table := range []string{"staff_audit", "attempt_log", "attempt_transitions", "money_movements"} {
			for _, attack := range []string{
				"UPDATE " + table + " SET at = now()", "DELETE FROM " + table, "TRUNCATE " + table, "DROP TABLE " + table,
				"ALTER TABLE " + table + " DISABLE TRIGGER ALL", "ALTER TABLE " + table + " RENAME TO hidden",
			} {
				var refused *pgconn.PgError
				require.ErrorAs(t, run(role, attack), &refused, attack)
				require.Equal(t, "42501", refused.Code, attack)
			}
		}
		_, may, err := store.Support().AuditMayBeChanged(t.Context())
		require.NoError(t, err)
		require.False(t, may)
		_, may, err = enginetest.Store(t, dsn).Support().AuditMayBeChanged(t.Context())
		require.NoError(t, err)
		require.True(t, may)
	})
	t.Run("sweeps go on", func(t *testing.T) {
		for _, sweep := range []func(context.Context, int) (int, error){
			store.PurgeKeys, store.Sessions().PurgeSessions,
			func(ctx context.Context, _ int) (int, error) { return store.Keys().Refresh(ctx) },
			func(ctx context.Context, _ int) (int, error) {
				_, err := store.Keys().Age(ctx, time.Hour)
				return 0, err
			},
		} {
			_, err := sweep(t.Context(), 10)
			require.NoError(t, err)
		}
	})
	t.Run("position, time and hash are not the caller's", func(t *testing.T) {
		require.NoError(t, run(role, `CREATE TEMP TABLE staff_audit (position bigint, hash bytea); INSERT INTO staff_audit VALUES (99, '\x00')`))
		require.NoError(t, run(role, `INSERT INTO public.staff_audit (entry_id, deed_id, actor, roles, action, outcome, position, previous, hash, at)
			VALUES (gen_random_uuid(), gen_random_uuid(), 'eve', '{}', 'x', 'done', 1, '\x01', '\x02', '2001-01-01')`))
		require.Nil(t, followed(t, store, support.Head{}).Broken)
		require.Equal(t, int64(4), testdb.One[int64](t, admin, "SELECT position FROM staff_audit WHERE actor = 'eve' AND at > now() - interval '1 hour'"))
	})
	t.Run("many at once are one chain", func(t *testing.T) {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 5 {
					require.NoError(t, store.Support().AuditInsert(context.WithoutCancel(t.Context()), deedOf("ann")))
				}
			})
		}
		all.Wait()
		chain := followed(t, store, support.Head{})
		require.Nil(t, chain.Broken)
		require.Equal(t, int64(44), chain.Entries)
	})
	t.Run("a broken chain is found", func(t *testing.T) {
		known := followed(t, store, support.Head{}).Head
		for tamper, want := range map[string]struct {
			position int64
			text     string
		}{
			"UPDATE staff_audit SET reason = 'x' WHERE position = 3":                                 {3, "the entry was changed"},
			"UPDATE staff_audit SET at = at + interval '1 microsecond' WHERE position = 2":           {2, "the entry was changed"},
			"UPDATE staff_audit SET roles = '{admin}' WHERE position = 2":                            {2, "the entry was changed"},
			"UPDATE staff_audit SET order_id = NULL WHERE position = 2":                              {2, "the entry was changed"},
			`UPDATE staff_audit SET detail = '{"a": 1}' WHERE position = 2`:                          {2, "the entry was changed"},
			`UPDATE staff_audit SET target = 'ü, 3:', reason = 'x' WHERE position = 2`:               {2, "the entry was changed"},
			"DELETE FROM staff_audit WHERE position = 2":                                             {2, "entry 2 is missing"},
			"DELETE FROM staff_audit WHERE position = 1":                                             {1, "entry 1 is missing"},
			"DELETE FROM staff_audit WHERE position > 40":                                            {41, "the log ends with entry 40, but it had 44 entries"},
			"DELETE FROM staff_audit":                                                                {1, "the log ends with entry 0, but it had 44 entries"},
			"UPDATE staff_audit SET hash = decode(repeat('11', 32), 'hex') WHERE position = 2":       {2, "the entry was changed"},
			"UPDATE staff_audit e SET actor = 'x', hash = audit_hash(e) WHERE position = 2":          {2, "the entry was changed"},
			"UPDATE staff_audit e SET previous = decode(repeat('11', 32), 'hex') WHERE position = 2": {2, "does not follow"},
			"DO $$ DECLARE e staff_audit; p bytea := decode(repeat('00', 32), 'hex'); BEGIN FOR e IN SELECT * FROM staff_audit ORDER BY position LOOP " +
				"e.actor := 'x'; e.previous := p; p := audit_hash(e); UPDATE staff_audit SET actor = 'x', previous = e.previous, hash = p WHERE position = e.position; " +
				"END LOOP; END $$": {44, "the log was rewritten"},
		} {
			require.NoError(t, run(admin, "CREATE TABLE kept AS SELECT * FROM staff_audit; ALTER TABLE staff_audit DISABLE TRIGGER ALL"))
			require.NoError(t, run(admin, tamper), tamper)
			broken := followed(t, store, known).Broken
			require.NotNil(t, broken, tamper)
			require.Equal(t, want.position, broken.Position, tamper)
			require.Contains(t, broken.Text, want.text, tamper)
			require.NoError(t, run(admin, "DELETE FROM staff_audit; INSERT INTO staff_audit SELECT * FROM kept; DROP TABLE kept; ALTER TABLE staff_audit ENABLE TRIGGER ALL"))
		}
		require.Nil(t, followed(t, store, known).Broken)
	})
}

// A role has exactly the rights that the statements of queries/ need, and each table is covered.
func TestGrantsAreWhatTheStatementsNeed(t *testing.T) {
	t.Parallel()
	needed := map[string][]string{}
	need := func(table, privilege string) {
		if !slices.Contains(needed[table], privilege) {
			needed[table] = append(needed[table], privilege)
		}
	}
	conn := testdb.Connect(t, testdb.New(t))
	rows, err := conn.Query(t.Context(), "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace")
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	for _, table := range tables {
		needed[table] = []string{}
	}
	files, err := filepath.Glob("../../queries/*.sql")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for statement := range strings.SplitSeq(regexp.MustCompile(`(?m)^--.*$`).ReplaceAllString(string(text), ""), ";") {
			for _, found := range regexp.MustCompile(`INSERT INTO (\w+)`).FindAllStringSubmatch(statement, -1) {
				need(found[1], "INSERT")
				if strings.Contains(statement, "DO UPDATE") {
					need(found[1], "UPDATE")
				}
			}
			for _, found := range regexp.MustCompile(`\bUPDATE (\w+)( \w+)? SET\b`).FindAllStringSubmatch(statement, -1) {
				need(found[1], "UPDATE")
			}
			// A row lock needs the right to update.
			for _, found := range regexp.MustCompile(`(?s)FROM (\w+) \w+\s[^;]*FOR (?:NO KEY )?UPDATE`).FindAllStringSubmatch(statement, -1) {
				need(found[1], "UPDATE")
			}
			for _, found := range regexp.MustCompile(`DELETE FROM (\w+)`).FindAllStringSubmatch(statement, -1) {
				need(found[1], "DELETE")
			}
		}
	}
	for table := range needed {
		slices.Sort(needed[table])
	}
	served := migrations.Served()
	for table := range served {
		slices.Sort(served[table])
	}
	require.Equal(t, needed, served, "migrations/grants.go lists each table with what serving does with it")
	for _, appended := range []string{"staff_audit", "attempt_log", "attempt_transitions", "money_movements"} {
		require.Equal(t, []string{"INSERT"}, served[appended])
	}
}
