package pool_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

func lacking(t *testing.T, a pool.Address) (names, remedies []string) {
	t.Helper()
	if a.Pooled {
		a.URL = testdb.With(t, a.URL, "connect_timeout", "120")
	} else {
		a.URL = testdb.Patient(a.URL)
	}
	p, err := pool.OpenAt(t.Context(), a)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	p.Patiently(testdb.Patience)
	role, err := p.Settings(t.Context())
	var missing *pool.SettingsError
	if err == nil {
		return nil, nil
	}
	require.ErrorAs(t, err, &missing)
	for _, s := range missing.Settings {
		names, remedies = append(names, s.Name), append(remedies, s.Remedy(role))
	}
	return names, remedies
}

// TestSettings: by default each session begins with the required settings; behind a pooler the role must have them.
func TestSettings(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	names, _ := lacking(t, pool.Address{URL: dsn})
	require.Empty(t, names)
	names, _ = lacking(t, pool.Address{URL: testdb.With(t, dsn, "statement_timeout", "0")})
	require.Equal(t, []string{"statement_timeout"}, names)
	names, _ = lacking(t, pool.Address{URL: testdb.With(t, dsn, "default_transaction_isolation", "serializable")})
	require.Equal(t, []string{"default_transaction_isolation"}, names)
	names, _ = lacking(t, pool.Address{URL: testdb.With(t, dsn, "timezone", "Europe/Berlin")})
	require.Equal(t, []string{"timezone"}, names)

	names, remedies := lacking(t, pool.Address{URL: dsn, Pooled: true})
	limits := []string{"idle_in_transaction_session_timeout", "lock_timeout", "statement_timeout"}
	require.Equal(t, limits, slices.DeleteFunc(names, func(n string) bool { return n == "timezone" }), "the cluster's zone is its own")
	require.Contains(t, remedies, `ALTER ROLE "postgres" SET lock_timeout = '5s'`)
}

// TestAddressMode: other ways to send a query give other results.
func TestAddressMode(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	for _, mode := range []string{"exec", "simple_protocol", "describe_exec"} {
		_, err := pool.Open(t.Context(), testdb.With(t, dsn, "default_query_exec_mode", mode))
		var refused *pool.ModeError
		require.ErrorAs(t, err, &refused, mode)
	}
	p, err := pool.OpenAt(t.Context(), pool.Address{URL: testdb.With(t, dsn, "connect_timeout", "120"), Pooled: true})
	require.NoError(t, err)
	t.Cleanup(p.Close)
	require.Equal(t, pgx.QueryExecModeCacheDescribe, p.Conns().Config().ConnConfig.DefaultQueryExecMode)
	c, err := p.Connect(context.WithoutCancel(t.Context()), "paylatch test")
	require.NoError(t, err)
	require.NoError(t, c.Close(t.Context()))
}

func TestVitals(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	p := open(t, dsn)
	v, err := p.Vitals(t.Context())
	require.NoError(t, err)
	require.Positive(t, v.Version)
	require.Less(t, time.Since(v.Now).Abs(), time.Minute)
	require.Equal(t, 18, v.Most)
	require.Positive(t, v.Free)
	require.Positive(t, v.OldestTransaction)
	require.Empty(t, v.Unvacuumed)
	require.Empty(t, v.IdleSlots)
	require.False(t, v.StandbyMissing)
	_, err = testdb.Connect(t, dsn).Exec(t.Context(), "ALTER TABLE orders SET (autovacuum_enabled = false)")
	require.NoError(t, err)
	v, err = p.Vitals(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"orders"}, v.Unvacuumed)
}
