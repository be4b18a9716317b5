package devpg_test

import (
	"bufio"
	"context"
	"io"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("DEVPG_HOLD"); dir != "" {
		hold(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func TestSecondStartKeepsTheData(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	srv := start(t, devpg.Config{Dir: dir})
	exec1(t, srv, "CREATE TABLE kept ()")
	require.NoError(t, srv.Stop())
	require.NoError(t, srv.Stop(), "twice is fine")
	<-srv.Done()

	exec1(t, start(t, devpg.Config{Dir: dir}), "TABLE kept")
}

func TestParamsAndLogAndProcessGroup(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	srv := start(t, devpg.Config{Dir: shortDir(t), Params: map[string]string{"max_connections": "7"}, Log: &said})
	exec1(t, srv, "DO $$ BEGIN ASSERT current_setting('max_connections') = '7'; END $$")
	group, err := syscall.Getpgid(srv.Pid())
	require.NoError(t, err)
	require.NotEqual(t, syscall.Getpgrp(), group, "Ctrl-C must not reach it")
	require.NoError(t, srv.Stop())
	require.Contains(t, said.String(), "database system is shut down")
}

func TestLongDirectoryAndPort(t *testing.T) {
	t.Parallel()
	addr := netip.MustParseAddrPort(testdb.Address(t))
	dir := filepath.Join(shortDir(t), strings.Repeat("long and, odd ", 10))
	srv := start(t, devpg.Config{Dir: dir})
	exec1(t, srv, "CREATE TABLE kept ()")
	require.NoError(t, srv.Stop())

	srv = start(t, devpg.Config{Dir: dir, Port: int(addr.Port())})
	exec1(t, srv, "TABLE kept")
	u, err := url.Parse(srv.DSN("postgres"))
	require.NoError(t, err)
	require.Equal(t, addr.String(), u.Host)
	u.User = url.UserPassword("postgres", "wrong")
	_, err = pgx.Connect(t.Context(), u.String())
	require.ErrorContains(t, err, "password authentication failed")
}

// TestKilledParent leaves the data to the next start in all the states that a SIGKILL can.
func TestKilledParent(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	srv := start(t, devpg.Config{Dir: dir})
	exec1(t, srv, "CREATE TABLE kept ()")
	require.NoError(t, srv.Stop())

	parent, _ := holder(t, dir)
	kill(t, parent.Process.Pid)
	_ = parent.Wait()
	srv = start(t, devpg.Config{Dir: dir})
	exec1(t, srv, "TABLE kept")
	require.NoError(t, srv.Stop())

	parent, postmaster := holder(t, dir)
	kill(t, postmaster)
	kill(t, parent.Process.Pid)
	_ = parent.Wait()
	exec1(t, start(t, devpg.Config{Dir: dir}), "TABLE kept")
}

func TestPidFileThatNamesAnother(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	srv := start(t, devpg.Config{Dir: dir})
	exec1(t, srv, "CREATE TABLE kept ()")
	kill(t, srv.Pid())
	<-srv.Done()
	require.Error(t, srv.Stop())

	other := exec.Command("cat")
	stdin, err := other.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	for _, name := range []string{"data/postmaster.pid", ".s.PGSQL.5432.lock"} {
		name = filepath.Join(dir, name)
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		_, rest, _ := strings.Cut(string(b), "\n")
		require.NoError(t, os.WriteFile(name, []byte(strconv.Itoa(other.Process.Pid)+"\n"+rest), 0o600))
	}
	exec1(t, start(t, devpg.Config{Dir: dir}), "TABLE kept")
	require.NoError(t, stdin.Close())
	require.NoError(t, other.Wait(), "it must not have been touched")
}

func TestInUse(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	parent, _ := holder(t, dir)
	_, err := devpg.Start(t.Context(), devpg.Config{Dir: dir})
	require.ErrorIs(t, err, devpg.ErrInUse)
	require.ErrorContains(t, err, strconv.Itoa(parent.Process.Pid))
}

func TestForeignDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	theirs := filepath.Join(dir, "PG_VERSION")
	require.NoError(t, os.WriteFile(theirs, []byte("15"), 0o600))
	_, err := devpg.Start(t.Context(), devpg.Config{Dir: dir})
	require.ErrorIs(t, err, devpg.ErrForeign)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing added, nothing deleted")
}

func TestOtherVersionIsRefused(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	version := filepath.Join(dir, "data", "PG_VERSION")
	require.NoError(t, os.Mkdir(filepath.Dir(version), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "devpg.lock"), nil, 0o600))
	require.NoError(t, os.WriteFile(version, []byte("9\n"), 0o600))
	_, err := devpg.Start(t.Context(), devpg.Config{Dir: dir})
	require.ErrorIs(t, err, devpg.ErrVersion)
	require.ErrorContains(t, err, "set PG_BIN to the binaries of version 9")
	require.FileExists(t, version)

	require.NoError(t, os.Remove(version))
	_, err = devpg.Start(t.Context(), devpg.Config{Dir: dir})
	require.ErrorIs(t, err, devpg.ErrForeign)
}

func TestInterruptedFirstStart(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := devpg.Start(ctx, devpg.Config{Dir: dir})
	require.ErrorIs(t, err, context.Canceled)
	left := filepath.Join(dir, "initdb-1")
	require.NoError(t, os.Mkdir(left, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(left, "PG_VERSION"), []byte("15"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "devpg.lock"), nil, 0o600))
	exec1(t, start(t, devpg.Config{Dir: dir}), "SELECT 1")
	require.NoDirExists(t, left)
}

func TestFindBin(t *testing.T) {
	t.Setenv("PG_BIN", "/nonexistent")
	_, err := devpg.FindBin()
	require.ErrorIs(t, err, devpg.ErrNoBinaries)
	for _, remedy := range []string{"apt-get install postgresql", "PG_BIN", "PAYLATCH_DATABASE_URL"} {
		require.ErrorContains(t, err, remedy)
	}
	t.Setenv("PG_BIN", "")
	bin, err := devpg.FindBin()
	require.NoError(t, err)
	t.Setenv("PG_BIN", bin)
	again, err := devpg.FindBin()
	require.NoError(t, err)
	require.Equal(t, bin, again)
}

// hold is a process that runs a server until it is killed or its input ends.
func hold(dir string) {
	srv, err := devpg.Start(context.Background(), devpg.Config{Dir: dir})
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(strconv.Itoa(srv.Pid()) + "\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = srv.Stop()
}

// holder returns a process of hold and its postmaster's pid.
func holder(t *testing.T, dir string) (*exec.Cmd, int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DEVPG_HOLD="+dir)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	return cmd, pid
}

func start(t *testing.T, c devpg.Config) *devpg.Server {
	t.Helper()
	srv, err := devpg.Start(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = srv.Stop() })
	return srv
}

func exec1(t *testing.T, srv *devpg.Server, query string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), srv.DSN("postgres"))
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), query)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}

func kill(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

// shortDir returns a directory that is short enough for the path of a unix socket, whatever the test's name.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "devpg-test-") //nolint:usetesting // see above
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o711), "the server may run as another user")
	return dir
}
