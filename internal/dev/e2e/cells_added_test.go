package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// cellOne is the setting of a second cell.
func cellOne(number int, dsn string, prefixes ...string) string {
	return fmt.Sprintf("PAYLATCH_CELLS=[{number: %d, database_url: %q, order_prefixes: [%s]}]", number, dsn, strings.Join(prefixes, ", "))
}

// migrates runs `paylatch migrate up`, and returns its exit code and its errors.
func (r *rig) migrates(environ ...string) (code int, stderr string) {
	r.t.Helper()
	p := start(r.t, r.t.TempDir(), append([]string{"PAYLATCH_DATABASE_URL=" + r.dsn}, environ...), "migrate", "up")
	within(r.t, "the end of migrate up", p.done)
	return p.cmd.ProcessState.ExitCode(), p.stderr.String()
}

// TestACellIsItself: each database knows its cell. Other databases are refused at the start and at SIGHUP.
func TestACellIsItself(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	second := testdb.New(t)
	s := r.serve(cellOne(1, second, "eu-"))
	main := "PAYLATCH_DATABASE_URL="
	for _, c := range []struct {
		environ []string
		is, of  int
	}{
		{[]string{main + second, cellOne(1, r.dsn, "eu-")}, 1, 0},
		{[]string{main + r.dsn, cellOne(1, r.dsn, "eu-")}, 0, 1},
		{[]string{main + r.dsn, cellOne(2, second, "eu-")}, 1, 2},
		{[]string{main + second}, 1, 0},
	} {
		printed := r.ends(c.environ...)
		require.Regexp(t, fmt.Sprintf("database of cell %d is the database of cell %d|has another map of cells", c.of, c.is), printed)
	}
	require.Contains(t, r.ends(main+second, cellOne(1, r.dsn, "eu-")), "configured database of cell 0 is the database of cell 1")
	require.Contains(t, r.ends(main+r.dsn, cellOne(1, r.dsn, "eu-")), "database of cell 1 is the database of cell 0")
	doctor := start(t, t.TempDir(), append(settingsOfOne(), main+second, cellOne(1, r.dsn, "eu-")), "doctor")
	within(t, "the end of the doctor", doctor.done)
	require.Contains(t, doctor.stdout.String(), "fatal  cell: database_url: the configured database of cell 0 is the database of cell 1")
	s.reconfigure(t, r.dsn, second)
	eventually(t, "the swapped databases are refused", func() bool {
		s.signal(syscall.SIGHUP) // again where a busy database did not respond in time: the cells are then compared at the next start
		return strings.Contains(s.stderr.String(), "configured database of cell 0 is the database of cell 1")
	})
	require.Contains(t, s.stderr.String(), notReadAgain)
	s.customer().createOrder(t.Context(), "eu-1", unique("create")).is(t, http.StatusCreated)
}

// TestACellIsAdded: a prefix that stored orders have is refused with an order and the ways out. While a map changes, a process with
// the older one creates no order that the newer one leads elsewhere.
func TestACellIsAdded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	second := testdb.New(t)
	old := r.serve()
	creates := func(s *service, order string, want int) {
		t.Helper()
		s.bluntly(token("u1", "customer")).createOrder(t.Context(), order, unique("create")).is(t, want)
	}
	creates(old, "eu-1", http.StatusCreated)
	main := "PAYLATCH_DATABASE_URL=" + r.dsn
	require.Contains(t, r.ends(main, cellOne(1, second, "eu-")), "run `paylatch migrate up`")
	code, printed := r.migrates(cellOne(1, second, "eu-"))
	require.Equal(t, 2, code, printed)
	require.Contains(t, printed, "order eu-1 is stored in cell 0, but the configuration assigns it to cell 1")
	require.Contains(t, printed, "give the new cell a prefix that no stored order has")
	creates(old, "eu-2", http.StatusCreated)

	added := cellOne(1, second, "eu2-")
	code, printed = r.migrates(added)
	require.Zero(t, code, printed)
	creates(old, "eu2-1", http.StatusServiceUnavailable)
	creates(old, "eu-3", http.StatusCreated)
	now := r.serve(added)
	creates(now, "eu2-1", http.StatusCreated)
	creates(now, "eu-4", http.StatusCreated)
	creates(old, "eu2-1", http.StatusServiceUnavailable)
	require.Equal(t, []string{"eu-1", "eu-2", "eu-3", "eu-4"}, column[string](t, r, "SELECT order_id FROM orders ORDER BY order_id"))
	require.Equal(t, 1, testdb.One[int](t, testdb.Connect(t, second), "SELECT count(*) FROM orders WHERE order_id = 'eu2-1'"))

	require.Contains(t, r.ends(main), "has another map of cells")
	code, printed = r.migrates()
	require.Equal(t, 2, code, printed)
	require.Contains(t, printed, "orders with the prefix eu2- are in cell 1, which the configuration lacks")
}

// tabs are customers who create and pay each order in two processes at once, until the test stops them.
type tabs struct {
	mu        sync.Mutex
	processes [2]*service
	// early begins every other order, if it is not empty.
	early string
	// paid counts successes by prefix.
	paid map[string]int

	all   sync.WaitGroup
	cease context.CancelFunc
}

func (u *tabs) run(t *testing.T, customers int) {
	t.Helper()
	ctx, cease := context.WithCancel(t.Context())
	u.cease = cease
	t.Cleanup(func() { u.stop() })
	for i := range customers {
		u.all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				u.mu.Lock()
				prefix := ""
				if n%2 == 1 {
					prefix = u.early
				}
				processes := u.processes
				u.mu.Unlock()
				order := prefix + unique("o")
				atOnce(2, func(tab int) answer { return u.pay(ctx, processes[tab], fmt.Sprint("customer-", i), order, prefix) })
				breathe(ctx, 10*time.Millisecond)
			}
		})
	}
}

// pay creates and pays an order in a process, with few repetitions: the process may know another map, or may have ended.
func (u *tabs) pay(ctx context.Context, s *service, user, order, prefix string) (a answer) {
	c, work := s.bluntly(token(user, "customer")), context.WithoutCancel(ctx)
	for range 5 {
		c.createOrder(work, order, "create-"+order)
		if a = c.pay(work, order, unique("pay"), "tok_success"); a.peek().Status == "succeeded" {
			u.mu.Lock()
			u.paid[prefix]++
			u.mu.Unlock()
			break
		}
		breathe(ctx, 20*time.Millisecond)
	}
	return a
}

func (u *tabs) stop() {
	u.cease()
	u.all.Wait()
}

// more waits until more orders with a prefix are paid.
func (u *tabs) more(t *testing.T, prefix string) {
	t.Helper()
	count := func() int {
		u.mu.Lock()
		defer u.mu.Unlock()
		return u.paid[prefix]
	}
	was := count()
	eventually(t, "more orders that are paid", func() bool { return count() > was+10 })
}

// TestACellIsAddedUnderLoad adds a cell by the steps of the manual, while customers pay in two processes at once, and use the new prefix
// before the processes know it. No order is in two cells, and no order is charged twice.
func TestACellIsAddedUnderLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	second := newRigOf(t, testdb.New(t), "sandbox-eu")
	charging := func(name string, cell int, r *rig) string {
		return fmt.Sprintf("{name: %s, cell: %d, kind: sandbox, base_url: %q, webhook_secrets: [%s], breaker: {failures: 0}}", name, cell, r.gate.URL, sandboxSecret)
	}
	added := []string{cellOne(1, second.dsn, "eu2-"), "PAYLATCH_ACCOUNTS=[" + charging("sandbox", 0, r) + ", " + charging("sandbox-eu", 1, second) + "]"}
	u := &tabs{processes: [2]*service{r.serve(), r.serve()}, paid: map[string]int{}}
	u.run(t, 4)
	u.more(t, "")

	code, printed := r.migrates(added...)
	require.Zero(t, code, printed)
	u.mu.Lock()
	u.early = "eu2-"
	u.mu.Unlock()
	u.more(t, "")
	for i, old := range u.processes {
		now := r.serve(added...)
		second.hooks.Lead(now.base)
		u.mu.Lock()
		u.processes[i] = now
		u.mu.Unlock()
		u.more(t, "eu2-")
		code, _ := old.stop(t, syscall.SIGTERM)
		require.Zero(t, code)
	}
	u.more(t, "")
	u.more(t, "eu2-")
	u.stop()

	const ids = "SELECT order_id FROM orders"
	for _, order := range column[string](t, r, ids) {
		require.False(t, strings.HasPrefix(order, "eu2-"), order)
	}
	for _, order := range column[string](t, second, ids) {
		require.True(t, strings.HasPrefix(order, "eu2-"), order)
	}
	ofFirst, ofSecond := r.chargedOnce(t), second.chargedOnce(t)
	for order := range ofFirst {
		require.NotContains(t, ofSecond, order, "charged in both cells")
	}
	t.Logf("%d and %d orders were charged", len(ofFirst), len(ofSecond))
	r.verifies(t)
	second.verifies(t)
}
