package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/stream"
)

const (
	txTries  = 4
	txJitter = 20 * time.Millisecond
)

// txn is the payment.Tx. It spares round trips: its beginning travels with the
// first statement, and what it writes without needing an answer with the next read
// or with the commit.
type txn struct {
	ctx    context.Context //nolint:containedctx // it is the transaction's own
	conn   *pgxpool.Conn
	q      *dbsqlc.Queries
	open   bool
	now    time.Time
	queued []write
	// meanwhile is called before the answer to the last round trip of all, ending.
	meanwhile func()
	ending    bool
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
	t := &txn{ctx: ctx, conn: conn, q: s.q}
	defer t.undo(ctx)
	if err := t.run(ctx, fn); err != nil {
		return domainError(err)
	}
	if err := t.commit(ctx); err != nil {
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

// commit sends COMMIT with what is queued, unless the rows of a write must be
// counted before.
func (t *txn) commit(ctx context.Context) error {
	for _, w := range t.queued {
		if w.rows != anyRows {
			if err := t.flush(ctx); err != nil {
				return err
			}
			break
		}
	}
	if !t.open && len(t.queued) == 0 {
		return nil
	}
	t.ending = true
	tag, err := t.Exec(ctx, "COMMIT")
	if err == nil && tag.String() != "COMMIT" {
		err = pgx.ErrTxCommitRollback
	}
	return err
}

// Meanwhile implements payment.Tx.
func (t *txn) Meanwhile(fn func()) { t.meanwhile = fn }

// undo rolls back what was not committed. A cancelled caller must not leave the
// transaction open, nor keep its connection.
func (t *txn) undo(ctx context.Context) {
	if t.conn.Conn().PgConn().TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = t.conn.Exec(ctx, "ROLLBACK")
}

// Now implements payment.Tx. Before the first statement it costs a round trip.
func (t *txn) Now() time.Time {
	if !t.open {
		// What fails here fails again at the next statement, which says so.
		_ = t.flush(t.ctx)
	}
	return t.now
}
