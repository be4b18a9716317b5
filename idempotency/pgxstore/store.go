// Package pgxstore keeps idempotency keys in PostgreSQL, by pgx. It implements the port of package idempotency on the
// database of the commands' effects.
//
// A command writes through the transaction of its key, which its context carries:
//
//	guard.InTx(ctx, request, keep, func(ctx context.Context) (idempotency.Response, error) {
//		tx := pgxstore.TxOf(ctx)
//		…
//	})
//
// The table is [Schema]: put it in a migration. [Store.Purge] removes old keys.
package pgxstore

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/idempotency/pgxstore/internal/dbsqlc"
)

// Schema makes the table of keys, idempotency_keys, where it is not there. The role that serves
// needs SELECT, INSERT, UPDATE and, for [Store.Purge], DELETE.
//
//go:embed schema.sql
var Schema string

// Store is an idempotency.Store. It is safe for concurrent use.
type Store struct {
	pool    *pgxpool.Pool
	options Options
	q       *dbsqlc.Queries
}

// Options configure a Store.
type Options struct {
	// ClaimTimeout is how long a claim waits for another transaction that has the same key;
	// then it is idempotency.ErrInProgress. 0 means 5 seconds.
	ClaimTimeout time.Duration
	// Tx is how transactions are begun. READ COMMITTED is enough for the keys.
	Tx pgx.TxOptions
}

// New returns a store in the pool's database. The pool stays the caller's to close.
func New(pool *pgxpool.Pool, o Options) *Store {
	if o.ClaimTimeout <= 0 {
		o.ClaimTimeout = 5 * time.Second
	}
	return &Store{pool: pool, options: o, q: dbsqlc.New()}
}

// Tx is a transaction of a Store. [idempotency.Execute] runs a command in it.
type Tx struct {
	pgx.Tx

	store *Store
}

type txKey struct{}

// TxOf returns the transaction that the context of a command carries. It panics outside of one,
// where an effect would not be undone with its command.
func TxOf(ctx context.Context) pgx.Tx {
	tx, ok := ctx.Value(txKey{}).(pgx.Tx)
	if !ok {
		panic("pgxstore: TxOf outside of a command's transaction")
	}
	return tx
}

// InTx runs fn in a transaction, which fn's context carries. It is committed once fn returned
// nil; a serialization failure or a deadlock is returned, not tried again: the key is unused,
// and the client's next try executes the command.
func (s *Store) InTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	return pgx.BeginTxFunc(ctx, s.pool, s.options.Tx, func(tx pgx.Tx) error { //nolint:wrapcheck // fn's own error, or pgx's of the commit
		return fn(context.WithValue(ctx, txKey{}, tx), Tx{tx, s})
	})
}

// InKeyTx implements idempotency.Store.
func (s *Store) InKeyTx(ctx context.Context, fn func(ctx context.Context, tx idempotency.Tx) error) error {
	return s.InTx(ctx, func(ctx context.Context, tx Tx) error { return fn(ctx, tx) })
}

// KeyExtend implements idempotency.Store.
func (s *Store) KeyExtend(ctx context.Context, r idempotency.Request, fence int64, lease time.Duration) error {
	rows, err := s.q.KeyExtend(ctx, s.pool, &dbsqlc.KeyExtendParams{
		UserID: r.User, Endpoint: r.Endpoint, Key: string(r.Key), Fence: fence, Lease: lease.Seconds(),
	})
	return fenced("extend the lease of a key", rows, err)
}

// KeyRelease implements idempotency.Store.
func (s *Store) KeyRelease(ctx context.Context, r idempotency.Request, fence int64) error {
	rows, err := s.q.KeyRelease(ctx, s.pool, &dbsqlc.KeyReleaseParams{UserID: r.User, Endpoint: r.Endpoint, Key: string(r.Key), Fence: fence})
	return fenced("release a key", rows, err)
}

// fenced is the result of a statement that touches the key of the runner that holds the fence.
func fenced(what string, rows int64, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	case rows == 0:
		return idempotency.ErrFenced
	}
	return nil
}

// purgeBatch bounds how many rows one statement locks.
const purgeBatch = 1000

// Purge removes expired keys in batches of 1,000, each a statement of its own, and returns how many.
// An expired key is taken for a new one whether it is removed or not.
func (s *Store) Purge(ctx context.Context) (removed int64, err error) {
	for {
		n, err := s.q.KeysPurge(ctx, s.pool, purgeBatch)
		if err != nil {
			return removed, fmt.Errorf("purge keys: %w", err)
		}
		if removed += n; n < purgeBatch {
			return removed, nil
		}
	}
}
