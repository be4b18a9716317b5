package pool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// NotDurableError is returned for a server that may lose its commits. Its Settings are the ones that are off: fsync,
// full_page_writes (a crash may leave half a page) or synchronous_commit, by the server, the database, the role or the
// address.
type NotDurableError struct{ Settings []string }

func (e *NotDurableError) Error() string {
	return "the database may lose what it has committed: " + strings.Join(e.Settings, ", ") + " off"
}

// OpenDurable is Open for a pool whose commits must be durable. The pool is unavailable until the server was found to
// keep its commits. The other values of synchronous_commit differ in the wait for standbys; all of them wait for the
// server's own disk.
func OpenDurable(ctx context.Context, a Address) (*Pool, error) { return open(ctx, a, true) }

// keepCommit is durably for one transaction. It is appended to the transaction's second statement: behind a pooler the
// session changes with each transaction.
const keepCommit = ` AND set_config('synchronous_commit',
	CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true) <> ''`

// Durable returns a NotDurableError if commits may be lost.
func (p *Pool) Durable(ctx context.Context) error {
	return on(ctx, p.conns, p.checkDurable)
}

// vital returns the settings that must be on. The storage can't keep a commit that was acknowledged before it got there, so
// synchronous_commit is among them in any case.
func vital(a Address) []string {
	if a.Stored {
		return []string{"synchronous_commit"}
	}
	return []string{"fsync", "full_page_writes", "synchronous_commit"}
}

// checkDurable reads the values that a new session starts with. durably may have changed the values of this session.
func (p *Pool) checkDurable(ctx context.Context, c *pgxpool.Conn) error {
	rows, err := c.Query(ctx, `SELECT name FROM pg_settings
		WHERE name = ANY ($1) AND reset_val = 'off' ORDER BY name`, p.vital)
	if err != nil {
		return fmt.Errorf("read the settings of durability: %w", err)
	}
	off, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("read the settings of durability: %w", err)
	}
	if len(off) > 0 {
		return &NotDurableError{Settings: off}
	}
	return nil
}

// durably returns the function that prepares a session: its commits are kept even if the default of the database or the
// role was changed after the start. Other values are left alone.
func durably(limit time.Duration) func(context.Context, *pgx.Conn) error {
	return func(ctx context.Context, c *pgx.Conn) error {
		if err := speakTypes(ctx, c); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		_, err := c.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`)
		if err != nil {
			return fmt.Errorf("have commits kept: %w", err)
		}
		return nil
	}
}
