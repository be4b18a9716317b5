package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Statement is SQL with its arguments.
type Statement struct {
	SQL  string
	Args []any
}

// ErrRecorded is returned for each statement that a [Recorder] was given.
var ErrRecorded = errors.New("the statement was recorded and not run")

// Recorder is a [DB] that keeps statements instead of running them.
type Recorder struct{ Statements []Statement }

// Record returns the statement of a query without running it.
func Record(query Query) (Statement, error) {
	r := &Recorder{}
	if err := query(r); !errors.Is(err, ErrRecorded) || len(r.Statements) != 1 {
		return Statement{}, fmt.Errorf("a pipelined query has %d statements: %w", len(r.Statements), err)
	}
	return r.Statements[0], nil
}

func (r *Recorder) record(sql string, args []any) error {
	r.Statements = append(r.Statements, Statement{sql, args})
	return ErrRecorded
}

// Exec implements [DB].
func (r *Recorder) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, r.record(sql, args)
}

// Query implements [DB].
func (r *Recorder) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	return nil, r.record(sql, args)
}

// QueryRow implements [DB].
func (r *Recorder) QueryRow(_ context.Context, sql string, args ...any) pgx.Row {
	return failedRow{r.record(sql, args)}
}
