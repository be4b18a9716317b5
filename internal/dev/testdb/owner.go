package testdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/paylatch/paylatch/internal/dev/devpg"
)

const (
	ownerEnv    = "PAYLATCH_TESTDB_OWNER"
	ownerSocket = "owner.sock"
	saidReady   = "ready"
	saidInUse   = "in use"

	linger     = 20 * time.Second // between the packages of one run
	lingerKept = 10 * time.Minute // for a look at the database of a failed test
)

// The owner of the shared server is a test binary that was started again: every test run has this program, and the owner must
// outlive the process that starts it.
func init() { //nolint:gochecknoinits // before the flags and the tests of whatever binary this is
	dir := os.Getenv(ownerEnv)
	if dir == "" {
		return
	}
	if err := own(dir); errors.Is(err, devpg.ErrInUse) {
		_, _ = os.Stdout.WriteString(saidInUse)
	} else if err != nil {
		_, _ = os.Stdout.WriteString(err.Error())
	}
	os.Exit(0)
}

// own runs the server until it has been unused for a while.
func own(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	srv, err := startShared(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { _ = srv.Stop() }()
	if err := dropLeftovers(ctx, srv.DSN("postgres")); err != nil {
		return err
	}
	path := filepath.Join(dir, ownerSocket)
	_ = os.Remove(path) //nolint:gosec // a killed owner's: the server's lock says that we are the only one
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer func() { _ = l.Close() }()
	_, _ = os.Stdout.WriteString(saidReady)
	_ = os.Stdout.Close() // startOwner waits for the end of this
	waitUntilUnused(ctx, srv, l)
	return nil
}

// startShared gives up safety for speed, so a server that does not come up again is made anew: nothing in it is worth keeping.
func startShared(ctx context.Context, dir string) (*devpg.Server, error) {
	cfg := devpg.Config{Dir: filepath.Join(dir, "server"), Params: map[string]string{
		"fsync":              "off",
		"synchronous_commit": "off",
		"full_page_writes":   "off",
		"max_connections":    "500",
		"max_wal_size":       "2GB",
		"wal_keep_size":      "256MB", // tests search the log of their writes
	}}
	srv, err := devpg.Start(ctx, cfg)
	if err == nil || errors.Is(err, devpg.ErrInUse) || errors.Is(err, devpg.ErrNoBinaries) {
		return srv, err
	}
	if errors.Is(err, devpg.ErrForeign) || ctx.Err() != nil {
		return nil, err
	}
	if errRemove := os.RemoveAll(cfg.Dir); errRemove != nil {
		return nil, errors.Join(err, errRemove)
	}
	return devpg.Start(ctx, cfg)
}

// waitUntilUnused counts the processes that hold a connection. The kernel also closes the connection of a killed process.
func waitUntilUnused(ctx context.Context, srv *devpg.Server, l net.Listener) {
	joined, kept, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			joined <- struct{}{}
			go attend(conn, srv.DSN("postgres"), kept, left)
		}
	}()
	users, wait := 0, linger
	idle := time.NewTimer(wait)
	for {
		select {
		case <-joined:
			users++
			idle.Stop()
		case <-kept:
			wait = lingerKept
		case <-left:
			if users--; users == 0 {
				idle.Reset(wait)
			}
		case <-idle.C:
			return
		case <-srv.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// attend serves one test process until it ends.
func attend(conn net.Conn, dsn string, kept, left chan<- struct{}) {
	defer func() { _ = conn.Close() }()
	_, _ = conn.Write([]byte(dsn + "\n"))
	for buf := make([]byte, 1); ; {
		if _, err := conn.Read(buf); err != nil {
			left <- struct{}{}
			return
		}
		kept <- struct{}{}
	}
}
