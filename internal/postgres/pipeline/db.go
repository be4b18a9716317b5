package pipeline

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Exec implements [DB].
func (t *Tx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	results, err := t.send(ctx, Statement{sql, args})
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := results.Exec()
	return tag, errors.Join(err, results.Close())
}

// Query implements [DB]. The rows must be closed before the transaction is used again.
func (t *Tx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	results, err := t.send(ctx, Statement{sql, args})
	if err != nil {
		return nil, err
	}
	rows, err := results.Query() //nolint:rowserrcheck // the caller reads the rows
	if err != nil {
		return nil, errors.Join(err, results.Close())
	}
	return lastRows{rows, results}, nil
}

// QueryRow implements [DB].
func (t *Tx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	results, err := t.send(ctx, Statement{sql, args})
	if err != nil {
		return failedRow{err}
	}
	return lastRow{results.QueryRow(), results}
}

// lastRows are the rows of the last statement of a round trip. The round trip ends with them.
type lastRows struct {
	pgx.Rows

	results pgx.BatchResults
}

// Close implements pgx.Rows.
func (r lastRows) Close() {
	r.Rows.Close()
	_ = r.results.Close() // Err has the failure already
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

// failedRow is the row of a query that was not sent.
type failedRow struct{ err error }

// Scan implements pgx.Row.
func (r failedRow) Scan(...any) error { return r.err }

// response is a DB that has the response to its statement already: the next one of results.
type response struct{ results pgx.BatchResults }

// Exec implements DB.
func (r response) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return r.results.Exec() //nolint:wrapcheck // the caller says what it was doing
}

// Query implements DB.
func (r response) Query(context.Context, string, ...any) (pgx.Rows, error) {
	return r.results.Query() //nolint:wrapcheck,rowserrcheck // the caller reads the rows and says what it was doing
}

// QueryRow implements DB.
func (r response) QueryRow(context.Context, string, ...any) pgx.Row { return r.results.QueryRow() }
