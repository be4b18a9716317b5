package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/stream"
)

const (
	txTries  = 4
	txJitter = 20 * time.Millisecond
)

// begin plans the statements of a transaction once for any values, each by its index: planning them anew for each batch
// of webhooks costs more than running them, and a plan that was made while a table was empty must do when it has grown.
const begin = `SELECT now() WHERE set_config('plan_cache_mode', 'force_generic_plan', true) <> ''
	AND set_config('enable_seqscan', 'off', true) <> '' AND set_config('enable_hashjoin', 'off', true) <> ''
	AND set_config('enable_mergejoin', 'off', true) <> '' AND set_config('jit', 'off', true) <> ''`

// txn is the payment.Tx.
type txn struct {
	*pipeline.Tx

	q *dbsqlc.Queries
	// moved are attempts that have a new version if the transaction commits.
	moved []stream.ID
}

// InTx implements payment.Store. What PostgreSQL undid because of another
// transaction (40001, 40P01, an event stored meanwhile) is run again.
func (s *Store) InTx(ctx context.Context, fn func(ctx context.Context, tx payment.Tx) error) error {
	var err error
	for range txTries {
		if err = s.once(ctx, fn); !errors.Is(err, errAgain) {
			return err
		}
		pause := time.NewTimer(rand.N(txJitter)) //nolint:gosec // spreads load, guards nothing
		<-pause.C
	}
	return unavailable(err)
}

func (s *Store) once(ctx context.Context, fn func(ctx context.Context, tx payment.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, txTimeout)
	defer cancel()
	conn, err := acquire(ctx, s.pool)
	if err != nil {
		return err
	}
	defer conn.Release()
	if err := s.ready(ctx, conn); err != nil {
		return err
	}
	t := &txn{Tx: pipeline.New(ctx, conn.Conn(), begin), q: s.q}
	defer t.Rollback(ctx)
	if err := t.run(ctx, fn); err != nil {
		return domainError(err)
	}
	if err := t.Commit(ctx); err != nil {
		return domainError(err)
	}
	t.tell(s.changed)
	return nil
}

// run turns a panic into an error: whoever shares a transaction, or its goroutine, with
// the item that it is about must be able to go on without that one.
func (t *txn) run(ctx context.Context, fn func(ctx context.Context, tx payment.Tx) error) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = &payment.PanicError{Value: thrown, Stack: debug.Stack()}
		}
	}()
	return fn(ctx, t)
}
