package postgres

import "github.com/jackc/pgx/v5/pgxpool"

// ErrGuard is what a guarded write that missed its row returns.
var ErrGuard = errGuard

// Pool returns the store's connections.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }
