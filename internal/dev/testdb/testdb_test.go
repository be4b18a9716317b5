package testdb_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/migrations"
)

func TestNewGivesAMigratedDatabase(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.New(t))
	require.NoError(t, migrations.Check(t.Context(), conn))
}

func TestNewDatabasesAreApart(t *testing.T) {
	t.Parallel()
	one, other := connect(t, testdb.New(t)), connect(t, testdb.New(t))
	_, err := one.Exec(t.Context(), "CREATE TABLE mine ()")
	require.NoError(t, err)
	var there bool
	require.NoError(t, other.QueryRow(t.Context(), "SELECT to_regclass('mine') IS NOT NULL").Scan(&there))
	require.False(t, there)
}

func TestNewDropsTheDatabase(t *testing.T) {
	t.Parallel()
	var dsn string
	t.Cleanup(func() {
		_, err := pgx.Connect(context.WithoutCancel(t.Context()), dsn)
		require.ErrorContains(t, err, "does not exist")
	})
	dsn = testdb.New(t)
	connect(t, dsn)
}

// TestOneServerForAllProcesses runs this binary again in a cache of its own: many first processes at once, then a process that
// is killed, then one more.
func TestOneServerForAllProcesses(t *testing.T) {
	t.Parallel()
	cache := emptyCache(t)
	var wg sync.WaitGroup
	servers := make([]string, 4)
	for i := range servers {
		wg.Go(func() { servers[i] = run(t, cache, "print") })
	}
	wg.Wait()
	for _, s := range servers {
		require.Equal(t, servers[0], s)
	}
	require.NotContains(t, run(t, cache, "die"), "FAIL")
	require.Equal(t, servers[0], run(t, cache, "print"))
}

func TestAKilledOwnerIsReplaced(t *testing.T) {
	t.Parallel()
	cache := emptyCache(t)
	before := run(t, cache, "print")
	endOwner(t, cache, syscall.SIGKILL)
	require.NotEqual(t, before, run(t, cache, "print"))
}

// An upgrade replaces the programs: new processes of the old server can't load the new libraries.
func TestUpgradedProgramsGetANewServer(t *testing.T) {
	t.Parallel()
	cache := emptyCache(t)
	bin := filepath.Join(cache, "bin")
	require.NoError(t, os.Mkdir(bin, 0o755))
	programs, err := devpg.FindBin()
	require.NoError(t, err)
	install := func(version string) {
		for _, name := range []string{"initdb", "postgres"} {
			script := fmt.Sprintf("#!/bin/sh\n# %s\nexec %s \"$@\"\n", version, filepath.Join(programs, name))
			require.NoError(t, os.WriteFile(filepath.Join(bin, name+".new"), []byte(script), 0o755))
			require.NoError(t, os.Rename(filepath.Join(bin, name+".new"), filepath.Join(bin, name)))
		}
	}
	install("15.1")
	before := run(t, cache, "print", "PG_BIN="+bin)
	require.Equal(t, before, run(t, cache, "print", "PG_BIN="+bin))
	install("15.10")
	after := run(t, cache, "print", "PG_BIN="+bin)
	require.NotContains(t, after, "FAIL")
	require.NotEqual(t, before, after)
}

func TestNoBinariesFailsWithTheRemedy(t *testing.T) {
	t.Parallel()
	out := run(t, t.TempDir(), "print", "PG_BIN=/nonexistent")
	require.Contains(t, out, "apt-get install postgresql")
	require.Contains(t, out, "--- FAIL")
}

func TestPrivateComesBackUnderTheSameURL(t *testing.T) {
	t.Parallel()
	srv := testdb.Private(t)
	dsn := srv.DSN("postgres")
	require.NoError(t, migrations.Check(t.Context(), connect(t, dsn)))
	require.NoError(t, syscall.Kill(srv.Pid(), syscall.SIGKILL))
	<-srv.Done()
	_, err := pgx.Connect(t.Context(), dsn)
	require.Error(t, err)

	require.Error(t, srv.Stop(), "it says that the server was killed")
	again, err := devpg.Start(t.Context(), devpg.Config{Dir: srv.Dir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, again.Stop()) })
	require.NoError(t, migrations.Check(t.Context(), connect(t, dsn)))
}

// TestProcess is the body of the processes of the other tests.
func TestProcess(t *testing.T) { //nolint:paralleltest // alone in its process
	role := os.Getenv("TESTDB_ROLE")
	if role == "" {
		return
	}
	conn := connect(t, testdb.New(t))
	if role == "die" {
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGKILL))
	}
	var started string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT pg_postmaster_start_time()::text").Scan(&started))
	_, _ = io.WriteString(os.Stderr, started)
}

func run(t *testing.T, cache, role string, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestProcess$")
	cmd.Env = append(os.Environ(), append(env, "TESTDB_ROLE="+role, "XDG_CACHE_HOME="+cache, "PAYLATCH_TEST_DATABASE_URL=")...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	if said.Len() > 0 {
		return said.String()
	}
	return string(out)
}

// emptyCache has a short path, and its server ends with the test.
func emptyCache(t *testing.T) string {
	t.Helper()
	cache, err := os.MkdirTemp("/tmp", "testdb-") //nolint:usetesting // the path of a unix socket must be short
	require.NoError(t, err)
	require.NoError(t, os.Chmod(cache, 0o711), "the server may run as another user")
	t.Cleanup(func() {
		endOwner(t, cache, syscall.SIGTERM)
		require.NoError(t, os.RemoveAll(cache))
	})
	return cache
}

// endOwner returns when the owner of the server in the cache is gone: its lock is free then.
func endOwner(t *testing.T, cache string, sig syscall.Signal) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(cache, "paylatch", "testdb-*", "server", "devpg.lock"))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, path := range found {
		endOwnerOf(t, path, sig)
	}
}

func endOwnerOf(t *testing.T, path string, sig syscall.Signal) {
	t.Helper()
	lock, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, lock.Close()) }()
	pid, err := io.ReadAll(lock)
	require.NoError(t, err)
	owner, err := strconv.Atoi(string(pid))
	require.NoError(t, err)
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		return // it is gone already, and its pid may be another's
	}
	require.NoError(t, syscall.Kill(owner, sig))
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// Another process that is given the port by chance finds the higher one taken.
func TestAddressIsTheTestsAlone(t *testing.T) {
	t.Parallel()
	at := netip.MustParseAddrPort(testdb.Address(t))
	_, err := new(net.ListenConfig).Listen(t.Context(), "tcp", netip.AddrPortFrom(at.Addr(), at.Port()+6_000).String())
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	require.NotEqual(t, at.String(), testdb.Address(t))
}
