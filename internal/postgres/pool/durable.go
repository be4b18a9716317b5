package pool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// NotDurableError is returned for a server that may lose its commits. Its Settings are the ones that are off: fsync,
// full_page_writes (a crash may leave half a page) or synchronous_commit, by the server, the database, the role or the
// address. A setting of the worker of Citus that has the tables reads "fsync of the worker HOST:PORT".
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
	return p.on(ctx, p.conns, p.checkDurable)
}

// vital returns the settings that must be on. The storage can't keep a commit that was acknowledged before it got there, so
// synchronous_commit is among them in any case.
func vital(a Address) []string {
	if a.Stored {
		return []string{"synchronous_commit"}
	}
	return []string{"fsync", "full_page_writes", "synchronous_commit"}
}

// weak reads the values that a new session starts with: durably may have changed the values of this session.
const weak = `SELECT ARRAY(SELECT name FROM pg_settings WHERE name = ANY ($1) AND reset_val = 'off' ORDER BY name)::text[],
	EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`

// weakWorkers reads the same where Citus keeps the tables of this schema.
const weakWorkers = `WITH homes AS (
		SELECT DISTINCT n.nodename, n.nodeport FROM pg_dist_placement p JOIN pg_dist_shard s USING (shardid) JOIN pg_class c ON c.oid = s.logicalrelid
		JOIN pg_dist_node n USING (groupid) WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND n.noderole = 'primary' AND n.groupid > 0
	), asked AS (
		SELECT array_agg(nodename) AS names, array_agg(nodeport) AS ports, array_agg(format(
			$q$SELECT coalesce(string_agg(name, ',' ORDER BY name), '') FROM pg_settings WHERE name = ANY (%L) AND reset_val = 'off'$q$, $1::text[])) AS commands
		FROM homes
	)
	SELECT w.node_name || ':' || w.node_port, w.success, w.result
	FROM asked a, master_run_on_worker(a.names, a.ports, a.commands, true) w WHERE a.names IS NOT NULL ORDER BY 1`

// checkDurable returns a NotDurableError if the server may lose commits, or a worker of Citus that has the tables.
func (p *Pool) checkDurable(ctx context.Context, c *pgxpool.Conn) error {
	var off []string
	var citus bool
	err := c.QueryRow(ctx, weak, p.vital).Scan(&off, &citus)
	if err == nil && citus {
		var more []string
		more, err = p.workersOff(ctx, c)
		off = append(off, more...)
	}
	if err != nil {
		return fmt.Errorf("read the settings of durability: %w", err)
	}
	if len(off) > 0 {
		return &NotDurableError{Settings: off}
	}
	return nil
}

// errSilentWorker is returned when a worker does not tell its settings.
var errSilentWorker = errors.New("no response from a worker of Citus")

func (p *Pool) workersOff(ctx context.Context, c *pgxpool.Conn) (off []string, err error) {
	rows, err := c.Query(ctx, weakWorkers, p.vital) //nolint:rowserrcheck // ForEachRow returns it
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller adds what was read
	}
	var worker, result string
	var told bool
	_, err = pgx.ForEachRow(rows, []any{&worker, &told, &result}, func() error {
		if !told {
			return fmt.Errorf("%w: %s: %s", errSilentWorker, worker, result)
		}
		for _, name := range strings.FieldsFunc(result, func(r rune) bool { return r == ',' }) {
			off = append(off, name+" of the worker "+worker)
		}
		return nil
	})
	return off, err //nolint:wrapcheck // the caller adds what was read
}

// durably returns the function that prepares a session: its commits are kept even if the default of the database or the
// role was changed after the start. Other values are left alone.
func durably(p *connectLimit) func(context.Context, *pgx.Conn) error {
	return func(ctx context.Context, c *pgx.Conn) error {
		if err := speakTypes(ctx, c); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, p.now())
		defer cancel()
		_, err := c.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`)
		if err != nil {
			return fmt.Errorf("have commits kept: %w", err)
		}
		return nil
	}
}
