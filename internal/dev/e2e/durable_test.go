package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/migrations"
)

// production is the environment of a service that takes real money.
func production(dsn string) []string {
	return []string{
		"PAYLATCH_LISTEN=127.0.0.1:0", "PAYLATCH_DATABASE_URL=" + dsn, "PAYLATCH_ENCRYPTION_KEYS=[{id: k1, key: XWYd1x9lM0yxyC3zTGCRuNu0xOjj6bAqW2h5S4dvn7k=}]",
		"PAYLATCH_AUTH_HS256=[{id: shop, secret: " + secret + ", roles: [customer, service]}]",
		"PAYLATCH_ACCOUNTS=[{name: stripe, kind: stripe, webhook_secrets: [whsec_1]}]",
	}
}

// refuses requires that `serve` ends by itself and names the settings that are off.
func refuses(t *testing.T, dsn string, off ...string) {
	t.Helper()
	refusesWith(t, production(dsn), off...)
}

// refusesWith is refuses for other settings.
func refusesWith(t *testing.T, environ []string, off ...string) {
	t.Helper()
	p := ended(t, environ, "serve")
	require.Equal(t, 2, p.cmd.ProcessState.ExitCode(), p.stderr)
	var said []string
	for line := range strings.Lines(p.stderr.String()) {
		if rest, found := strings.CutPrefix(line, "database_url: "); found {
			setting, _, _ := strings.Cut(rest, " is off")
			said = append(said, setting)
		}
	}
	require.Equal(t, off, said)
}

// ended starts a service that must end by itself, and waits for its end. A service that serves because its database or a provider
// did not respond in time is started again.
func ended(t *testing.T, environ []string, args ...string) (p *process) {
	t.Helper()
	eventually(t, "the end of the process", func() bool {
		p = start(t, t.TempDir(), environ, args...)
		for {
			select {
			case <-p.done:
				return true
			case <-time.After(10 * time.Millisecond):
			}
			if strings.Contains(p.stderr.String(), `"message":"serving"`) {
				p.kill()
				return false
			}
			if t.Context().Err() != nil {
				return false
			}
		}
	})
	return p
}

// TestDurableOrRefused: a payment that is confirmed can be forgotten by a server that
// does not wait for its disk.
func TestDurableOrRefused(t *testing.T) {
	t.Parallel()
	shared := testdb.New(t)
	refuses(t, shared, "fsync", "full_page_writes", "synchronous_commit")
	var p *process
	eventually(t, "the warnings of a database that responds in time", func() bool {
		p = start(t, t.TempDir(), append(production(shared), "PAYLATCH_ENVIRONMENT=test"), "serve")
		p.says(t, "serving")
		return !strings.Contains(p.stderr.String(), "the database does not respond yet")
	})
	require.Equal(t, "warn", p.says(t, "live would refuse this database").Level)

	stored := []string{"PAYLATCH_DATABASE_DURABILITY=storage", "PAYLATCH_DATABASE_DURABILITY_REASON=the storage of the tests"}
	refusesWith(t, append(production(shared), stored...), "synchronous_commit")
	kept := append(production(testdb.With(t, shared, "synchronous_commit", "on")), stored...)
	p = start(t, t.TempDir(), kept, "serve")
	p.says(t, "fsync and full_page_writes may be off, because the database's storage keeps commits (database.durability)")
	p.says(t, "serving")
	examined := start(t, t.TempDir(), kept, "doctor")
	within(t, "the end of the doctor", examined.done)
	require.Contains(t, examined.stdout.String(), "(database.durability): the storage of the tests")
	require.NotContains(t, examined.stdout.String(), "fsync is off")

	dir, err := os.MkdirTemp("/tmp", "paylatch-") //nolint:usetesting // the path of a unix socket must be short
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711), "root's server may run as another user")
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	server, err := devpg.Start(t.Context(), devpg.Config{Dir: filepath.Join(dir, "postgres")})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Stop() })
	dsn := server.DSN("postgres")
	require.NoError(t, migrations.Up(t.Context(), dsn))
	admin, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { _ = admin.Close(t.Context()) }()
	set := func(sql string) {
		_, err := admin.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	for _, of := range []string{"ROLE CURRENT_USER", "DATABASE postgres"} {
		set("ALTER " + of + " SET synchronous_commit = off")
		refuses(t, dsn, "synchronous_commit")
		set("ALTER " + of + " RESET synchronous_commit")
	}
	set("ALTER DATABASE postgres SET synchronous_commit = local")
	p = start(t, t.TempDir(), production(dsn), "serve")
	(&service{p, "http://" + p.says(t, "serving").Listen}).ready(t)
	code, _ := p.stop(t, syscall.SIGTERM)
	require.Zero(t, code)
}
