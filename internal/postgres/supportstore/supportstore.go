package supportstore

import (
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pool"
	"github.com/paylatch/paylatch/internal/support"
)

var _ support.Store = (*Store)(nil)

// Store reads for support, and writes the audit log. It is safe for concurrent use.
type Store struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
}

// New returns a store on the connections of p.
func New(p *pool.Pool) *Store { return &Store{pool: p, q: dbsqlc.New()} }
