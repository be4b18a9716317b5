package e2e_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

var (
	promotions = flag.Int("promotions", 2, "rounds of each test of a failover")
	clients    = flag.Int("clients", 8, "customers and senders of webhooks during each failover")
)

// lostNothing is in the log once pays go on with another server.
const lostNothing = "the database server has lost nothing: each process has found its last commits, and payments continue"

// pair is a PostgreSQL and a standby that follows it. Clients find the server that takes writes by themselves.
type pair struct {
	bin     string
	primary *devpg.Server
	standby *devpg.Server
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{bin: backupTools(t), primary: testdb.Private(t)}
	other := p.primary.Dir() + ".b"
	require.NoError(t, os.Mkdir(other, 0o711))
	t.Cleanup(func() { _ = os.RemoveAll(other) })
	for _, name := range []string{"password", "devpg.lock"} {
		out, err := exec.CommandContext(t.Context(), "cp", "-a", filepath.Join(p.primary.Dir(), name), other).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	owned(t, p.primary.Dir(), other)
	p.follow(t, other)
	return p
}

// follow makes a standby in a directory, from a copy of the primary.
func (p *pair) follow(t *testing.T, dir string) {
	t.Helper()
	data := filepath.Join(dir, "data")
	require.NoError(t, os.RemoveAll(data))
	out, err := exec.CommandContext(t.Context(), filepath.Join(p.bin, "pg_basebackup"), "--dbname="+p.primary.DSN("postgres"), "--pgdata="+data,
		"--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf", "--no-sync").CombinedOutput()
	require.NoError(t, err, "%s", out)
	owned(t, filepath.Join(p.primary.Dir(), "data"), data)
	p.standby = startServer(t, dir)
	p.exec(t, p.primary, "CHECKPOINT")
	eventually(t, "the standby", func() bool {
		return query[int](t, p.primary, "SELECT count(*)::int FROM pg_stat_replication WHERE state = 'streaming'") == 1
	})
}

func startServer(t *testing.T, dir string) *devpg.Server {
	t.Helper()
	printed := &journal{}
	pg, err := devpg.Start(t.Context(), devpg.Config{Dir: dir, Log: printed})
	require.NoError(t, err, "%s", printed)
	t.Cleanup(func() { _ = pg.Stop() })
	return pg
}

// synchronous has each commit wait until the standby has it.
func (p *pair) synchronous(t *testing.T) {
	t.Helper()
	p.exec(t, p.primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	p.exec(t, p.primary, "SELECT pg_reload_conf()")
	eventually(t, "a synchronous standby", func() bool {
		return query[int](t, p.primary, "SELECT count(*)::int FROM pg_stat_replication WHERE sync_state = 'sync'") == 1
	})
}

// cutOff has the standby receive nothing any more.
func (p *pair) cutOff(t *testing.T) {
	t.Helper()
	p.exec(t, p.standby, "ALTER SYSTEM SET primary_conninfo = ''")
	p.exec(t, p.standby, "SELECT pg_reload_conf()")
	eventually(t, "an end of the replication", func() bool {
		return query[int](t, p.primary, "SELECT count(*)::int FROM pg_stat_replication") == 0
	})
}

// promote has the standby take over. The directory of the former primary is returned.
func (p *pair) promote(t *testing.T) (former string) {
	t.Helper()
	p.exec(t, p.standby, "SELECT pg_promote()")
	former = p.primary.Dir()
	p.primary, p.standby = p.standby, nil
	p.exec(t, p.primary, "ALTER SYSTEM RESET ALL")
	p.exec(t, p.primary, "SELECT pg_reload_conf()")
	return former
}

// upgrade has pg_upgrade make a server of the primary's files, which must have ended. Both have the programs of one version here.
// As after an upgrade to another version, the new server has another system identifier, and its log begins anew.
func (p *pair) upgrade(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(p.bin, "pg_upgrade")); err != nil {
		t.Skip("there is no pg_upgrade beside the server")
	}
	dir := p.primary.Dir()
	was, work := filepath.Join(dir, "data"), dir+".upgrade"
	next := startServer(t, work)
	require.NoError(t, next.Stop())
	t.Cleanup(func() { _ = os.RemoveAll(work) })
	cmd := exec.CommandContext(t.Context(), filepath.Join(p.bin, "pg_upgrade"), "--old-datadir="+was, "--new-datadir="+filepath.Join(work, "data"),
		"--old-bindir="+p.bin, "--new-bindir="+p.bin, "--username=postgres", "--socketdir="+work, "--link")
	cmd.Dir = work
	root := os.Geteuid() == 0
	if root { // it refuses root
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: nobody(t)}
		for _, path := range []string{work, was} {
			chown(t, path, cmd.SysProcAttr.Credential)
		}
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.RemoveAll(was))
	require.NoError(t, os.Rename(filepath.Join(work, "data"), was))
	owned(t, dir, was)
	require.NoError(t, os.RemoveAll(work))
	p.primary = startServer(t, dir)
}

// nobody is an account without rights.
func nobody(t *testing.T) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup("nobody")
	require.NoError(t, err)
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	require.NoError(t, err)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
}

// chown gives all files below a path to an account.
func chown(t *testing.T, path string, to *syscall.Credential) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(path, func(name string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(name, int(to.Uid), int(to.Gid)))
	}))
}

// dsn leads to that server of both that takes writes.
func (p *pair) dsn() string {
	dirs := []string{p.primary.Dir(), p.standby.Dir()}
	return "postgres:///postgres?sslmode=disable&user=postgres&host=" + strings.Join(dirs, ",") + "&port=5432,5432&target_session_attrs=read-write"
}

func (p *pair) exec(t *testing.T, on *devpg.Server, sql string) {
	t.Helper()
	c := testdb.Connect(t, on.DSN("postgres"))
	_, err := c.Exec(t.Context(), sql)
	require.NoError(t, err)
	_ = c.Close(t.Context())
}

func query[T any](t *testing.T, on *devpg.Server, sql string) T {
	t.Helper()
	c := testdb.Connect(t, on.DSN("postgres"))
	defer func() { _ = c.Close(t.Context()) }()
	return testdb.One[T](t, c, sql)
}

// unread are the usual accounts and a charging one without books: a hold of it takes a person.
func (r *rig) unread() string {
	return fmt.Sprintf(`PAYLATCH_ACCOUNTS=[{name: sandbox, kind: sandbox, base_url: %q, webhook_secrets: [%s], breaker: {failures: 0}},`+
		`{name: partner, kind: standard, webhook_secrets: [%s]}, {name: bank, kind: tbank, terminal_key: "1", webhook_secrets: [a-password-of-a-terminal]}]`,
		r.gate.URL, sandboxSecret, partnerSecret)
}

// pressAgain has the customers send each pay again. A charge that was not sent needs it, because a failover empties sealed_requests.
func (l *load) pressAgain(t *testing.T) {
	t.Helper()
	for key, whose := range l.pays {
		user, order, _ := strings.Cut(whose, " ")
		eventually(t, "an answer", func() bool {
			a := l.service.as(token(user, "customer")).pay(t.Context(), order, key, "tok_success")
			return a.err == nil && a.status < http.StatusInternalServerError
		})
	}
}

// pays waits until a new order is paid.
func (s *service) pays(t *testing.T) (took time.Duration) {
	t.Helper()
	began := time.Now()
	c := s.bluntly(token("waits", "customer"))
	eventually(t, "an order that is paid", func() bool {
		order := unique("o")
		if made := c.createOrder(t.Context(), order, unique("key")); made.status != http.StatusCreated {
			return false
		}
		return c.pay(t.Context(), order, unique("pay"), "tok_success").peek().Status == "succeeded"
	})
	return time.Since(began)
}

// chargedOnce requires that no order was charged twice, by the provider's books. It returns the charges by order.
func (r *rig) chargedOnce(t *testing.T) (of map[string]string) {
	t.Helper()
	of = map[string]string{}
	var cursor string
	for {
		a := client{base: r.sandbox}.send(t.Context(), http.MethodGet, "/v1/balance?limit=100&cursor="+url.QueryEscape(cursor), "")
		a.is(t, http.StatusOK)
		var page struct {
			Items []struct {
				Kind      string `json:"kind"`
				OrderID   string `json:"order_id"`
				Reference string `json:"reference"`
			} `json:"items"`
			NextCursor *string `json:"next_cursor"`
		}
		require.NoError(t, json.Unmarshal(a.text, &page), "%s", a.text)
		for _, e := range page.Items {
			require.Equal(t, "charge", e.Kind)
			require.NotEmpty(t, e.OrderID)
			require.Empty(t, of[e.OrderID], "order %s was charged for %s, too; %s; %s", e.OrderID, e.Reference, a.text, r.recorded(t, e.OrderID))
			of[e.OrderID] = e.Reference
		}
		if page.NextCursor == nil {
			break
		}
		cursor = *page.NextCursor
	}
	require.NotEmpty(t, of)
	return of
}

// recorded is everything that explains the state of an order after a failover.
func (r *rig) recorded(t *testing.T, order string) []string {
	t.Helper()
	return column[string](t, r, `
		SELECT row_to_json(a)::text FROM (SELECT attempt_id, origin, status, created_at, updated_at, user_id FROM payment_attempts WHERE order_id = $1) a
		UNION ALL SELECT row_to_json(o)::text FROM (SELECT order_id, user_id, created_at FROM orders WHERE order_id = $1) o
		UNION ALL SELECT row_to_json(d)::text FROM discrepancies d WHERE order_id = $1
		UNION ALL SELECT row_to_json(h)::text FROM pay_holds h
		UNION ALL SELECT row_to_json(n)::text FROM reconciliations n`, order)
}

// holds is how many accounts were ever held.
func (p *pair) holds(t *testing.T) int {
	t.Helper()
	return query[int](t, p.primary, "SELECT count(*)::int FROM pay_holds")
}

// TestFailoverThatLostNothing promotes a synchronous standby after a kill, or any standby after a clean end, or upgrades the server,
// under customers who pay.
// Pays go on although an account has no books, and nobody acts. A process that is killed meanwhile answers by its file when it is back.
func TestFailoverThatLostNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ synchronous, killed, upgraded bool }{
		"a synchronous standby":                   {synchronous: true},
		"a synchronous standby, a process killed": {synchronous: true, killed: true},
		"a planned switchover":                    {},
		"pg_upgrade":                              {upgraded: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			r := newRigOn(t, p.dsn())
			dirs := []string{"PAYLATCH_DATA_DIR=" + t.TempDir(), "PAYLATCH_DATA_DIR=" + t.TempDir()}
			services := []*service{r.serve(r.unread(), dirs[0]), r.serve(r.unread(), dirs[1])}
			var took []time.Duration
			var all []*load
			for range *promotions {
				if tc.synchronous {
					p.synchronous(t)
				}
				loads := []*load{newLoad(t, services[0]), newLoad(t, services[1])}
				all = append(all, loads...)
				for _, l := range loads {
					l.run(t, max(1, *clients/4))
				}
				eventually(t, "some load", func() bool { return loads[0].counts() > 20 && loads[1].counts() > 20 })
				if tc.synchronous {
					crash(t, p.primary)
				} else {
					require.NoError(t, p.primary.Stop())
				}
				if tc.killed {
					services[1].kill()
					loads[1].stop()
				}
				var former string
				if tc.upgraded {
					p.upgrade(t)
				} else {
					former = p.promote(t)
				}
				if tc.killed {
					services[1] = r.serve(r.unread(), dirs[1])
				}
				took = append(took, services[0].pays(t))
				services[1].pays(t)
				for _, l := range loads {
					l.stop()
				}
				require.Zero(t, p.holds(t))
				if !tc.upgraded {
					p.follow(t, former)
				}
			}
			services[0].says(t, lostNothing)
			t.Logf("pays went on after %v", took)
			r.db.Reset()
			for _, l := range all {
				l.service = services[0]
				l.pressAgain(t)
			}
			// A failover empties the sealed requests. So a charge whose call was interrupted is not sent again but looked up, until
			// its resend window of ten minutes ends: its attempt may be pending still.
			r.chargedOnce(t)
			r.verifies(t)
		})
	}
}

// compared records for an account without books that a person has compared it, as the manual has it.
func (r *rig) compared(t *testing.T, account string) {
	t.Helper()
	environ := append(settingsOfOne(), "PAYLATCH_DATABASE_URL="+r.dsn, ringOfTests, r.unread())
	p := start(t, t.TempDir(), environ, "reconcile", "--account", account, "--from", time.Now().AddDate(0, 0, -1).Format(time.DateOnly),
		"--to", time.Now().AddDate(0, 0, 2).Format(time.DateOnly), "--compared", "the dashboard has no payment of these days")
	within(t, "the end of reconcile", p.done)
	require.Zero(t, p.cmd.ProcessState.ExitCode(), p.stderr)
}

// owners returns the customers of the orders that they have paid so far, by order.
func (l *load) owners() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := map[string]string{}
	for _, whose := range l.pays {
		user, order, _ := strings.Cut(whose, " ")
		of[order] = user
	}
	return of
}

// payAnew has customers create and pay their orders anew, by new keys, until the service decides.
func (s *service) payAnew(t *testing.T, owners map[string]string) {
	t.Helper()
	var all sync.WaitGroup
	turns := make(chan struct{}, 8)
	decided := func(a answer) bool { return a.err == nil && a.status < http.StatusInternalServerError }
	for order, user := range owners {
		turns <- struct{}{}
		all.Go(func() {
			c := s.bluntly(token(user, "customer"))
			for t.Context().Err() == nil && !decided(c.createOrder(t.Context(), order, "anew-"+order)) {
				breathe(t.Context(), 100*time.Millisecond)
			}
			for t.Context().Err() == nil && !decided(c.pay(t.Context(), order, unique("pay"), "tok_success")) {
				breathe(t.Context(), 100*time.Millisecond)
			}
			<-turns
		})
	}
	all.Wait()
}

// TestFailoverThatLostCommits promotes an asynchronous standby that lacks the last pays of all clients. Pays are held until the books
// were compared, and a person has compared the account without books. Customers who then pay each order anew are not charged twice.
func TestFailoverThatLostCommits(t *testing.T) {
	t.Parallel()
	for round := range *promotions {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			r := newRigOn(t, p.dsn())
			services := []*service{r.serve(r.unread()), r.serve(r.unread())}
			loads := []*load{newLoad(t, services[0]), newLoad(t, services[1])}
			many := func(t *testing.T) {
				t.Helper()
				least := []int{loads[0].counts() + 20, loads[1].counts() + 20}
				eventually(t, "some load", func() bool { return loads[0].counts() > least[0] && loads[1].counts() > least[1] })
			}
			for _, l := range loads {
				l.pace = 100 * time.Millisecond
				l.run(t, max(1, *clients/4))
			}
			many(t)
			c := services[round%2].customer()
			order := c.order(t)
			p.cutOff(t)
			require.Equal(t, "succeeded", c.pay(t.Context(), order, unique("pay"), "tok_success").attempt(t, http.StatusCreated).Status)
			many(t)
			paid := query[int](t, p.primary, "SELECT count(*)::int FROM payment_attempts WHERE status = 'succeeded'")
			owners := []map[string]string{loads[0].owners(), loads[1].owners()}
			crash(t, p.primary)
			p.promote(t)
			lost := paid - query[int](t, p.primary, "SELECT count(*)::int FROM payment_attempts WHERE status = 'succeeded'")
			require.Positive(t, lost)
			if round%4 == 3 {
				services[round%2].kill() // its file is gone with it: the other can't tell
			}
			went := services[(round+1)%2]
			other := went.bluntly(token("u1", "customer"))
			var told answer
			eventually(t, "a hold", func() bool {
				told = other.pay(t.Context(), order, unique("pay"), "tok_success")
				require.NotEqual(t, "succeeded", told.peek().Status, "%s", told.text)
				return told.peekProblem().Code == "reconciliation-required"
			})
			eventually(t, "the hold in the database", func() bool { return p.holds(t) > 0 })
			require.Equal(t, "503 reconciliation-required", fmt.Sprint(told.status, " ", told.peekProblem().Code))
			for _, l := range loads {
				l.stop()
			}
			r.compared(t, "bank")
			for _, of := range owners {
				went.payAnew(t, of)
			}
			t.Logf("%d successes of %d were lost, and %d orders were paid anew", lost, paid, len(owners[0])+len(owners[1]))
			r.chargedOnce(t)
		})
	}
}
