package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

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
