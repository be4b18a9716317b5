package supportstore

import (
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/envelope"
	"github.com/paylatch/paylatch/internal/postgres/pool"
	"github.com/paylatch/paylatch/internal/support"
)

var _ support.Store = (*Store)(nil)

// Store reads for support, and writes the audit log. It is safe for concurrent use.
type Store struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
	keys *envelope.Keys
}

// New returns a store on the connections of p. The keys open providers' data; nil where that data is not read.
func New(p *pool.Pool, keys *envelope.Keys) *Store {
	return &Store{pool: p, q: dbsqlc.New(), keys: keys}
}
