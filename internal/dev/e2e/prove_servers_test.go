package e2e_test

import (
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
)

// mostStep bounds how far a replica's clock may be from where it began, in seconds.
const mostStep = 45

// stepClock sets a replica's clock forward or back, as a time service does.
func (p *proof) stepClock(t *testing.T, i int, d *rand.Rand) func() {
	t.Helper()
	n := p.nodes[i]
	step := strconv.Itoa(d.IntN(2*mostStep+1) - mostStep)
	next := filepath.Join(n.dir, "step.next")
	require.NoError(t, os.WriteFile(next, []byte(step), 0o600))
	require.NoError(t, os.Rename(next, n.steps()))
	n.process.signal(syscall.SIGUSR1)
	return nil
}

// steps is the file from which a replica reads its clock's step.
func (n *node) steps() string { return filepath.Join(n.dir, "step") }

// migrate runs the migrations again, beside the traffic and over a replica's way to PostgreSQL. It may fail: the way may break.
func (p *proof) migrate(t *testing.T, _ int, d *rand.Rand) func() {
	t.Helper()
	m := startOf(t, p.program, t.TempDir(), []string{"PAYLATCH_DATABASE_URL=" + p.nodes[d.IntN(replicas)].dsn}, "migrate", "up")
	m.stderr.quiet = true
	return func() {
		select {
		case <-m.done:
		case <-time.After(5 * time.Second):
			m.kill()
		}
	}
}

// promoted is the kind of fault that needs a standby.
const promoted = "PostgreSQL's standby is promoted"

// follow gives the primary a synchronous standby, unless it has one. After a promotion the former primary's files become the standby's.
func (p *proof) follow(t *testing.T) {
	t.Helper()
	if p.pair == nil || p.pair.standby != nil && p.pair.standby == p.follows {
		return
	}
	if p.pair.standby == nil {
		p.pair.follow(t, p.former)
	}
	p.follows = p.pair.standby
	p.pair.exec(t, p.pair.standby, "ALTER SYSTEM SET wal_retrieve_retry_interval = '100ms'") // commits wait for it after each crash
	p.pair.exec(t, p.pair.standby, "SELECT pg_reload_conf()")
	p.pair.synchronous(t)
}

// promotePostgres kills PostgreSQL and has its standby take over, for good.
func (p *proof) promotePostgres(t *testing.T, _ int, _ *rand.Rand) func() {
	t.Helper()
	crash(t, p.pg)
	p.former = p.pair.promote(t)
	p.servedBy(p.pair.primary)
	p.dsn = p.pg.DSN("postgres")
	db, err := pgxpool.New(t.Context(), p.dsn)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	p.db = db
	to, err := url.Parse(p.dsn)
	require.NoError(t, err)
	for _, n := range p.nodes {
		n.database.LeadToDatabase(to)
		n.database.Reset()
	}
	return nil
}

// servedBy notes the server that takes writes.
func (p *proof) servedBy(pg *devpg.Server) {
	p.pg = pg
	if p.pair != nil {
		p.pair.primary = pg
	}
}
