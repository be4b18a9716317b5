// Package migrations has the schema of the database as numbered SQL files, and applies them.
//
// A released file never changes and there is no way down: what must be undone gets a new file. Replicas may start at once, one of
// them applies what is new while the others wait for it.
package migrations

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// FS holds the migrations, one SQL file each.
//
//go:embed *.sql
var FS embed.FS

// ErrBehind is returned when the database lacks migrations that this binary needs.
var ErrBehind = errors.New("the database lacks migrations: run `paylatch migrate up`")

// Applied is a migration and when it reached the database; At is zero for one that has not.
type Applied struct {
	Version int64
	Name    string
	At      time.Time
}

// Queryer is the part of a pgx connection or pool that reads the version.
type Queryer interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// Up applies what the database lacks, each file in a transaction of its own. It waits up to two minutes for another process that
// does the same, and three seconds for a table unless the address sets another
// lock_timeout; then it can be called again. The connection must not go through a pooler in transaction mode: the lock belongs to the
// session.
func Up(ctx context.Context, dsn string) error { return up(ctx, dsn, FS) }

// Status lists all migrations in their order. It makes goose's version table when there is none.
func Status(ctx context.Context, dsn string) ([]Applied, error) { return status(ctx, dsn, FS) }

// Check returns ErrBehind unless the database is at Required or beyond: an older binary lives on through an upgrade.
func Check(ctx context.Context, q Queryer) error {
	have, err := Version(ctx, q)
	if err != nil {
		return err
	}
	if need := Required(); have < need {
		return fmt.Errorf("%w: it is at version %d and this binary needs %d", ErrBehind, have, need)
	}
	return nil
}

// Version returns the number of the newest migration in the database, 0 for an empty one. It only reads.
func Version(ctx context.Context, q Queryer) (int64, error) {
	var exists bool
	if err := q.QueryRow(ctx, "SELECT to_regclass('goose_db_version') IS NOT NULL").Scan(&exists); err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	if !exists {
		return 0, nil
	}
	var v int64
	if err := q.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&v); err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return v, nil
}

// Required returns the number of the newest migration that this binary has.
func Required() int64 { return required(FS) }

// Hash names the content of all migrations: two binaries with one hash make the same schema.
func Hash() string { return hash(FS) }
