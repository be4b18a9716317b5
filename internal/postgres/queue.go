package postgres

import (
	"context"
	"errors"
	"fmt"

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
	if len(t.queued) == 0 {
		return nil
	}
	writes := t.queued
	t.queued = nil
	batch := &pgx.Batch{}
	for _, w := range writes {
		batch.Queue(w.sql, w.args...)
	}
	results := t.conn.SendBatch(ctx, batch)
	var err error
	for _, w := range writes {
		tag, failed := results.Exec()
		if failed == nil && w.rows != anyRows && tag.RowsAffected() != w.rows {
			failed = fmt.Errorf("%w: %d rows instead of %d", w.missed, tag.RowsAffected(), w.rows)
		}
		if failed != nil {
			err = failed
			break
		}
	}
	if err = errors.Join(err, results.Close()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// Exec implements dbsqlc.DBTX for a write whose answer is needed at once.
func (t *txn) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if err := t.flush(ctx); err != nil {
		return pgconn.CommandTag{}, err
	}
	return t.conn.Exec(ctx, sql, args...) //nolint:wrapcheck // the caller says what it was doing
}

// Query implements dbsqlc.DBTX.
func (t *txn) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := t.flush(ctx); err != nil {
		return nil, err
	}
	return t.conn.Query(ctx, sql, args...) //nolint:wrapcheck,rowserrcheck // the caller reads the rows and says what it was doing
}

// QueryRow implements dbsqlc.DBTX.
func (t *txn) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := t.flush(ctx); err != nil {
		return failedRow{err}
	}
	return t.conn.QueryRow(ctx, sql, args...)
}

// failedRow is the row of a query that was never sent.
type failedRow struct{ err error }

// Scan implements pgx.Row.
func (r failedRow) Scan(...any) error { return r.err }
