package pool

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Turns sets how long a slow read waits for its turn.
func (p *Pool) Turns(atMost time.Duration) { p.aside.atMost = atMost }

// Conns returns the connections of a pool.
func (p *Pool) Conns() *pgxpool.Pool { return p.conns }
