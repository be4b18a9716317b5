package pool

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	pgxuuid "github.com/vgarvardt/pgx-google-uuid/v5"

	"github.com/paylatch/paylatch/migrations"
)

// The time limits of every session: a frozen process can't hold the others up
// for longer.
const (
	lockTimeout      = "5s"
	statementTimeout = "5s"
	idleInTxTimeout  = "5s"

	// connectTimeout is how long connecting may take at first unless the address sets another limit; see connectLimit.
	connectTimeout = time.Second
	// acquireTimeout bounds how long a caller waits for a connection, so that a
	// lost database is an answer and not a hanging request.
	acquireTimeout = 1500 * time.Millisecond
	// txTimeout bounds a transaction from this side, for a server that is frozen.
	txTimeout = 10 * time.Second
	// maxConns is how many connections a pool has unless its address sets another number, on any machine.
	maxConns = 10
)

// Pool is the connections to one database. It is safe for concurrent use.
type Pool struct {
	conns *pgxpool.Pool
	// notices is one session for announcements. On a shared session an announcement between two batches would take away
	// the session whose memory is warm for the next batch.
	notices *pgxpool.Pool
	// aside is for reads that may be slow.
	aside *aside
	// direct is for connections past a pooler.
	direct *pgx.ConnConfig
	// limit is of all connections to the server.
	limit *connectLimit
	// standby is the pool of the standby, which may be behind; nil if none is configured.
	standby *Pool
	// begin is the second statement of a transaction.
	begin string
	// migrated is set once the schema was found to be no older than this binary. Where durability is demanded, the
	// server must also have been found to keep its commits.
	migrated atomic.Bool
	// connected checks a new connection; nil for no check.
	connected func(ctx context.Context, c *pgx.Conn) error
	// suits check the database before the first use.
	suits []func(ctx context.Context, c *pgxpool.Conn) error
	// commit runs each commit; nil for nothing.
	commit func(commit func() error) error
	// demanding is set where the pool is unavailable while the server loses commits.
	demanding bool
	// vital are the settings that keep commits.
	vital []string
	// tried is the last write of TakesWrites.
	tried tried
	// acquireTimeout and txTimeout are the constants of these names, unless Patiently has set others.
	acquireTimeout, txTimeout time.Duration
}

// Open prepares a pool for a database URL or key/value string. It does not
// connect: a database that is down at the start may come up later. Until its schema
// was found once to be no older than this binary, it counts as unavailable.
func Open(ctx context.Context, url string) (*Pool, error) { return open(ctx, Address{URL: url}, false) }

// OpenAt is Open for an address that may lead to a pooler.
func OpenAt(ctx context.Context, a Address) (*Pool, error) { return open(ctx, a, false) }

func open(ctx context.Context, a Address, durable bool) (*Pool, error) {
	limit := &connectLimit{}
	cfg, err := parse(a.URL, a.Pooled, limit)
	if err != nil {
		return nil, fmt.Errorf("read the database's address: %w", err)
	}
	direct, err := parse(a.direct(), a.Pooled && a.Direct == "", limit)
	if err != nil {
		return nil, fmt.Errorf("read the database's direct address: %w", err)
	}
	limit.first = cfg.ConnConfig.ConnectTimeout
	p := &Pool{
		direct: direct.ConnConfig, limit: limit, demanding: durable, vital: vital(a), begin: begin,
		acquireTimeout: acquireTimeout, txTimeout: txTimeout,
	}
	if _, set := cfg.ConnConfig.RuntimeParams["plan_cache_mode"]; !set {
		p.begin += planOnce
	}
	prepare := speakTypes
	if durable && a.Pooled {
		p.begin += keepCommit
	} else if durable {
		prepare = durably(limit)
	}
	if a.Standby != "" {
		if p.standby, err = open(ctx, Address{URL: a.Standby}, false); err != nil {
			return nil, fmt.Errorf("the standby: %w", err)
		}
	}
	cfg.BeforeConnect = limit.begin
	cfg.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		if err := prepare(ctx, c); err != nil {
			return err
		}
		limit.succeed()
		if p.connected == nil {
			return nil
		}
		return p.connected(ctx, c)
	}
	cfg.BeforeClose = hangUp
	single := cfg.Copy()
	single.MinConns, single.MinIdleConns, single.MaxConns = 0, 0, 1
	if p.conns, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, fmt.Errorf("prepare the pool: %w", err)
	}
	if p.notices, err = pgxpool.NewWithConfig(ctx, single); err != nil {
		p.conns.Close()
		return nil, fmt.Errorf("prepare the session of announcements: %w", err)
	}
	if p.aside, err = newAside(ctx, cfg); err != nil {
		p.conns.Close()
		p.notices.Close()
		return nil, err
	}
	return p, nil
}

// OnConnect sets a function that checks each new connection; its error closes the connection. OnConnect must be called
// before the pool is used.
func (p *Pool) OnConnect(look func(ctx context.Context, c *pgx.Conn) error) { p.connected = look }

// Suits adds a function that checks the database before its first use. While the function returns an error, the database is
// unavailable. Suits must be called before the pool is used.
func (p *Pool) Suits(check func(ctx context.Context, c *pgxpool.Conn) error) {
	p.suits = append(p.suits, check)
}

// OnCommit sets a function through which each commit runs. It must call its argument once and return the argument's
// error. OnCommit must be called before the pool is used.
func (p *Pool) OnCommit(commit func(commit func() error) error) { p.commit = commit }

// Patiently sets another limit for the wait for a connection or for a turn, and for each transaction, for programs that prefer a late
// response to none. Patiently must be called before the pool is used.
func (p *Pool) Patiently(limit time.Duration) {
	p.acquireTimeout, p.txTimeout, p.aside.atMost = limit, limit, limit
	if p.standby != nil {
		p.standby.Patiently(limit)
	}
}

// Usage is the use of the connections.
type Usage struct {
	Acquired, Idle, Max int64
	// Waits counts the callers that found no idle connection, Waited is the time that they waited.
	Waits  int64
	Waited time.Duration
}

// Usage returns the present use of the connections, and the use since the start.
func (p *Pool) Usage() Usage {
	s := p.conns.Stat()
	return Usage{int64(s.AcquiredConns()), int64(s.IdleConns()), int64(s.MaxConns()), s.EmptyAcquireCount(), s.EmptyAcquireWaitTime()}
}

// speakTypes makes times that are read the same on every machine, and ids cheap.
func speakTypes(_ context.Context, c *pgx.Conn) error {
	c.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	pgxuuid.Register(c.TypeMap())
	speakArrays(c.TypeMap())
	return nil
}

// Close waits for the connections that are in use and closes them all.
func (p *Pool) Close() {
	if p.standby != nil {
		p.standby.Close()
	}
	p.notices.Close()
	p.aside.conns.Close()
	p.conns.Close()
}

// Ping reports whether the database answers.
func (p *Pool) Ping(ctx context.Context) error {
	return p.on(ctx, p.conns, func(ctx context.Context, c *pgxpool.Conn) error { return c.Ping(ctx) })
}

// Migrated returns migrations.ErrBehind if the schema is older than this binary.
func (p *Pool) Migrated(ctx context.Context) error {
	return p.on(ctx, p.conns, func(ctx context.Context, c *pgxpool.Conn) error { return migrations.Check(ctx, c) })
}

// check checks the conditions for any read or write.
func (p *Pool) check(ctx context.Context, c *pgxpool.Conn) error {
	if p.demanding {
		if err := errors.Join(p.checkDurable(ctx, c), checkSettings(ctx, c)); err != nil {
			return err
		}
	}
	if err := migrations.Check(ctx, c); err != nil {
		return err
	}
	for _, suits := range p.suits {
		if err := suits(ctx, c); err != nil {
			return err
		}
	}
	p.migrated.Store(true)
	return nil
}

// Read runs fn on a connection, outside a transaction: each of its statements is one. Errors of PostgreSQL are returned in the
// domain's vocabulary, a lost or busy database as payment.ErrUnavailable. fn is run again only if the schema was migrated meanwhile.
func (p *Pool) Read(ctx context.Context, fn func(ctx context.Context, c *pgxpool.Conn) error) error {
	return p.on(ctx, p.conns, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := p.ready(ctx, c); err != nil {
			return err
		}
		return fn(ctx, c)
	})
}

// Notices is Read on the one session for announcements, of any schema.
func (p *Pool) Notices(ctx context.Context, fn func(ctx context.Context, c *pgxpool.Conn) error) error {
	return p.on(ctx, p.notices, fn)
}

// ready keeps a process that was started while the database was away from working
// on a schema that is older.
func (p *Pool) ready(ctx context.Context, c *pgxpool.Conn) error {
	if p.migrated.Load() {
		return nil
	}
	if err := p.check(ctx, c); err != nil {
		return unavailable(err)
	}
	return nil
}

func (p *Pool) on(ctx context.Context, pool *pgxpool.Pool, fn func(ctx context.Context, c *pgxpool.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, p.txTimeout)
	defer cancel()
	return fresh(pool, func() error {
		conn, err := p.acquire(ctx, pool)
		if err != nil {
			return err
		}
		defer conn.Release()
		return DomainError(fn(ctx, conn))
	})
}

func (p *Pool) acquire(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.acquireTimeout)
	defer cancel()
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	return conn, nil
}
