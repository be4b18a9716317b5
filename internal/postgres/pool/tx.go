package pool

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

const (
	txTries  = 4
	txJitter = 20 * time.Millisecond
)

// begin plans the statements of a transaction once for any values, each by its index: planning them anew for each batch
// of webhooks costs more than running them, and a plan that was made while a table was empty must do when it has grown.
const begin = `SELECT now() WHERE set_config('enable_seqscan', 'off', true) <> '' AND set_config('enable_hashjoin', 'off', true) <> ''
	AND set_config('enable_mergejoin', 'off', true) <> '' AND set_config('jit', 'off', true) <> ''`

// planOnce continues begin where the address does not set plan_cache_mode: Citus has no plans for any values.
const planOnce = ` AND set_config('plan_cache_mode', 'force_generic_plan', true) <> ''`

// InTx is Once, run again, with a transaction of its own each time, if PostgreSQL undid it because of another transaction
// (40001, 40P01, an event stored meanwhile).
func (p *Pool) InTx(ctx context.Context, fn func(ctx context.Context, tx *pipeline.Tx) error) error {
	var err error
	for range txTries {
		if err = p.Once(ctx, fn); !errors.Is(err, errAgain) {
			return err
		}
		pause := time.NewTimer(rand.N(txJitter)) //nolint:gosec // spreads load, guards nothing
		<-pause.C
	}
	return unavailable(err)
}

// Once runs fn in a transaction and commits it, or undoes it if fn fails or panics. fn is run again, in another transaction, only if the
// schema was migrated meanwhile.
func (p *Pool) Once(ctx context.Context, fn func(ctx context.Context, tx *pipeline.Tx) error) error {
	return fresh(p.conns, func() error { return p.once(ctx, p.conns, fn) })
}

// once is Once for a schema that stays. With Snapshot it is the only place where transactions begin.
func (p *Pool) once(ctx context.Context, conns *pgxpool.Pool, fn func(ctx context.Context, tx *pipeline.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, p.txTimeout)
	defer cancel()
	conn, err := p.acquire(ctx, conns)
	if err != nil {
		return err
	}
	defer conn.Release()
	if err := p.ready(ctx, conn); err != nil {
		return err
	}
	tx := pipeline.New(ctx, conn.Conn(), p.begin)
	defer tx.Rollback(ctx)
	if err := run(ctx, tx, fn); err != nil {
		return DomainError(err)
	}
	if ctx.Err() != nil {
		return DomainError(ctx.Err())
	}
	// A commit is waited for in any case. If it were given up early, others could read a commit that no synchronous standby has, sooner than
	// they notice that the standby is away: this takes watermark.Fresh.
	ctx, over := context.WithTimeout(context.WithoutCancel(ctx), p.txTimeout)
	defer over()
	if p.commit == nil {
		return DomainError(tx.Commit(ctx))
	}
	return DomainError(p.commit(func() error { return tx.Commit(ctx) }))
}

// OnceBehind is Once for reads that may be slow, on the connections of Aside. It uses the standby, whose data may be a
// little old. If there is no standby, or it is unavailable, it uses the database. fn may be run twice.
func (p *Pool) OnceBehind(ctx context.Context, fn func(ctx context.Context, tx *pipeline.Tx) error) error {
	if p.standby != nil {
		if err := p.standby.OnceAside(ctx, fn); !errors.Is(err, payment.ErrUnavailable) {
			return err
		}
	}
	return p.OnceAside(ctx, fn)
}

// run turns a panic into an error. Callers that share a transaction or its goroutine with the bad item can then go on
// without it.
func run(ctx context.Context, tx *pipeline.Tx, fn func(ctx context.Context, tx *pipeline.Tx) error) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = &payment.PanicError{Value: thrown, Stack: debug.Stack()}
		}
	}()
	return fn(ctx, tx)
}

// Snapshot runs fn in a transaction that sees one moment and only reads.
func (p *Pool) Snapshot(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return p.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		return pgx.BeginTxFunc(ctx, c, snapshot, func(tx pgx.Tx) error { return fn(ctx, tx) })
	})
}
