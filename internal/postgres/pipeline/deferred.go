package pipeline

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const anyRows = -1

// deferred is a write that has not been sent. It must touch rows rows, or else fails with missed.
type deferred struct {
	Statement

	rows   int64
	missed error
}

func (d deferred) counted() bool { return d.rows != anyRows }

func (d deferred) check(results pgx.BatchResults) error {
	tag, err := results.Exec()
	if err == nil && d.counted() && tag.RowsAffected() != d.rows {
		err = fmt.Errorf("%w: %d rows instead of %d", d.missed, tag.RowsAffected(), d.rows)
	}
	return err
}

// Deferred is a [DB] for writes with a result that is not needed before the commit. Its Exec returns at once, with a tag
// of 0 rows. An error of the write is returned by the statement that travels with it, or by Commit.
func (t *Tx) Deferred() DB { return deferring{t, anyRows, nil} }

// DeferredRows is Deferred for writes that must touch n rows each: where one does not, missed is returned.
func (t *Tx) DeferredRows(n int64, missed error) DB { return deferring{t, n, missed} }

// deferring reads as its transaction does.
type deferring struct {
	*Tx

	rows   int64
	missed error
}

// Exec implements DB.
func (d deferring) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	d.deferred = append(d.deferred, deferred{Statement{sql, args}, d.rows, d.missed})
	return pgconn.CommandTag{}, nil
}
