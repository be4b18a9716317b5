package postgres

import "github.com/jackc/pgx/v5/pgxpool"

// ErrGuard is what a guarded write that missed its row returns.
var ErrGuard = errGuard

// Plain returns a statement as it is sent.
func Plain(sql string, args []any) (string, []any) { return write{sql: sql, args: args}.plain() }

// Pool returns the store's connections.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }
