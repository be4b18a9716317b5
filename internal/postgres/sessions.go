package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// SessionStore keeps the sessions of the support console. It has nothing to do with sessions of the database.

// SessionStore keeps the console's sessions; it is the scs.CtxStore of package
// github.com/alexedwards/scs/v2, with the pool's own time limits and errors. It
// is safe for concurrent use.
type SessionStore struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
}

// NewSessionStore returns a store on the connections of p.
func NewSessionStore(p *pool.Pool) *SessionStore { return &SessionStore{pool: p, q: dbsqlc.New()} }

// FindCtx returns the data of a session, and whether the session exists and has not ended.
func (s *SessionStore) FindCtx(ctx context.Context, token string) (data []byte, found bool, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var err error
		data, err = s.q.SessionRead(ctx, c, token)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// CommitCtx keeps a session until expiry. An ended session stays ended. That is no error: a request of it may still be
// under way.
func (s *SessionStore) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return s.q.SessionWrite(ctx, c, &dbsqlc.SessionWriteParams{Token: token, Data: data, Expiry: expiry})
	})
}

// DeleteCtx ends a session. A missing session is no error.
func (s *SessionStore) DeleteCtx(ctx context.Context, token string) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error { return s.q.SessionEnd(ctx, c, token) })
}

// Find is FindCtx for a caller without a context.
func (s *SessionStore) Find(token string) (data []byte, found bool, err error) {
	return s.FindCtx(context.Background(), token)
}

// Commit is CommitCtx for a caller without a context.
func (s *SessionStore) Commit(token string, data []byte, expiry time.Time) error {
	return s.CommitCtx(context.Background(), token, data, expiry)
}

// Delete is DeleteCtx for a caller without a context.
func (s *SessionStore) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }

// PurgeSessions deletes at most limit sessions that ended an hour ago or more, and
// returns how many there were.
func (s *SessionStore) PurgeSessions(ctx context.Context, limit int) (int, error) {
	var n int64
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var err error
		n, err = s.q.SessionsPurge(ctx, c, int32(limit)) //nolint:gosec // a batch size
		return err
	})
	return int(n), err
}
