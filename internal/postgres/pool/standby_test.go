package pool_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// standby starts a server that follows another one, from a copy of its files.
func standby(t *testing.T, pg *devpg.Server) (follower, leader *devpg.Server) {
	t.Helper()
	require.NoError(t, pg.Stop())
	dir := pg.Dir() + ".standby"
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	out, err := exec.CommandContext(t.Context(), "cp", "-a", pg.Dir(), dir).CombinedOutput()
	require.NoError(t, err, string(out))
	leader, err = devpg.Start(t.Context(), devpg.Config{Dir: pg.Dir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = leader.Stop() })
	signal := filepath.Join(dir, "data", "standby.signal")
	require.NoError(t, os.WriteFile(signal, nil, 0o600))
	info, err := os.Stat(filepath.Join(dir, "data", "PG_VERSION"))
	require.NoError(t, err)
	owner, ok := info.Sys().(*syscall.Stat_t)
	require.True(t, ok)
	require.NoError(t, os.Chown(signal, int(owner.Uid), int(owner.Gid)))
	at, err := pgx.ParseConfig(leader.DSN("postgres"))
	require.NoError(t, err)
	follower, err = devpg.Start(t.Context(), devpg.Config{Dir: dir, Params: map[string]string{
		"primary_conninfo": "host=" + at.Host + " user=" + at.User, "hot_standby": "on",
	}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = follower.Stop() })
	return follower, leader
}

// TestOnceBehind reads a standby, which follows, and the database itself once that is killed.
func TestOnceBehind(t *testing.T) {
	t.Parallel()
	follower, leader := standby(t, testdb.Private(t))
	p, err := pool.OpenAt(t.Context(), pool.Address{URL: testdb.Patient(leader.DSN("postgres")), Standby: testdb.Patient(follower.DSN("postgres"))})
	require.NoError(t, err)
	t.Cleanup(p.Close)
	p.Patiently(testdb.Patience)
	inRecovery := func(query string) (behind bool, err error) {
		err = p.OnceBehind(t.Context(), func(ctx context.Context, tx *pipeline.Tx) error {
			return tx.QueryRow(ctx, query).Scan(&behind)
		})
		return behind, err
	}
	behind, err := inRecovery("SELECT pg_is_in_recovery()")
	require.NoError(t, err)
	require.True(t, behind)
	require.NoError(t, p.Once(t.Context(), func(ctx context.Context, tx *pipeline.Tx) error {
		_, err := tx.Exec(ctx, "CREATE TABLE followed AS SELECT 1")
		return err
	}))
	require.Eventually(t, func() bool {
		behind, err = inRecovery("SELECT pg_is_in_recovery() FROM followed")
		return err == nil && behind
	}, testdb.Patience, 10*time.Millisecond)

	require.NoError(t, syscall.Kill(follower.Pid(), syscall.SIGKILL))
	<-follower.Done()
	behind, err = inRecovery("SELECT pg_is_in_recovery() FROM followed")
	require.NoError(t, err)
	require.False(t, behind)
	refused := errors.New("no")
	require.ErrorIs(t, p.OnceBehind(t.Context(), func(context.Context, *pipeline.Tx) error { return refused }), refused)
}
