package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// together sends several reads in one round trip. Each is one call of a query by
// the DBTX that it is given, and is made twice: first to learn the statement, then
// to take the answer.
func (t *txn) together(ctx context.Context, reads ...func(db dbsqlc.DBTX) error) error {
	asked := &question{}
	for _, read := range reads {
		if err := read(asked); !errors.Is(err, errAsked) {
			return err
		}
	}
	results, err := t.send(ctx, asked.statements...)
	if err != nil {
		return err
	}
	for _, read := range reads {
		if err = read(answers{results}); err != nil {
			break
		}
	}
	return errors.Join(err, results.Close())
}

// errAsked is what a question answers to everything.
var errAsked = errors.New("the statement was noted")

// question is a DBTX that notes what it is asked.
type question struct{ statements []write }

func (q *question) note(sql string, args []any) error {
	q.statements = append(q.statements, write{sql: sql, args: args})
	return errAsked
}

// Exec implements dbsqlc.DBTX.
func (q *question) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, q.note(sql, args)
}

// Query implements dbsqlc.DBTX.
func (q *question) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	return nil, q.note(sql, args)
}

// QueryRow implements dbsqlc.DBTX.
func (q *question) QueryRow(_ context.Context, sql string, args ...any) pgx.Row {
	return failedRow{q.note(sql, args)}
}

// answers is a DBTX that has the answers to a question, in its order.
type answers struct{ results pgx.BatchResults }

// Exec implements dbsqlc.DBTX.
func (a answers) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return a.results.Exec() //nolint:wrapcheck // the caller says what it was doing
}

// Query implements dbsqlc.DBTX.
func (a answers) Query(context.Context, string, ...any) (pgx.Rows, error) {
	return a.results.Query() //nolint:wrapcheck,rowserrcheck // the caller reads the rows and says what it was doing
}

// QueryRow implements dbsqlc.DBTX.
func (a answers) QueryRow(context.Context, string, ...any) pgx.Row { return a.results.QueryRow() }
