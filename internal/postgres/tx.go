package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

const (
	txTries  = 4
	txJitter = 20 * time.Millisecond
)

// txn is the payment.Tx. What it writes without needing an answer is queued and
// goes out in one round trip, before the next read or the commit.
type txn struct {
	conn   *pgxpool.Conn
	q      *dbsqlc.Queries
	now    time.Time
	queued []write
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
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	t := &txn{conn: conn, q: s.q}
	defer t.undo(ctx)
	if err := t.begin(ctx); err != nil {
		return domainError(err)
	}
	if err := fn(ctx, t); err != nil {
		return domainError(err)
	}
	return domainError(t.commit(ctx))
}

// begin opens the transaction and reads its clock in one round trip.
func (t *txn) begin(ctx context.Context) error {
	open := &pgx.Batch{}
	open.Queue("BEGIN")
	open.Queue("SELECT now()")
	results := t.conn.SendBatch(ctx, open)
	_, err := results.Exec()
	if err == nil {
		err = results.QueryRow().Scan(&t.now)
	}
	if err := errors.Join(err, results.Close()); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return nil
}

func (t *txn) commit(ctx context.Context) error {
	if err := t.flush(ctx); err != nil {
		return err
	}
	tag, err := t.conn.Exec(ctx, "COMMIT")
	if err == nil && tag.String() != "COMMIT" {
		err = pgx.ErrTxCommitRollback
	}
	return err
}

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

// Now implements payment.Tx.
func (t *txn) Now() time.Time { return t.now }
