package migrations_test

import (
	"context"
	"net/url"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/migrations"
)

func TestReplicasMayStartAtOnce(t *testing.T) {
	t.Parallel()
	dsn := emptyDatabase(t)
	conn := connect(t, dsn)
	have, err := migrations.Version(t.Context(), conn)
	require.NoError(t, err)
	require.Zero(t, have)
	require.ErrorIs(t, migrations.Check(t.Context(), conn), migrations.ErrBehind)

	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() { errs[i] = migrations.Up(t.Context(), dsn) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.NoError(t, migrations.Check(t.Context(), conn))
	have, err = migrations.Version(t.Context(), conn)
	require.NoError(t, err)
	require.Equal(t, migrations.Required(), have)
}

func TestCheckAcceptsANewerSchema(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.New(t))
	_, err := conn.Exec(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)", migrations.Required()+1)
	require.NoError(t, err)
	require.NoError(t, migrations.Check(t.Context(), conn))
}

func TestStatus(t *testing.T) {
	t.Parallel()
	dsn := emptyDatabase(t)
	files := fstest.MapFS{"00001_first.sql": sql("CREATE TABLE first ()")}
	require.NoError(t, migrations.UpFrom(t.Context(), dsn, files))
	files["00002_second.sql"] = sql("CREATE TABLE second ()")

	all, err := migrations.StatusFrom(t.Context(), dsn, files)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "00001_first.sql", all[0].Name)
	require.False(t, all[0].At.IsZero())
	require.EqualValues(t, 2, all[1].Version)
	require.True(t, all[1].At.IsZero())
}

// The address is that of the service, which has a pool.
func TestTheAddressMaySayHowLargeAPoolIs(t *testing.T) {
	t.Parallel()
	dsn := emptyDatabase(t) + "&pool_max_conns=20&pool_min_conns=2"
	files := fstest.MapFS{"00001_first.sql": sql("CREATE TABLE first ()")}
	require.NoError(t, migrations.UpFrom(t.Context(), dsn, files))
	all, err := migrations.StatusFrom(t.Context(), dsn, files)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.False(t, all[0].At.IsZero())
}

func TestAFailedFileLeavesNothing(t *testing.T) {
	t.Parallel()
	dsn := emptyDatabase(t)
	files := fstest.MapFS{
		"00001_good.sql": sql("CREATE TABLE good ()"),
		"00002_bad.sql":  sql("CREATE TABLE bad (); SELECT 1/0"),
	}
	require.ErrorContains(t, migrations.UpFrom(t.Context(), dsn, files), "00002_bad.sql")
	var good, bad bool
	q := "SELECT to_regclass('good') IS NOT NULL, to_regclass('bad') IS NOT NULL"
	require.NoError(t, connect(t, dsn).QueryRow(t.Context(), q).Scan(&good, &bad))
	require.True(t, good)
	require.False(t, bad)
}

// Behind a migration that waits for a lock everybody waits.
func TestAMigrationDoesNotWaitLongForALock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ address, want string }{
		"by default":             {"", "3s"},
		"as the address says it": {"&lock_timeout=1min", "1min"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := emptyDatabase(t)
			files := fstest.MapFS{"00001_first.sql": sql("CREATE TABLE first AS SELECT current_setting('lock_timeout') AS has")}
			require.NoError(t, migrations.UpFrom(t.Context(), dsn+c.address, files))
			var has string
			require.NoError(t, connect(t, dsn).QueryRow(t.Context(), "SELECT has FROM first").Scan(&has))
			require.Equal(t, c.want, has)
		})
	}
}

func TestAMigrationBehindAReaderCanBeRunAgain(t *testing.T) {
	t.Parallel()
	dsn := emptyDatabase(t)
	impatient := dsn + "&lock_timeout=50ms"
	files := fstest.MapFS{"00001_first.sql": sql("CREATE TABLE first ()")}
	require.NoError(t, migrations.UpFrom(t.Context(), impatient, files))
	reader, err := connect(t, dsn).Begin(t.Context())
	require.NoError(t, err)
	_, err = reader.Exec(t.Context(), "SELECT FROM first")
	require.NoError(t, err)

	files["00002_second.sql"] = sql("CREATE TABLE second ()")
	files["00003_third.sql"] = sql("ALTER TABLE first ADD third int")
	err = migrations.UpFrom(t.Context(), impatient, files)
	require.ErrorContains(t, err, "00003_third.sql")
	require.ErrorContains(t, err, "something holds a table that the migration needs")
	require.ErrorContains(t, err, "try again")

	require.NoError(t, reader.Rollback(t.Context()))
	require.NoError(t, migrations.UpFrom(t.Context(), impatient, files))
	have, err := migrations.Version(t.Context(), connect(t, dsn))
	require.NoError(t, err)
	require.EqualValues(t, 3, have)
}

func TestRequiredAndHash(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"00009_a.sql": sql("SELECT 9"), "00010_b.sql": sql("SELECT 10")}
	require.EqualValues(t, 10, migrations.RequiredFrom(files))
	before := migrations.HashFrom(files)
	require.Len(t, before, 12)
	files["00010_b.sql"] = sql("SELECT 11")
	require.NotEqual(t, before, migrations.HashFrom(files))
}

func sql(up string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte("-- +goose Up\n" + up + ";\n")}
}

// emptyDatabase is beside a migrated one, whose server it uses.
func emptyDatabase(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(testdb.New(t))
	require.NoError(t, err)
	beside := connect(t, u.String())
	name := u.Path[1:] + "_empty"
	_, err = beside.Exec(t.Context(), "CREATE DATABASE "+name+" TEMPLATE template0")
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := beside.Exec(context.WithoutCancel(t.Context()), "DROP DATABASE "+name+" WITH (FORCE)")
		require.NoError(t, err)
	})
	u.Path = "/" + name
	return u.String()
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}
