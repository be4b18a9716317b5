package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
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

// pooler is a PgBouncer that gives each transaction whichever session is free.
type pooler struct {
	t       *testing.T
	program string
	file    string
	url     string
	address string
	*process
}

// pgbouncer starts one before a database. It has fewer sessions than the services have connections.
func pgbouncer(t *testing.T, dsn string, more ...string) *pooler {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/pgbouncer")
	}
	if err != nil {
		t.Skip("there is no pgbouncer on this machine (Debian: apt-get install pgbouncer)")
	}
	to, err := pgx.ParseConfig(dsn)
	require.NoError(t, err)
	dir, err := os.MkdirTemp("/tmp", "paylatch-") //nolint:usetesting // root's may run as another user, who must pass through
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755), "as above")
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	at := testdb.Address(t)
	host, port, err := net.SplitHostPort(at)
	require.NoError(t, err)
	settings := append([]string{
		"[databases]", fmt.Sprintf("* = host=%s port=%d user=%s password=%s", to.Host, to.Port, to.User, to.Password),
		"[pgbouncer]", "listen_addr = " + host, "listen_port = " + port, "auth_type = any", "unix_socket_dir =",
		"pool_mode = transaction", "max_client_conn = 200", "default_pool_size = 8",
	}, more...)
	p := &pooler{t: t, program: program, file: filepath.Join(dir, "pgbouncer.ini"), address: at}
	require.NoError(t, os.WriteFile(p.file, []byte(strings.Join(settings, "\n")+"\n"), 0o644))
	p.url = fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", to.User, at, to.Database)
	p.begin()
	return p
}

// overTCP is a PostgreSQL that other users of the machine can connect to.
func overTCP(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "paylatch-") //nolint:usetesting // the path of a unix socket must be short
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711), "root's server may run as another user")
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	_, port, err := net.SplitHostPort(testdb.Address(t))
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	pg, err := devpg.Start(t.Context(), devpg.Config{Dir: filepath.Join(dir, "postgres"), Port: n})
	require.NoError(t, err)
	t.Cleanup(func() { _ = pg.Stop() })
	require.NoError(t, migrations.Up(t.Context(), pg.DSN("postgres")))
	return pg.DSN("postgres")
}

// begin starts it, again after its end.
func (p *pooler) begin() {
	p.t.Helper()
	args := []string{p.file}
	if os.Geteuid() == 0 {
		args = append(args, "-u", "nobody")
	}
	p.process = startOf(p.t, p.program, filepath.Dir(p.file), nil, args...)
	eventually(p.t, "PgBouncer", func() bool {
		c, err := net.DialTimeout("tcp", p.address, time.Second)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

// ends returns the output of a service that does not start.
func (r *rig) ends(environ ...string) string {
	r.t.Helper()
	p := ended(r.t, append(settingsOfOne(), environ...), "serve")
	require.Equal(r.t, 2, p.cmd.ProcessState.ExitCode(), p.stderr)
	return p.stderr.String()
}

// settingsOfOne are the settings of a service with one account, without a database.
func settingsOfOne() []string {
	return []string{
		"PAYLATCH_ENVIRONMENT=test", "PAYLATCH_LISTEN=127.0.0.1:0", "PAYLATCH_ENCRYPTION_KEYS=[" + keyOne + "]", "PAYLATCH_AUTH_HS256_SECRET=" + secret,
		"PAYLATCH_ACCOUNTS=[{name: stripe, kind: stripe, webhook_secrets: [whsec_1]}]",
	}
}

// TestPooler runs two services behind PgBouncer in transaction mode, as the manual has it, from the refusals on, and kills PgBouncer
// under load.
func TestPooler(t *testing.T) {
	t.Parallel()
	r := newRigOn(t, overTCP(t))
	bouncer := pgbouncer(t, r.dsn)

	require.Contains(t, r.ends("PAYLATCH_DATABASE_URL="+bouncer.url), "set database.pooler to transaction")
	require.Contains(t, r.ends("PAYLATCH_DATABASE_URL="+bouncer.url, "PAYLATCH_DATABASE_POOLER=transaction"), "database.direct_url: is missing")
	behind := []string{"PAYLATCH_DATABASE_URL=" + bouncer.url, "PAYLATCH_DATABASE_POOLER=transaction", "PAYLATCH_DATABASE_DIRECT_URL=" + r.dsn}
	printed := r.ends(behind...)
	remedies := regexp.MustCompile(`run (ALTER ROLE .+), and make`).FindAllStringSubmatch(printed, -1)
	require.Len(t, remedies, 3, printed)
	for _, m := range remedies {
		_, err := r.db.Exec(t.Context(), m[1])
		require.NoError(t, err)
	}
	_, err := r.db.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
	require.NoError(t, err)

	here, there := r.serve(behind...), r.serve(behind...)
	wakes(t, here, there)
	l := newLoad(t, there)
	l.run(t, 16)
	for range 2 {
		before := l.counts()
		eventually(t, "some load", func() bool { return l.counts() > before+200 })
		bouncer.kill()
		before = l.counts()
		eventually(t, "some refusals", func() bool { return l.counts() > before+20 })
		bouncer.begin()
	}
	before := l.counts()
	eventually(t, "some load", func() bool { return l.counts() > before+200 })
	l.stop()
	l.kept(t, r)
	r.verifies(t)
	wakes(t, here, there)
	for _, s := range []*service{here, there} {
		code, _ := s.stop(t, syscall.SIGTERM)
		require.Zero(t, code, s.stderr)
	}
}

// wakes pays at one service, and requires that a waiter at the other service is woken by the end of the payment.
func wakes(t *testing.T, here, there *service) {
	t.Helper()
	c := here.customer()
	a := c.pay(t.Context(), c.order(t), unique("pay"), "tok_redirect").attempt(t, http.StatusCreated)
	f := there.customer().follow(t, a.ID, strconv.Itoa(a.Version)) // it does not end by itself, as a poll does
	began := time.Now()
	key := unique("cancel")
	eventually(t, "the cancellation", func() bool {
		return c.send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+a.ID+"/cancel", "{}", "Idempotency-Key: "+key).status == http.StatusOK
	})
	for heard := false; !heard; {
		e, ok := f.next(t)
		require.True(t, ok, "the stream has ended")
		heard = e.Stage == "final"
	}
	t.Logf("heard after %v", time.Since(began))
}

// TestListenBehindPooler: a direct address that leads to a pooler is noticed.
func TestListenBehindPooler(t *testing.T) {
	t.Parallel()
	r := newRigOn(t, overTCP(t))
	p := pgbouncer(t, r.dsn, "ignore_startup_parameters = lock_timeout,statement_timeout,idle_in_transaction_session_timeout,default_transaction_isolation,timezone")
	for _, s := range []string{"lock_timeout = '5s'", "statement_timeout = '5s'", "idle_in_transaction_session_timeout = '5s'"} {
		_, err := r.db.Exec(t.Context(), "ALTER ROLE CURRENT_USER SET "+s)
		require.NoError(t, err)
	}
	p.kill()
	p.begin()
	s := r.serve("PAYLATCH_DATABASE_URL="+p.url, "PAYLATCH_DATABASE_POOLER=transaction", "PAYLATCH_DATABASE_DIRECT_URL="+p.url)
	eventually(t, "the warning", func() bool { return strings.Contains(s.stderr.String(), "set database.direct_url") })
	wakes(t, s, s)
}
