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
		"operated":                operated,
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
	s.says(t, lostNothing)
	l.stop()
	l.kept(t, r)
	r.verifies(t)
	require.Zero(t, one[int](t, r, "SELECT count(*)::int FROM pay_holds"))
}

// operated pays an order, refunds a part of it, and runs the commands and the purges of an operator.
func operated(t *testing.T) { //nolint:thelper // it is a test
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	c := s.customer()
	a := c.settled(t, c.pay(t.Context(), c.order(t), unique("pay"), "tok_async_success").attempt(t, http.StatusCreated).ID)
	require.Equal(t, "succeeded", a.Status)
	eventually(t, "the webhook", func() bool { return len(r.hooks.acknowledged()) > 0 })
	c.refundFive(t.Context(), a.ID).is(t, http.StatusCreated)
	eventually(t, "the refund", func() bool {
		return one[int](t, r, "SELECT count(*)::int FROM refunds WHERE status = 'succeeded'") == 1
	})
	printed, _ := r.doctor(r.sandbox)
	for _, fine := range []string{"ok     database\n", "ok     migrations\n", "ok     cell\n", "ok     account sandbox\n"} {
		require.Contains(t, printed, fine)
	}
	r.verifies(t)

	_, err := r.db.Exec(t.Context(), `INSERT INTO attempt_log (order_id, entry_id, attempt_id, kind, what, at, until)
		VALUES ('old', gen_random_uuid(), '0198aaaa-0000-7000-8000-000000000001', 'press', 'pay', now() - interval '50 days', now() - interval '50 days')`)
	require.NoError(t, err)
	require.Equal(t, 1, one[int](t, r, "SELECT purge_attempt_log('40 days', gen_random_uuid(), 1000)::int"))
	for _, change := range []string{"ALTER TABLE %s DISABLE TRIGGER ALL", "UPDATE %s SET at = at - interval '50 days'", "ALTER TABLE %s ENABLE TRIGGER ALL"} {
		require.True(t, one[bool](t, r, "SELECT bool_and(success) FROM run_command_on_shards('staff_audit', $1::text)", change))
	}
	require.Positive(t, one[int](t, r, "SELECT purge_audit('40 days', gen_random_uuid(), 1000)::int"))
	require.Equal(t, []string{"audit.purge"}, column[string](t, r, "SELECT action FROM staff_audit"))
	require.NotContains(t, s.stderr.String(), `"level":"error"`)
}

// weakWorker turns synchronous_commit off where Citus keeps the cell, before and after the start of a service that takes real money.
func weakWorker(t *testing.T) {
	r := newRig(t)
	all := func(change, becomes string) {
		for _, command := range []string{"ALTER SYSTEM " + change, "SELECT pg_reload_conf()"} {
			require.True(t, one[bool](t, r, `SELECT bool_and(success) FROM run_command_on_workers($1::text)`, command), command)
		}
		eventually(t, "the setting", func() bool {
			return one[bool](t, r, `SELECT bool_and(result = $1::text) FROM run_command_on_workers('SHOW synchronous_commit')`, becomes)
		})
	}
	defer all("RESET synchronous_commit", "on")
	weak := "synchronous_commit of the worker " + one[string](t, r, `SELECT DISTINCT s.nodename || ':' || s.nodeport FROM citus_shards s
		JOIN pg_class c ON c.oid = s.table_name WHERE c.relnamespace = quote_ident(current_schema())::regnamespace`)
	all("SET synchronous_commit = off", "off")
	refuses(t, r.dsn, weak)
	examined := start(t, t.TempDir(), production(r.dsn), "doctor")
	within(t, "the end of the doctor", examined.done)
	require.Contains(t, examined.stdout.String(), weak+" is off")

	all("RESET synchronous_commit", "on")
	p := start(t, t.TempDir(), production(r.dsn), "serve")
	c := client{base: "http://" + p.says(t, "serving").Listen, blunt: true}
	c.send(t.Context(), http.MethodGet, "/readyz", "").is(t, http.StatusOK)
	all("SET synchronous_commit = off", "off")
	eventually(t, "a process that is not ready", func() bool {
		a := c.send(t.Context(), http.MethodGet, "/readyz", "")
		return a.status == http.StatusServiceUnavailable && strings.Contains(string(a.text), `"durability":"failed"`)
	})
	eventually(t, "the worker in the log", func() bool { return strings.Contains(p.stderr.String(), weak) })
}
