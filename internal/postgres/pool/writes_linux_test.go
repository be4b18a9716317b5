package pool_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
	"github.com/paylatch/paylatch/migrations"
)

// takes requires that the database takes writes. On a busy machine a try may last too long.
func takes(t *testing.T, p *pool.Pool) {
	t.Helper()
	require.Eventually(t, func() bool { return p.TakesWrites(t.Context()) == nil }, testdb.Patience, 10*time.Millisecond)
}

func TestTakesWrites(t *testing.T) {
	t.Parallel()
	t.Run("as the role that serves", func(t *testing.T) {
		t.Parallel()
		server := testdb.Private(t)
		dsn, role := server.DSN("postgres"), "serving-"+uuid.NewString()
		_, err := testdb.Connect(t, dsn).Exec(t.Context(), "CREATE ROLE "+pgx.Identifier{role}.Sanitize()+" LOGIN")
		require.NoError(t, err)
		_, err = migrations.Grant(t.Context(), dsn, role, false)
		require.NoError(t, err)
		takes(t, open(t, testdb.With(t, dsn, "user", role)))
	})
	t.Run("without the tables", func(t *testing.T) {
		t.Parallel()
		takes(t, open(t, testdb.With(t, testdb.New(t), "search_path", "pg_temp")))
	})
	t.Run("without temporary files", func(t *testing.T) {
		t.Parallel()
		takes(t, open(t, testdb.With(t, testdb.New(t), "temp_file_limit", "0")))
	})
	t.Run("transactions that only read", func(t *testing.T) {
		t.Parallel()
		only := open(t, testdb.With(t, testdb.New(t), "default_transaction_read_only", "on"))
		require.NoError(t, only.Ping(t.Context()))
		require.ErrorIs(t, only.TakesWrites(t.Context()), payment.ErrUnavailable)
	})
	t.Run("a standby", func(t *testing.T) {
		t.Parallel()
		follower, leader := standby(t, testdb.Private(t))
		takes(t, open(t, leader.DSN("postgres")))
		p := open(t, follower.DSN("postgres"))
		require.NoError(t, p.Ping(t.Context()))
		require.ErrorIs(t, p.TakesWrites(t.Context()), payment.ErrUnavailable)
	})
	t.Run("a full disk", func(t *testing.T) {
		t.Parallel()
		fill, dsn := fullDisk(t)
		p := open(t, dsn)
		takes(t, p)
		free := fill()
		require.NoError(t, p.Ping(t.Context()))
		require.Eventually(t, func() bool { return errors.Is(p.TakesWrites(t.Context()), payment.ErrUnavailable) }, testdb.Patience, 10*time.Millisecond)
		free()
		takes(t, p)
	})
}

// A commit that waits, here for a standby that never comes, is no answer: the probe gets one, and leaves no session behind.
func TestTakesWritesDoesNotHang(t *testing.T) {
	t.Parallel()
	server := testdb.Private(t)
	admin := testdb.Connect(t, server.DSN("postgres"))
	waitFor := func(standbys string) {
		for _, s := range []string{"ALTER SYSTEM SET synchronous_standby_names = '" + standbys + "'", "SELECT pg_reload_conf()"} {
			_, err := admin.Exec(t.Context(), s)
			require.NoError(t, err)
		}
	}
	p := open(t, server.DSN("postgres"))
	waitFor("nobody")
	require.Eventually(t, func() bool { return errors.Is(p.TakesWrites(t.Context()), payment.ErrUnavailable) }, testdb.Patience, 10*time.Millisecond)
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	require.Eventually(t, func() bool { return errors.Is(p.TakesWrites(impatient), context.Canceled) }, testdb.Patience, 10*time.Millisecond)
	waitFor("")
	takes(t, p)
	require.Eventually(t, func() bool {
		return testdb.One[int64](t, admin, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 0
	}, testdb.Patience, 10*time.Millisecond)
}

// fullDisk starts a server on a small file system of its own, and returns what fills that, which returns what frees it again.
func fullDisk(t *testing.T) (fill func() (free func()), dsn string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "paylatch-") //nolint:usetesting // the path of a unix socket must be short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=256m,mode=711"); err != nil {
		t.Skipf("a file system of its own needs the rights of root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	server, err := devpg.Start(t.Context(), devpg.Config{Dir: filepath.Join(dir, "pg")})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Stop() })
	require.NoError(t, migrations.Up(t.Context(), server.DSN("postgres")))
	return func() func() {
		f, err := os.Create(filepath.Join(dir, "filler"))
		require.NoError(t, err)
		for chunk := make([]byte, 1<<20); err == nil; _, err = f.Write(chunk) {
		}
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.NoError(t, f.Close())
		return func() { require.NoError(t, os.Remove(f.Name())) }
	}, server.DSN("postgres")
}

// TestACommitIsNotGivenUpEarly: a commit that waits for a standby is waited for, though its caller goes away. A commit that was given up can be
// read, and the service notices a missing standby only after a while.
func TestACommitIsNotGivenUpEarly(t *testing.T) {
	t.Parallel()
	server := testdb.Private(t)
	admin := testdb.Connect(t, server.DSN("postgres"))
	p := usual(t, testdb.Patient(server.DSN("postgres")))
	require.Eventually(t, func() bool { return p.Ping(t.Context()) == nil }, testdb.Patience, 10*time.Millisecond)
	for _, s := range []string{"CREATE TABLE written (id int)", "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()"} {
		_, err := admin.Exec(t.Context(), s)
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool {
		return testdb.One[string](t, admin, "SHOW synchronous_standby_names") == "nobody"
	}, testdb.Patience, 10*time.Millisecond)
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var begun time.Time
	write := func() {
		ended <- p.Once(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
			begun = time.Now()
			_, err := tx.Exec(ctx, "INSERT INTO written VALUES (1)")
			return err
		})
	}
	go write()
	require.Eventually(t, func() bool {
		select {
		case <-ended: // a busy machine found no connection in time
			go write()
		default:
		}
		return testdb.One[int64](t, admin, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") > 0
	}, testdb.Patience, 10*time.Millisecond)
	leave()
	require.ErrorIs(t, <-ended, payment.ErrUnavailable)
	require.Greater(t, time.Since(begun), watermark.Fresh)
}
