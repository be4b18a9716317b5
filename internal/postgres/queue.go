package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// write is a statement on its way.
type write struct {
	sql  string
	args []any
	// rows is how many rows it must touch, -1 for any number; missed is the error
	// if it did not.
	rows   int64
	missed error
}

// queue is the dbsqlc.DBTX of writes whose answer nobody needs before the
// commit. It says that no row was touched; how many there were is checked when
// the queue goes out.
type queue struct {
	*txn
	rows   int64
	missed error
}

const anyRows = -1

// later queues the writes of one call; see write for rows.
func (t *txn) later(rows int64, missed error) dbsqlc.DBTX { return queue{t, rows, missed} }

// Exec implements dbsqlc.DBTX.
func (q queue) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	q.queued = append(q.queued, write{sql, args, q.rows, q.missed})
	return pgconn.CommandTag{}, nil
}

// flush sends what is queued.
func (t *txn) flush(ctx context.Context) error {
	if t.open && len(t.queued) == 0 {
		return nil
	}
	results, err := t.send(ctx)
	if err != nil {
		return err
	}
	return results.Close() //nolint:wrapcheck // nothing is left in it
}

// send sends the beginning, if that is still to be sent, what is queued, and
// statements behind it, in one round trip. It returns the results of those.
func (t *txn) send(ctx context.Context, statements ...write) (pgx.BatchResults, error) {
	batch, writes, opening := &pgx.Batch{}, t.queued, !t.open
	t.queued = nil
	if opening {
		batch.Queue("BEGIN")
		batch.Queue("SELECT now()")
	}
	var room headroom
	for _, w := range slices.Concat(writes, statements) {
		sql, args := w.plain()
		batch.Queue(sql, args...)
		room += headroomFor(args)
	}
	t.conn.Conn().PgConn().Frontend().Send(room)
	results := t.conn.SendBatch(ctx, batch)
	if t.ending && t.meanwhile != nil {
		t.meanwhile()
	}
	err := t.begun(results, opening)
	for _, w := range writes {
		if err != nil {
			break
		}
		err = w.done(results)
	}
	if err != nil {
		return nil, errors.Join(err, results.Close())
	}
	return results, nil
}

// begun reads the answer to the beginning.
func (t *txn) begun(results pgx.BatchResults, opening bool) error {
	if !opening {
		return nil
	}
	_, err := results.Exec()
	if err == nil {
		err = results.QueryRow().Scan(&t.now)
	}
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	t.open = true
	return nil
}

// done reads the answer to a write.
func (w write) done(results pgx.BatchResults) error {
	tag, err := results.Exec()
	if err == nil && w.rows != anyRows && tag.RowsAffected() != w.rows {
		err = fmt.Errorf("%w: %d rows instead of %d", w.missed, tag.RowsAffected(), w.rows)
	}
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// Exec implements dbsqlc.DBTX for a write whose answer is needed at once.
func (t *txn) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	results, err := t.send(ctx, write{sql: sql, args: args})
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := results.Exec()
	return tag, errors.Join(err, results.Close())
}

// Query implements dbsqlc.DBTX.
func (t *txn) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	results, err := t.send(ctx, write{sql: sql, args: args})
	if err != nil {
		return nil, err
	}
	rows, err := results.Query() //nolint:rowserrcheck // the caller reads the rows
	if err != nil {
		return nil, errors.Join(err, results.Close())
	}
	return lastRows{rows, results}, nil
}

// QueryRow implements dbsqlc.DBTX.
func (t *txn) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	results, err := t.send(ctx, write{sql: sql, args: args})
	if err != nil {
		return failedRow{err}
	}
	return lastRow{results.QueryRow(), results}
}

// lastRows are the rows of the last statement of a round trip, which ends with
// them.
type lastRows struct {
	pgx.Rows
	results pgx.BatchResults
}

// Close implements pgx.Rows.
func (r lastRows) Close() {
	r.Rows.Close()
	_ = r.results.Close() // what failed is in Err already
}

// lastRow is the row of the last statement of a round trip.
type lastRow struct {
	pgx.Row
	results pgx.BatchResults
}

// Scan implements pgx.Row.
func (r lastRow) Scan(dest ...any) error {
	err := r.Row.Scan(dest...)
	return errors.Join(err, r.results.Close())
}

// failedRow is the row of a query that was never sent.
type failedRow struct{ err error }

// Scan implements pgx.Row.
func (r failedRow) Scan(...any) error { return r.err }
