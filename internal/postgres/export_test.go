package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// ErrGuard is the error of a guarded write that missed its row.
var ErrGuard = pool.ErrGuard

// Tx is a transaction as all packages see it.
type Tx interface {
	commands.Tx
	intake.Tx
}

// InAnyTx runs fn in one transaction.
func (s *Store) InAnyTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	return s.inTx(ctx, func(ctx context.Context, tx *txn) error { return fn(ctx, tx) })
}

// Read runs fn on a connection, outside a transaction.
func (s *Store) Read(ctx context.Context, fn func(ctx context.Context, c *pgxpool.Conn) error) error {
	return s.pool.Read(ctx, fn)
}
