package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/stream"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/envelope"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// Store is the stores of all packages, over one pool of connections. It is safe for concurrent use.
type Store struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
	// keys encrypt providers' data; without SealWith no data can be encrypted.
	keys *envelope.Keys
	// changed is called with the changes of a commit; nil for no call.
	changed func([]stream.ID)
	// acknowledged is called with each commit that can be found again, before the caller goes on; nil for no call.
	acknowledged func(watermark.Commit)
	// confirmed reports whether what was read outlives the server; nil if it always does.
	confirmed func() bool
}

// Open prepares a store for a database URL or key/value string. It does not
// connect: a database that is down at the start may come up later. Until its schema
// was found once to be no older than this binary, it counts as unavailable.
func Open(ctx context.Context, url string) (*Store, error) { return over(pool.Open(ctx, url)) }

// OpenAt is Open for an address that may lead to a pooler.
func OpenAt(ctx context.Context, a pool.Address) (*Store, error) { return over(pool.OpenAt(ctx, a)) }

// OpenDurable is OpenAt for a store whose commits must be durable. The store is unavailable until the server was found
// to keep its commits.
func OpenDurable(ctx context.Context, a pool.Address) (*Store, error) {
	return over(pool.OpenDurable(ctx, a))
}

func over(p *pool.Pool, err error) (*Store, error) {
	if err != nil {
		return nil, err
	}
	return &Store{pool: p, q: dbsqlc.New()}, nil
}

// SealWith encrypts providers' data with data keys that a box encrypts. It must be called before the store takes in
// webhooks or reads their bytes. The clock is the process's.
func (s *Store) SealWith(box envelope.Box, now func() time.Time) {
	s.keys = envelope.New(s.pool, box, now)
}

// Keys returns the keys of providers' data; nil before SealWith.
func (s *Store) Keys() *envelope.Keys { return s.keys }

// OnChange sets a function that is called after each commit with the ids of the attempts that have a new version. The
// function must not wait. OnChange must be called before the store is used.
func (s *Store) OnChange(changed func([]stream.ID)) { s.changed = changed }

// Support returns the store of the support console, on the same connections.
func (s *Store) Support() *SupportStore { return NewSupportStore(s.pool, s.keys) }

// Finder returns the store of the search, on the same connections.
func (s *Store) Finder() *FinderStore { return NewFinderStore(s.pool, s.keys) }

// Worklist returns the store of the worklist, on the same connections.
func (s *Store) Worklist() *WorklistStore { return NewWorklistStore(s.pool) }

// Jobs returns the store of staff's acts on many events or discrepancies, on the same connections.
func (s *Store) Jobs() *JobStore { return NewJobStore(s.pool) }

// Requests returns the store of refund requests, on the same connections.
func (s *Store) Requests() *RequestStore { return NewRequestStore(s.pool) }

// APIKeys returns the store of API keys, on the same connections.
func (s *Store) APIKeys() *APIKeyStore { return NewAPIKeyStore(s.pool) }

// Evidence returns the reader that verification needs, on the same connections.
func (s *Store) Evidence() *EvidenceReader { return NewEvidenceReader(s.pool) }

// Lists returns the reader of lists, on the same connections.
func (s *Store) Lists() *ListStore { return NewListStore(s.pool) }

// Sessions returns the console's sessions, on the same connections.
func (s *Store) Sessions() *SessionStore { return NewSessionStore(s.pool) }

// Bus returns the notices between processes, on the same connections. A listening session has a connection of its own.
func (s *Store) Bus() *Bus { return NewBus(s.pool) }

// Endpoints returns the store of the merchant's endpoints, on the same connections.
func (s *Store) Endpoints() *EndpointStore { return NewEndpointStore(s.pool) }

// Streams returns the store of the streams that events are published to, on the same connections.
func (s *Store) Streams() *StreamStore { return NewStreamStore(s.pool) }

// Notices returns the store of the notices, on the same connections.
func (s *Store) Notices() *NoticeStore { return NewNoticeStore(s.pool) }

// Overview returns the store of the hourly counts, on the same connections.
func (s *Store) Overview() *OverviewStore { return NewOverviewStore(s.pool) }

// Rejected returns the store of rejected deliveries, on the same connections.
func (s *Store) Rejected() *RejectedStore { return NewRejectedStore(s.pool) }

// Erasures returns the store that erases customers and old logs, on the same connections.
func (s *Store) Erasures() *ErasureStore { return NewErasureStore(s.pool) }

// OnAcknowledged sets a function that is called with a row of each commit that moves money or promises something, before the
// caller learns of the commit. It must not wait. OnAcknowledged must be called before the store is used.
func (s *Store) OnAcknowledged(acknowledged func(watermark.Commit)) { s.acknowledged = acknowledged }

// OnPromise sets a function that reports whether what was read outlives the server. OnPromise must be called before the store is used.
func (s *Store) OnPromise(confirmed func() bool) { s.confirmed = confirmed }

// errUnconfirmed is returned for a response that a loss of the server could still take back.
var errUnconfirmed = fmt.Errorf("%w: the synchronous standby does not confirm commits", payment.ErrUnavailable)

// promised is called after a read whose result is a promise: that an order, a pay or an event is stored. A commit confirms itself.
func (s *Store) promised() error {
	if s.confirmed != nil && !s.confirmed() {
		return errUnconfirmed
	}
	return nil
}

// Marks returns the store of the mark that shows whether a database was restored, on the same connections.
func (s *Store) Marks() *MarkStore { return NewMarkStore(s.pool) }

// OnCommit has each commit run by commit, as pool.Pool has it. It must be set before the store is used.
func (s *Store) OnCommit(commit func(commit func() error) error) { s.pool.OnCommit(commit) }

// Patiently sets the limit of the waits, as pool.Pool has it. It must be set before the store is used.
func (s *Store) Patiently(limit time.Duration) { s.pool.Patiently(limit) }

// Usage returns the use of the connections.
func (s *Store) Usage() pool.Usage { return s.pool.Usage() }

// Close waits for the connections that are in use and closes them all.
func (s *Store) Close() { s.pool.Close() }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.pool.Ping(ctx) }

// TakesWrites reports whether the database takes writes.
func (s *Store) TakesWrites(ctx context.Context) error { return s.pool.TakesWrites(ctx) }

// Migrated returns migrations.ErrBehind if the schema is older than this binary.
func (s *Store) Migrated(ctx context.Context) error { return s.pool.Migrated(ctx) }

// Settings is as in pool.Pool.
func (s *Store) Settings(ctx context.Context) (role string, err error) { return s.pool.Settings(ctx) }

// Vitals is as in pool.Pool.
func (s *Store) Vitals(ctx context.Context) (pool.Vitals, error) { return s.pool.Vitals(ctx) }

// Durable returns a pool.NotDurableError if commits may be lost.
func (s *Store) Durable(ctx context.Context) error { return s.pool.Durable(ctx) }
