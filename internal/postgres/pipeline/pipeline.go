package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// DB runs one statement. It is a connection, a transaction, or a substitute in this package.
type DB interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Query runs exactly one statement on db and stores its results. It is called twice, with a [Recorder] and with the
// response to the statement. The results of the first call are overwritten or empty.
type Query = func(db DB) error

// Tx is a transaction at the default isolation level. As a [DB] it runs a statement at once, in a round trip of its own
// that also sends the deferred writes. It is not safe for concurrent use.
type Tx struct {
	ctx   context.Context //nolint:containedctx // Now has none
	conn  *pgx.Conn
	begin string
	open  bool
	now   time.Time
	// failed is the failure of Now, which returns none.
	failed    error
	deferred  []deferred
	meanwhile func()
}

// Begin is the second statement of a transaction, unless New is given another one.
const Begin = "SELECT now()"

// New returns a transaction that begins with its first statement. ctx is used by [Tx.Now] only. begin runs after BEGIN:
// it may make settings for the transaction, and returns now().
func New(ctx context.Context, conn *pgx.Conn, begin string) *Tx {
	return &Tx{ctx: ctx, conn: conn, begin: begin}
}

// Now is the time at which the transaction began, as now() in SQL. Before the first statement it costs a round trip, with
// the deferred writes. If that fails, each later statement and Commit return the failure.
func (t *Tx) Now() time.Time {
	if !t.open {
		t.failed = t.flush(t.ctx)
	}
	return t.now
}

// Meanwhile sets a function that is called after COMMIT was sent and before its response is read.
func (t *Tx) Meanwhile(fn func()) { t.meanwhile = fn }

// Pipeline runs queries in one round trip. It returns the first error.
func (t *Tx) Pipeline(ctx context.Context, queries ...Query) error {
	statements := make([]Statement, len(queries))
	for i, query := range queries {
		var err error
		if statements[i], err = Record(query); err != nil {
			return err
		}
	}
	results, err := t.send(ctx, statements...)
	if err != nil {
		return err
	}
	for _, query := range queries {
		if err = query(response{results}); err != nil {
			break
		}
	}
	return errors.Join(err, results.Close())
}

// Commit returns [pgx.ErrTxCommitRollback] if the server rolled back instead. It does nothing if no statement was run or
// deferred.
func (t *Tx) Commit(ctx context.Context) error {
	if slices.ContainsFunc(t.deferred, deferred.counted) {
		// COMMIT must not travel with a write that may affect too few rows.
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	if !t.open && len(t.deferred) == 0 {
		return t.failed
	}
	results, err := t.send(ctx, Statement{SQL: "COMMIT"})
	if err != nil {
		return err
	}
	tag, err := results.Exec()
	if err == nil && tag.String() != "COMMIT" {
		err = pgx.ErrTxCommitRollback
	}
	return errors.Join(err, results.Close())
}

// Rollback undoes the uncommitted statements, within a second, even if ctx is cancelled. After Commit it does nothing.
func (t *Tx) Rollback(ctx context.Context) {
	if t.conn.PgConn().TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = t.conn.Exec(ctx, "ROLLBACK")
}

func (t *Tx) flush(ctx context.Context) error {
	if t.open && len(t.deferred) == 0 {
		return nil
	}
	results, err := t.send(ctx)
	if err != nil {
		return err
	}
	return results.Close() //nolint:wrapcheck // nothing is left in it
}

// send returns the results of statements. It reads and checks the results of the statements that travel before them.
func (t *Tx) send(ctx context.Context, statements ...Statement) (pgx.BatchResults, error) {
	if t.failed != nil {
		return nil, t.failed
	}
	batch, before, opening := &pgx.Batch{}, t.deferred, !t.open
	t.deferred = nil
	if opening {
		batch.Queue("BEGIN")
		batch.Queue(t.begin)
	}
	for _, d := range before {
		batch.Queue(d.SQL, d.Args...)
	}
	for _, s := range statements {
		batch.Queue(s.SQL, s.Args...)
	}
	results := t.conn.SendBatch(ctx, batch)
	if t.meanwhile != nil && len(statements) == 1 && statements[0].SQL == "COMMIT" {
		t.meanwhile()
	}
	if err := t.before(results, opening, before); err != nil {
		return nil, errors.Join(err, results.Close())
	}
	return results, nil
}

func (t *Tx) before(results pgx.BatchResults, opening bool, writes []deferred) error {
	if opening {
		_, err := results.Exec()
		if err == nil {
			err = results.QueryRow().Scan(&t.now)
		}
		if err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		t.open = true
	}
	for _, w := range writes {
		if err := w.check(results); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}
