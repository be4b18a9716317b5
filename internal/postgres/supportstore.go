package postgres

import (
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/envelope"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// SupportStore reads the data of the support console: the search, the history of an attempt, events,
// discrepancies and the audit log. It implements the stores that package support defines.
//
// It locks nothing. It writes only the audit log, by itself or in the transaction of the audited action.

var _ support.Store = (*SupportStore)(nil)

// SupportStore reads for support, and writes the audit log. It is safe for concurrent use.
type SupportStore struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
	keys *envelope.Keys
}

// NewSupportStore returns a store on the connections of p. The keys open providers' data; nil where that data is not read.
func NewSupportStore(p *pool.Pool, keys *envelope.Keys) *SupportStore {
	return &SupportStore{pool: p, q: dbsqlc.New(), keys: keys}
}
