package pool

import "github.com/jackc/pgx/v5/pgxpool"

// Conns returns the connections of a pool.
func (p *Pool) Conns() *pgxpool.Pool { return p.conns }
