package e2e_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// TestUpgrade runs the previous release and this version on one database under load: with the
// schema of the previous one first, then beside each other while the new one migrates it, then
// without the previous one, and back: the previous one alone, on the new schema. Nothing is lost,
// charged twice, or stored so that verify finds it.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	previous := previousRelease(t)
	r := newRigOn(t, emptyDatabase(t))
	run := func(program string, args ...string) {
		p := startOf(t, program, t.TempDir(), []string{"PAYLATCH_DATABASE_URL=" + r.dsn}, args...)
		within(t, "the end of "+args[0], p.done)
		require.Zero(t, p.cmd.ProcessState.ExitCode(), p.stderr.String())
	}
	run(previous, "migrate", "up")
	before := r.serveOf(previous, r.gate.URL)
	var load sync.WaitGroup
	pays := func(of int, services ...*service) {
		for i := range 4 {
			load.Go(func() {
				for n := range of {
					pressedAt(t, n, services[(i+n)%len(services)], services[(i+n+1)%len(services)])
				}
			})
		}
	}
	pays(20, before)
	run(binary, "migrate", "up")
	load.Wait()
	now := r.serve()
	pays(20, before, now)
	load.Wait()
	before.kill()
	pays(10, now)
	load.Wait()
	now.kill()
	back := r.serveOf(previous, r.gate.URL)
	pays(10, back)
	load.Wait()
	eventually(t, "the end of all attempts", func() bool {
		return one[int](t, r, `SELECT count(*) FROM payment_attempts WHERE status = 'pending'`) == 0
	})
	for _, id := range column[string](t, r, `SELECT attempt_id::text FROM payment_attempts WHERE status = 'succeeded'`) {
		r.charged(t, id, 1999)
	}
	require.Equal(t, 4*60, one[int](t, r, `SELECT count(*) FROM payment_attempts`))
	require.Empty(t, column[string](t, r, `SELECT kind FROM discrepancies`))
	run(binary, "verify")
}

// TestMigrationsUnderLoad changes the tables below two processes as the migrations of a later release may: more columns, an
// index, and other types of the columns that prepared statements return. No request fails.
func TestMigrationsUnderLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	services := []*service{r.serve(), r.serve()}
	stop := make(chan struct{})
	var load sync.WaitGroup
	for i := range 3 {
		load.Go(func() {
			for n := i; ; n++ {
				select {
				case <-stop:
					return
				default:
					pressedAt(t, n, services[n%2], services[(n+1)%2])
				}
			}
		})
	}
	for _, change := range []string{
		"ALTER TABLE payment_attempts ADD COLUMN later text NOT NULL DEFAULT ''",
		"ALTER TABLE orders ADD COLUMN later bigint",
		"ALTER TABLE payment_attempts ALTER COLUMN failure_message TYPE varchar",
		"ALTER TABLE orders ALTER COLUMN description TYPE varchar",
		"CREATE INDEX CONCURRENTLY attempts_later ON payment_attempts (account, later)",
		"ALTER TABLE operations ALTER COLUMN origin_id TYPE varchar",
		"ALTER TABLE provider_events ALTER COLUMN event_type TYPE varchar",
		"ALTER TABLE payment_attempts ALTER COLUMN failure_message TYPE text",
	} {
		paid := one[int](t, r, `SELECT count(*) FROM payment_attempts`)
		r.exec(t, change)
		eventually(t, "more pays after "+change, func() bool { return one[int](t, r, `SELECT count(*) FROM payment_attempts`) > paid+5 })
	}
	close(stop)
	load.Wait()
	eventually(t, "the end of all attempts", func() bool {
		return one[int](t, r, `SELECT count(*) FROM payment_attempts WHERE status = 'pending'`) == 0
	})
	for _, s := range services {
		require.NotContains(t, s.stderr.String(), "result type")
	}
	require.Empty(t, column[string](t, r, `SELECT kind FROM discrepancies`))
	r.verifies(t)
}

// pressedAt pays an order at one service, and sends the same request to another one.
func pressedAt(t *testing.T, n int, first, second *service) {
	t.Helper()
	c := first.customer()
	order, key := c.order(t), unique("pay")
	tokens := []string{"tok_success", "tok_async_success", "tok_decline", "tok_webhook_first"}
	paid := c.pay(t.Context(), order, key, tokens[n%len(tokens)])
	again := second.customer().pay(t.Context(), order, key, tokens[n%len(tokens)])
	if paid.status != http.StatusCreated || again.status != http.StatusCreated {
		t.Errorf("a pay and its repetition: %d %s, %d %s", paid.status, paid.text, again.status, again.text)
	}
}

// previousRelease builds the last release of the file RELEASES. Without one there is nothing to
// upgrade from, and the test is skipped.
func previousRelease(t *testing.T) string {
	t.Helper()
	git := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = filepath.Join("..", "..", "..")
		return cmd.Output()
	}
	list, err := os.ReadFile("../../../RELEASES")
	require.NoError(t, err)
	var version, commit string
	for line := range strings.Lines(string(list)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] != "#" {
			version, commit = fields[0], fields[1]
		}
	}
	if commit == "" {
		t.Skip("RELEASES names no release to upgrade from")
	}
	if _, err := git("cat-file", "-e", commit+"^{commit}"); err != nil {
		t.Skipf("the clone lacks %s, the commit of %s, as a shallow one does", commit, version)
	}
	dir := t.TempDir()
	source, err := git("archive", commit)
	require.NoError(t, err)
	unpack := exec.CommandContext(t.Context(), "tar", "-x", "-C", dir)
	unpack.Stdin = strings.NewReader(string(source))
	require.NoError(t, unpack.Run())
	program := filepath.Join(dir, "previous")
	build := exec.CommandContext(t.Context(), "go", "build", "-pgo=off", "-o", program, "./cmd/paylatch")
	build.Dir = dir
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// emptyDatabase returns the URL of a database without any table.
func emptyDatabase(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(testdb.New(t))
	require.NoError(t, err)
	conn := testdb.Connect(t, u.String())
	name := strings.ReplaceAll(unique("empty"), "-", "_")
	_, err = conn.Exec(t.Context(), "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := conn.Exec(context.WithoutCancel(t.Context()), "DROP DATABASE "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
		require.NoError(t, err)
	})
	u.Path = "/" + name
	return u.String()
}
