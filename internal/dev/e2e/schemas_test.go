package e2e_test

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// onCitus begins the names of the tests whose rigs are on Citus.
const onCitus = "TestOnCitus/"

// TestOnCitus runs flows, races and deaths in a schema that Citus keeps on one of its workers.
func TestOnCitus(t *testing.T) { //nolint:tparallel // the last case changes the settings of the workers
	t.Parallel()
	_ = testdb.CitusURL(t)
	_ = testdb.Citus(t)
	t.Run("a worker that may lose commits", weakWorker)
	for name, test := range map[string]func(*testing.T){ //nolint:paralleltest // each is parallel by itself
		"a customer is erased":    TestErase,
		"commands pressed twice":  TestCommandsPressedTwice,
		"killed during a command": TestKilledDuringACommand,
		"killed during a pay":     TestKilledDuringAPay,
		"everybody at once":       TestEverybodyAtOnceAfterACrash,
		"moved under load":        movedUnderLoad,
		"replicas":                TestReplicas,
		"support":                 TestSupportSeesWhatHappened,
		"the same event at once":  TestTheSameEventAtOnce,
		"the same key at once":    TestTheSameKeyAtOnce,
		"the same order at once":  TestTheSameOrderAtOnce,
		"three successes at once": TestThreeSuccessesAtOnce,
		"two refunds of too much": TestTwoRefundsOfTooMuch,
		"two tabs":                TestTwoTabs,
		"verdicts":                TestVerdicts,
	} {
		t.Run(name, test)
	}
}

// TestSchemasOfOneDatabase runs a service in each of two schemas of one database, beside a third schema. Each service has only
// its own rows.
func TestSchemasOfOneDatabase(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	public := newRigOn(t, dsn)
	rigs := []*rig{newRigOn(t, testdb.Schema(t, dsn, "Cell 1")), newRigOn(t, testdb.Schema(t, dsn, "cell_2"))}
	services := []*service{rigs[0].serve(), rigs[1].serve()}
	ids := make([]string, len(rigs))
	for i, s := range services {
		c := s.customer()
		const order, key = "A-1", "the-same-key-in-both"
		c.createOrder(t.Context(), order, "create-the-same-order").is(t, http.StatusCreated)
		a := c.pay(t.Context(), order, key, "tok_async_success")
		require.Equal(t, "created", a.header.Get("Idempotency-Result"))
		ids[i] = a.attempt(t, http.StatusCreated).ID
		end := c.settled(t, ids[i])
		require.Equal(t, "succeeded", end.Status)
		eventually(t, "the webhook", func() bool { return len(rigs[i].hooks.acknowledged()) > 0 })
		rigs[i].charged(t, ids[i], 1999)
		rigs[i].told(t, end)
	}
	for i, s := range services {
		s.customer().read(t.Context(), ids[1-i]).problem(t, http.StatusForbidden, "forbidden")
		require.Equal(t, []string{ids[i]}, column[string](t, rigs[i], `SELECT attempt_id::text FROM payment_attempts`))
		rigs[i].verifies(t)
		rigs[i].consistent(t)
	}
	for _, table := range column[string](t, public, `SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
		AND relname NOT IN ('goose_db_version', 'hourly_progress', 'outbox_head', 'search_cursors', 'service_marks', 'worklist_turns')`) {
		require.Zero(t, one[int](t, public, "SELECT count(*) FROM public."+table), table)
	}
	require.NotContains(t, services[0].stderr.String(), `"level":"error"`)
}

// movedUnderLoad makes Citus move the cell to another worker while it serves, with the commands of an operator.
func movedUnderLoad(t *testing.T) { //nolint:thelper // it is a test
	t.Parallel()
	psql, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("there is no psql on this machine (Debian: apt-get install postgresql-client)")
	}
	r := newRig(t)
	const where = `SELECT DISTINCT s.nodename || ' ' || s.nodeport FROM citus_shards s JOIN pg_class c ON c.oid = s.table_name
		WHERE c.relnamespace = quote_ident(current_schema())::regnamespace`
	was := one[string](t, r, where)
	others := column[string](t, r, `SELECT nodename || ' ' || nodeport FROM pg_dist_node
		WHERE isactive AND shouldhaveshards AND noderole = 'primary' AND nodename || ' ' || nodeport <> $1`, was)
	if len(others) == 0 {
		t.Skip("this Citus has one worker: there is nowhere to move to")
	}
	s := r.serve()
	l := newLoad(t, s)
	l.run(t, 2)
	eventually(t, "some load", func() bool { return l.counts() > 20 })
	host, port, _ := strings.Cut(others[0], " ")
	out, err := exec.CommandContext(t.Context(), psql, "--no-psqlrc", "--quiet", "-v", "cell="+one[string](t, r, "SELECT current_schema()::text"),
		"-v", "host="+host, "-v", "port="+port, "-f", "../../../deploy/citus/move.sql", testdb.CitusURL(t)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, others[0], one[string](t, r, where))
	moved := l.counts()
	eventually(t, "some load afterwards", func() bool { return l.counts() > moved+20 })
	s.says(t, "the database server that has taken over lost nothing: each process has found its last commits, and payments continue")
	l.stop()
	l.kept(t, r)
	r.verifies(t)
	require.Zero(t, one[int](t, r, "SELECT count(*)::int FROM pay_holds"))
}

// weakWorker turns synchronous_commit off where Citus keeps the cell, before and after the start of a service that takes real money.
func weakWorker(t *testing.T) {
	r := newRig(t)
	all := func(change string) {
		require.Positive(t, one[int](t, r, `SELECT count(*)::int FROM run_command_on_workers(format('ALTER DATABASE %I `+change+`', current_database())) WHERE success`))
	}
	defer all("RESET synchronous_commit")
	weak := "synchronous_commit of the worker " + one[string](t, r, `SELECT DISTINCT s.nodename || ':' || s.nodeport FROM citus_shards s
		JOIN pg_class c ON c.oid = s.table_name WHERE c.relnamespace = quote_ident(current_schema())::regnamespace`)
	all("SET synchronous_commit = off")
	refuses(t, r.dsn, weak)
	examined := start(t, t.TempDir(), production(r.dsn), "doctor")
	within(t, "the end of the doctor", examined.done)
	require.Contains(t, examined.stdout.String(), weak+" is off")

	all("RESET synchronous_commit")
	p := start(t, t.TempDir(), production(r.dsn), "serve")
	c := client{base: "http://" + p.says(t, "serving").Listen, blunt: true}
	c.send(t.Context(), http.MethodGet, "/readyz", "").is(t, http.StatusOK)
	all("SET synchronous_commit = off")
	eventually(t, "a process that is not ready", func() bool {
		a := c.send(t.Context(), http.MethodGet, "/readyz", "")
		return a.status == http.StatusServiceUnavailable && strings.Contains(string(a.text), `"durability":"failed"`)
	})
	eventually(t, "the worker in the log", func() bool { return strings.Contains(p.stderr.String(), weak) })
}
