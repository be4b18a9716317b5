// Package testdb gives each test a database of its own on a real PostgreSQL.
//
// A database is a clone of a template that is migrated once for each content of migrations/. All test processes share one private
// server, which the first of them starts and which ends by itself soon after the last has ended, however it ended. When
// PAYLATCH_TEST_DATABASE_URL is set, that server is used instead: its role must be allowed to create databases.
package testdb

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/migrations"
)

// limit is for one statement or start, on a machine that runs many tests at once.
const limit = 2 * time.Minute

// New returns the URL of a fresh, migrated database. It is dropped when the test ends. The database of a failed test is kept for
// ten minutes and its address logged. Without a PostgreSQL the test fails, since a skipped test proves nothing.
func New(tb testing.TB) string {
	tb.Helper()
	h, name, err := create(tb.Context(), tb.Name())
	if err != nil {
		tb.Fatalf("testdb: %v", err)
	}
	tb.Cleanup(func() { h.finish(tb, name) })
	return withDatabase(h.admin, name)
}

// ForExample returns the URL of a fresh database for an Example, which has no testing.TB, and a function that drops it. It
// panics without a PostgreSQL to run on.
func ForExample(example string) (url string, drop func()) {
	ctx := context.Background()
	h, name, err := create(ctx, example)
	if err != nil {
		panic(err)
	}
	return withDatabase(h.admin, name), func() {
		if err := h.drop(ctx, name); err != nil {
			panic(err)
		}
	}
}

// create makes a database from the template.
func create(ctx context.Context, test string) (h *host, name string, err error) {
	if h, err = process(); err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	name = databaseName(test)
	// PostgreSQL's default would write the whole copy to its log too.
	return h, name, execAll(ctx, h.admin, "CREATE DATABASE "+name+" TEMPLATE "+h.template+" STRATEGY file_copy")
}

// Private starts a server for this test alone, which syncs to disk like one in production and which the test may stop or kill. Its
// database "postgres" is migrated. After Stop, devpg.Start with its Dir brings it back under the same URL.
func Private(tb testing.TB) *devpg.Server {
	tb.Helper()
	dir, err := os.MkdirTemp("/tmp", "paylatch-") //nolint:usetesting // the path of a unix socket must be short
	if err == nil {
		err = os.Chmod(dir, 0o711) //nolint:gosec // root's server may run as another user
	}
	if err != nil {
		tb.Fatalf("testdb: %v", err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	srv, err := devpg.Start(tb.Context(), devpg.Config{Dir: dir})
	if err != nil {
		tb.Fatalf("testdb: %v", err)
	}
	tb.Cleanup(func() { _ = srv.Stop() })
	if err := migrations.Up(tb.Context(), srv.DSN("postgres")); err != nil {
		tb.Fatalf("testdb: %v", err)
	}
	return srv
}

// finish runs after the test's context has ended.
func (h *host) finish(tb testing.TB, name string) {
	tb.Helper()
	if tb.Failed() {
		h.keep()
		tb.Logf("database kept: psql '%s'", withDatabase(h.admin, name))
		return
	}
	if err := h.drop(context.WithoutCancel(tb.Context()), name); err != nil {
		tb.Errorf("testdb: %v", err)
	}
}

func (h *host) drop(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return execAll(ctx, h.admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

// databaseName contains the test's name, within PostgreSQL's 63 bytes.
func databaseName(test string) string {
	slug := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(test), "_")
	return prefix + "test_" + slug[:min(len(slug), 32)] + "_" + strings.ToLower(rand.Text()[:10])
}

func withDatabase(dsn, name string) string {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" {
		return dsn + " dbname=" + name // the other form of a connection string: the last value holds
	}
	u.Path = "/" + name
	return u.String()
}

// execAll runs statements that can't be part of a transaction.
func execAll(ctx context.Context, dsn string, statements ...string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}
