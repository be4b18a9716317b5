package pool

import (
	"context"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Address is where a database is, as URLs or key/value strings.
type Address struct {
	URL string
	// Direct is an address for work that needs a session of its own, such as LISTEN; empty for URL.
	Direct string
	// Pooled is set where URL leads to a pooler that gives each transaction any free session, such as PgBouncer with
	// pool_mode = transaction. Then no statement is prepared on a session, and no session is given settings: the role
	// must have them.
	Pooled bool
	// Standby is the address of a copy that may be a little behind, for [Pool.OnceBehind]; empty for URL.
	Standby string
	// Stored is set where the server's storage keeps commits by other means than fsync and full_page_writes.
	Stored bool
}

// direct is the address without a pooler.
func (a Address) direct() string {
	if a.Direct != "" {
		return a.Direct
	}
	return a.URL
}

// ModeError is returned for an address that sets how queries are sent (default_query_exec_mode) to a way that this program
// does not work with.
type ModeError struct{ Mode pgx.QueryExecMode }

func (e *ModeError) Error() string {
	return "default_query_exec_mode=" + e.Mode.String() + " sends values as text of no type, which gives other results: leave it out"
}

// parse reads an address, pooled or not. It sets the options that the address leaves open, since their defaults depend
// on the machine. The limit holds for each dial, also for that of a cancel request.
func parse(url string, pooled bool, limit *connectLimit) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err //nolint:wrapcheck // open wraps it
	}
	named, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err //nolint:wrapcheck // open wraps it
	}
	if _, set := named.RuntimeParams["pool_max_conns"]; !set {
		cfg.MaxConns = maxConns
	}
	conn := cfg.ConnConfig
	if conn.ConnectTimeout == 0 {
		conn.ConnectTimeout = connectTimeout
	}
	conn.DialFunc = within(limit, conn.DialFunc)
	switch conn.DefaultQueryExecMode {
	case pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe:
	case pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		return nil, &ModeError{conn.DefaultQueryExecMode}
	}
	if pooled {
		conn.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		conn.StatementCacheCapacity = 0
	}
	setDefaults(conn.RuntimeParams, pooled)
	return cfg, nil
}

// setDefaults adds the initial settings of a session. A pooler refuses all of them except the name, because they would
// affect other sessions.
func setDefaults(params map[string]string, pooled bool) {
	defaults := map[string]string{"application_name": "paylatch"}
	if !pooled {
		for _, s := range sessionSettings {
			defaults[s.Name] = s.value
		}
	}
	for name, value := range defaults {
		if _, set := params[name]; !set {
			params[name] = value
		}
	}
}

// Connect returns a connection of its own, outside the pool and past a pooler, with this application_name. The caller closes it.
func (p *Pool) Connect(ctx context.Context, name string) (*pgx.Conn, error) {
	c := p.direct.Copy()
	c.RuntimeParams["application_name"] = name
	_ = p.limit.begin(ctx, c) // it returns nil
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	p.limit.succeed()
	return conn, nil
}

// hangUp closes a connection that was given up in the middle of a statement. The connection may be dead. pgx would wait
// 15 s for the server's end of it, and its place in the pool would stay taken meanwhile.
func hangUp(c *pgx.Conn) {
	if c.IsClosed() {
		_ = c.PgConn().Conn().Close()
	}
}

// within bounds a dial. By default pgx bounds the dial of a connection, but not the dial of a cancel request.
func within(p *connectLimit, dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, p.now())
		defer cancel()
		return dial(ctx, network, addr)
	}
}
