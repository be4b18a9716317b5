package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// Sessions keeps the console's sessions; it is the scs.CtxStore of package
// github.com/alexedwards/scs/v2, with the store's own time limits and errors. It
// is safe for concurrent use.
type Sessions struct{ store *Store }

// Sessions returns the sessions of the console.
func (s *Store) Sessions() Sessions { return Sessions{s} }

// FindCtx returns what a session holds, and whether there is one that has not
// ended.
func (s Sessions) FindCtx(ctx context.Context, token string) (data []byte, found bool, err error) {
	err = s.store.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var err error
		data, err = s.store.q.SessionRead(ctx, c, token)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// CommitCtx keeps a session until expiry. One that has ended stays so, which is no
// error: whoever has signed out may have a request under way.
func (s Sessions) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	return s.store.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return s.store.q.SessionWrite(ctx, c, &dbsqlc.SessionWriteParams{Token: token, Data: data, Expiry: expiry})
	})
}

// DeleteCtx ends a session; that there is none is no error.
func (s Sessions) DeleteCtx(ctx context.Context, token string) error {
	return s.store.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error { return s.store.q.SessionEnd(ctx, c, token) })
}

// Find is FindCtx for a caller without a context.
func (s Sessions) Find(token string) (data []byte, found bool, err error) {
	return s.FindCtx(context.Background(), token)
}

// Commit is CommitCtx for a caller without a context.
func (s Sessions) Commit(token string, data []byte, expiry time.Time) error {
	return s.CommitCtx(context.Background(), token, data, expiry)
}

// Delete is DeleteCtx for a caller without a context.
func (s Sessions) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }

// PurgeSessions deletes at most limit sessions that ended an hour ago or more, and
// returns how many there were.
func (s *Store) PurgeSessions(ctx context.Context, limit int) (int, error) {
	var n int64
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var err error
		n, err = s.q.SessionsPurge(ctx, c, int32(limit)) //nolint:gosec // a batch size
		return err
	})
	return int(n), err
}
