package reconcile_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox/sandboxtest"
)

// clock is the clock of the process, the sandbox and the database. Sessions find the test's now() before PostgreSQL's.
// In a transaction it stands still, like PostgreSQL's.
type clock struct {
	*sandboxtest.Clock

	db *pgxpool.Pool
}

const clockSQL = `
CREATE SCHEMA simulated;
CREATE TABLE simulated.clock (at timestamptz NOT NULL);
CREATE FUNCTION simulated.now() RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
    at text := current_setting('simulated.at', true);
BEGIN
    IF coalesce(at, '') = '' THEN
        at := (SELECT c.at FROM simulated.clock c);
        PERFORM set_config('simulated.at', at, true);
    END IF;
    RETURN at::timestamptz;
END $$;
DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET search_path = simulated, pg_catalog, public', current_database());
END $$;`

// newClock gives a database a clock. Sessions that are open already keep theirs.
func newClock(t *testing.T, dsn string, at time.Time) clock {
	t.Helper()
	once, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	_, err = once.Exec(t.Context(), clockSQL)
	require.NoError(t, err)
	_, err = once.Exec(t.Context(), "INSERT INTO simulated.clock VALUES ($1)", at)
	require.NoError(t, err)
	require.NoError(t, once.Close(t.Context()))
	db, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return clock{sandboxtest.NewClock(at), db}
}

// pass moves the clock. Nothing may be under way.
func (c clock) pass(t *testing.T, by time.Duration) {
	t.Helper()
	_, err := c.db.Exec(t.Context(), "UPDATE simulated.clock SET at = $1", c.Now().Add(by))
	require.NoError(t, err)
	c.Advance(by)
}
