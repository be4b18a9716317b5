// Package enginetest has an engine on a real database, for tests.
package enginetest

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/postgres/envelope/envelopetest"
)

// Env is an engine and its database.
type Env struct {
	*engine.Engine

	Store *postgres.Store
	DB    *pgxpool.Pool
	DSN   string
}

// New returns an engine on a database of its own. It takes webhooks in until the test ends. Times that o leaves out are
// 10 s until the first check, 30 s for leases, and for waits and calls as long as a busy machine may need.
func New(tb testing.TB, o engine.Options) *Env {
	tb.Helper()
	return On(tb, testdb.New(tb), o)
}

// On is New on a database that others use as well: the engine of another process.
func On(tb testing.TB, dsn string, o engine.Options) *Env {
	tb.Helper()
	e := &Env{DSN: dsn}
	e.Store, e.DB = Open(tb, dsn)
	o.Store, o.Wait, o.ProviderTimeout = e.Store, cmp.Or(o.Wait, time.Minute), cmp.Or(o.ProviderTimeout, 25*time.Second)
	o.Schedule = payment.Schedule{First: cmp.Or(o.Schedule.First, 10*time.Second), Lease: cmp.Or(o.Schedule.Lease, 30*time.Second)}
	if o.Now == nil {
		o.Now = time.Now
	}
	e.Engine = engine.New(o)
	Run(tb, e.Run)
	tb.Cleanup(e.Close)
	return e
}

// Open opens a database as Store does, and once more for the test's own statements, until the test ends.
func Open(tb testing.TB, dsn string) (*postgres.Store, *pgxpool.Pool) {
	tb.Helper()
	db, err := pgxpool.New(tb.Context(), dsn)
	require.NoError(tb, err)
	tb.Cleanup(db.Close)
	return Store(tb, dsn), db
}

// Store opens a database as a process does, with an encryption key of the tests, until the test ends. Its limits are those of a busy
// machine, except for limits that the address sets.
func Store(tb testing.TB, dsn string) *postgres.Store {
	tb.Helper()
	store, err := postgres.Open(tb.Context(), testdb.Patient(dsn))
	require.NoError(tb, err)
	store.Patiently(testdb.Patience)
	store.SealWith(envelopetest.Box(tb), time.Now)
	tb.Cleanup(store.Close)
	return store
}

// Run runs a function until the test ends, and waits for its end.
func Run(tb testing.TB, run func(context.Context) error) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	ran := make(chan error, 1)
	go func() { ran <- run(ctx) }()
	tb.Cleanup(func() {
		cancel()
		require.NoError(tb, <-ran)
	})
}
