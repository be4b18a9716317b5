package pool

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// errStale is returned when a migration has changed the result types of a prepared statement: PostgreSQL does not run it
// ("cached plan must not change result type").
var errStale = errors.New("a statement was prepared before a migration")

// staleTries is how often new connections are tried: a migration has several steps.
const staleTries = 3

// stale reports whether PostgreSQL refused a prepared statement as errStale has it. The text is translated, the routine is not.
func stale(e *pgconn.PgError) bool { return e.Code == "0A000" && e.Routine == "RevalidateCachedQuery" }

// fresh runs fn, and again on new connections where a statement of its was stale.
func fresh(conns *pgxpool.Pool, fn func() error) error {
	err := fn()
	for range staleTries {
		if !errors.Is(err, errStale) {
			return err
		}
		conns.Reset()
		err = fn()
	}
	if errors.Is(err, errStale) {
		return unavailable(err)
	}
	return err
}
