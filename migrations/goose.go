package migrations

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

const (
	// lockTimeout is how long a migration waits for a table. Queries of that table wait behind it, for 5 s at most.
	lockTimeout = "3s"
	// lockNotAvailable is the SQLSTATE of its end.
	lockNotAvailable = "55P03"
)

var errHeld = errors.New("something holds a table that the migration needs; look for a long query or an open transaction in pg_stat_activity, " +
	"end it or wait for its end, and try again: the migrations before this one are done and stay")

func up(ctx context.Context, dsn string, files fs.FS) error {
	p, err := open(dsn, files)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	if partial, ok := errors.AsType[*goose.PartialError](err); ok {
		err = fmt.Errorf("%s: %w", partial.Failed.Source.Path, partial.Err)
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == lockNotAvailable {
		err = fmt.Errorf("%w: %w", err, errHeld)
	}
	if err = errors.Join(err, p.Close()); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

func status(ctx context.Context, dsn string, files fs.FS) ([]Applied, error) {
	p, err := open(dsn, files)
	if err != nil {
		return nil, err
	}
	rows, err := p.Status(ctx)
	if err = errors.Join(err, p.Close()); err != nil {
		return nil, fmt.Errorf("status of migrations: %w", err)
	}
	all := make([]Applied, 0, len(rows))
	for _, r := range rows {
		all = append(all, Applied{Version: r.Source.Version, Name: r.Source.Path, At: r.AppliedAt})
	}
	return all, nil
}

// open returns a provider; its Close closes the connections too. Its lock is tried each second, so that the last of four replicas
// that start at once waits one second, not five.
func open(dsn string, files fs.FS) (*goose.Provider, error) {
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120))
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	// The address may contain a pool size, which is not for the server.
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	if _, set := cfg.ConnConfig.RuntimeParams["lock_timeout"]; !set {
		cfg.ConnConfig.RuntimeParams["lock_timeout"] = lockTimeout
	}
	db := stdlib.OpenDB(*cfg.ConnConfig)
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker))
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", errors.Join(err, db.Close()))
	}
	return p, nil
}

func required(files fs.FS) int64 {
	var newest int64
	for _, name := range names(files) {
		v, err := goose.NumericComponent(name)
		if err != nil {
			panic(fmt.Sprintf("migrations: %s: %v", name, err))
		}
		newest = max(newest, v)
	}
	return newest
}

func hash(files fs.FS) string {
	h := sha256.New()
	for _, name := range names(files) {
		b, err := fs.ReadFile(files, name)
		if err != nil {
			panic(fmt.Sprintf("migrations: %v", err))
		}
		_, _ = fmt.Fprintf(h, "%s %d\n%s", name, len(b), b)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// names lists the files in their order; an embedded directory can always be read.
func names(files fs.FS) []string {
	found, err := fs.Glob(files, "*.sql")
	if err != nil {
		panic(fmt.Sprintf("migrations: %v", err))
	}
	return found
}
