package migrations_test

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/migrations"
)

// role makes a role of a name of its own with some attributes, which ends with the test.
func role(t *testing.T, dsn, attributes string) string {
	t.Helper()
	name := "a role-" + uuid.NewString()
	quoted := pgx.Identifier{name}.Sanitize()
	_, err := connect(t, dsn).Exec(t.Context(), "CREATE ROLE "+quoted+" "+attributes)
	require.NoError(t, err)
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.WithoutCancel(t.Context()), dsn)
		require.NoError(t, err)
		_, err = conn.Exec(context.WithoutCancel(t.Context()), "REASSIGN OWNED BY "+quoted+" TO CURRENT_USER; DROP OWNED BY "+quoted+"; DROP ROLE "+quoted)
		require.NoError(t, err)
		require.NoError(t, conn.Close(context.WithoutCancel(t.Context())))
	})
	return name
}

func privileges(t *testing.T, conn *pgx.Conn, role string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT c.relname || ' ' || string_agg(p, ' ' ORDER BY p) FROM pg_class c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) p
		WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace AND has_table_privilege($1::name, c.oid, p) GROUP BY relname ORDER BY 1`, role)
	require.NoError(t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return list
}

func TestGrant(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	conn := connect(t, dsn)
	name := role(t, dsn, "LOGIN")
	said, err := migrations.Grant(t.Context(), dsn, name, true)
	require.NoError(t, err)
	require.Contains(t, said, `GRANT SELECT, INSERT ON public.staff_audit TO "`+name+`"`)
	require.Empty(t, privileges(t, conn, name), "it was only asked about")
	granted, err := migrations.Granted(t.Context(), dsn)
	require.NoError(t, err)
	require.Empty(t, granted)

	// What it had beyond that is gone afterwards.
	_, err = conn.Exec(t.Context(), "GRANT ALL ON ALL TABLES IN SCHEMA public TO "+pgx.Identifier{name}.Sanitize())
	require.NoError(t, err)
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		all.Go(func() {
			_, errs[i] = migrations.Grant(context.WithoutCancel(t.Context()), dsn+"&pool_max_conns=3", name, false)
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err, "processes that start at once grant at once")
	}
	list := privileges(t, conn, name)
	require.Len(t, list, len(migrations.Served()))
	for _, want := range []string{"staff_audit INSERT SELECT", "attempt_log INSERT SELECT", "sessions DELETE INSERT SELECT UPDATE", "goose_db_version SELECT"} {
		require.Contains(t, list, want)
	}
	granted, err = migrations.Granted(t.Context(), dsn)
	require.NoError(t, err)
	require.Equal(t, []string{name}, granted)

	// A table that a later migration makes is not theirs until the next grant.
	_, err = conn.Exec(t.Context(), "CREATE TABLE later ()")
	require.NoError(t, err)
	_, err = migrations.Grant(t.Context(), dsn, name, false)
	require.NoError(t, err)
	require.Equal(t, list, privileges(t, conn, name))
}

// While a new version is taken back, processes of both serve: an older binary leaves the newer one's privileges.
func TestGrantOfAnOlderBinary(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	conn := connect(t, dsn)
	name := role(t, dsn, "LOGIN")
	_, err := migrations.Grant(t.Context(), dsn, name, false)
	require.NoError(t, err)
	list := privileges(t, conn, name)
	_, err = conn.Exec(t.Context(), "CREATE TABLE later (); GRANT SELECT, INSERT ON later TO "+pgx.Identifier{name}.Sanitize()+
		"; REVOKE ALL ON staff_audit FROM "+pgx.Identifier{name}.Sanitize())
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)", migrations.Required()+1)
	require.NoError(t, err)
	said, err := migrations.Grant(t.Context(), dsn, name, false)
	require.NoError(t, err)
	require.NotContains(t, strings.Join(said, "\n"), "REVOKE")
	require.ElementsMatch(t, append(list, "later INSERT SELECT"), privileges(t, conn, name))
}

func TestGrantRefusesWhomGrantsDoNotBind(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	conn := connect(t, dsn)
	quote := func(name string) string { return pgx.Identifier{name}.Sanitize() }
	owner := role(t, dsn, "")
	for _, give := range []string{"ALTER TABLE orders OWNER TO ", "GRANT USAGE ON SCHEMA public TO "} {
		_, err := conn.Exec(t.Context(), give+quote(owner))
		require.NoError(t, err)
	}
	other := role(t, dsn, "")
	_, err := conn.Exec(t.Context(), "GRANT DELETE ON staff_audit TO "+quote(other))
	require.NoError(t, err)
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		role  string
		given string
		want  error
		says  string
	}{
		"nobody":                 {role: "nobody-of-that-name", want: migrations.ErrNoRole, says: "CREATE ROLE"},
		"a superuser":            {role: role(t, dsn, "SUPERUSER"), want: migrations.ErrUnbound, says: "it is a superuser"},
		"a maker of roles":       {role: role(t, dsn, "CREATEROLE"), want: migrations.ErrUnbound, says: "may create roles"},
		"an owner":               {role: owner, want: migrations.ErrUnbound, says: "the owner of the tables"},
		"a member of the owner":  {role: role(t, dsn, "NOINHERIT"), given: "GRANT " + quote(owner) + " TO ", want: migrations.ErrUnbound, says: owner},
		"a writer of files":      {role: role(t, dsn, ""), given: "GRANT pg_write_server_files TO ", want: migrations.ErrUnbound, says: "pg_write_server_files"},
		"a deleter by another":   {role: role(t, dsn, ""), given: "GRANT " + quote(other) + " TO ", want: migrations.ErrMore, says: "DELETE on staff_audit"},
		"a writer of all tables": {role: role(t, dsn, ""), given: "GRANT pg_write_all_data TO ", want: migrations.ErrMore, says: "UPDATE on attempt_log"},
		"the database's owner": {
			role: role(t, dsn, ""), given: "ALTER DATABASE " + strings.TrimPrefix(u.Path, "/") + " OWNER TO ", want: migrations.ErrUnbound, says: "the owner of the database",
		},
	} {
		if c.given != "" {
			_, err := conn.Exec(t.Context(), c.given+quote(c.role))
			require.NoError(t, err, name)
		}
		_, err := migrations.Grant(t.Context(), dsn, c.role, false)
		require.ErrorIs(t, err, c.want, name)
		require.ErrorContains(t, err, c.says, name)
	}
	granted, err := migrations.Granted(t.Context(), dsn)
	require.NoError(t, err)
	require.Empty(t, granted, "nothing of it was kept")
}

func TestGrantNeedsTheTables(t *testing.T) {
	t.Parallel()
	dsn := emptyDatabase(t)
	_, err := migrations.Grant(t.Context(), dsn, role(t, dsn, ""), false)
	require.ErrorIs(t, err, migrations.ErrBehind)
	granted, err := migrations.Granted(t.Context(), dsn)
	require.NoError(t, err)
	require.Empty(t, granted)
}
