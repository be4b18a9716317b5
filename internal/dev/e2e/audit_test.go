package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// tool runs a command to its end.
func tool(t *testing.T, dsn string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return toolWith(t, []string{"PAYLATCH_DATABASE_URL=" + dsn}, args...)
}

// toolWith is tool with other settings.
func toolWith(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	eventually(t, "a response of the database", func() bool {
		p := start(t, t.TempDir(), environ, args...)
		within(t, "the end of "+strings.Join(args, " "), p.done)
		code, stdout, stderr = p.cmd.ProcessState.ExitCode(), p.stdout.String(), p.stderr.String()
		return code == 0 || !unreached(stderr)
	})
	return code, stdout, stderr
}

// servingRole makes a login role, grants it the serving privileges, and returns the database's address for it.
func (r *rig) servingRole(t *testing.T) string {
	t.Helper()
	role := strings.ReplaceAll(unique("serving"), "-", "_")
	r.exec(t, "CREATE ROLE "+role+" LOGIN PASSWORD 'of-a-test'")
	t.Cleanup(func() { r.drop(role) })
	code, stdout, stderr := tool(t, r.dsn, "migrate", "grants", "--to", role)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "GRANT SELECT, INSERT ON")
	u, err := url.Parse(r.dsn)
	require.NoError(t, err)
	u.User = url.UserPassword(role, "of-a-test")
	return u.String()
}

func (r *rig) exec(t *testing.T, statement string) {
	t.Helper()
	_, err := r.db.Exec(t.Context(), statement)
	require.NoError(t, err, statement)
}

// The whole service works with the grants of the serving role, which can't change written entries. A change by the owner of the
// tables is found.
func TestAuditCantBeEmptied(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	serving := r.servingRole(t)
	o := newOrganisationOn(t, r, "PAYLATCH_DATABASE_URL="+serving)
	r.busyDay(t, o)
	require.NotContains(t, o.stderr.String(), "permission denied")
	require.Empty(t, o.stderr.failures())
	require.NotContains(t, o.stderr.String(), "may change the audit log")

	conn, err := pgx.Connect(t.Context(), serving)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	for _, table := range []string{"staff_audit", "attempt_log", "attempt_transitions", "money_movements"} {
		entries := one[int](t, r, "SELECT count(*) FROM "+table)
		if table != "money_movements" { // the day has no chargeback
			require.Positive(t, entries, table)
		}
		for _, attack := range []string{
			"DELETE FROM " + table, "TRUNCATE " + table + " CASCADE", "UPDATE " + table + " SET at = now()", "DROP TABLE " + table,
			"ALTER TABLE " + table + " DISABLE TRIGGER ALL", "DROP TRIGGER " + table + "_append_only ON " + table,
			"ALTER TABLE " + table + " OWNER TO current_user", "SET session_replication_role = replica; DELETE FROM " + table,
			"CREATE RULE nothing AS ON INSERT TO " + table + " DO INSTEAD NOTHING",
			"CREATE TRIGGER mine BEFORE INSERT ON " + table + " FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
		} {
			_, err := conn.Exec(t.Context(), attack)
			var refused *pgconn.PgError
			require.ErrorAs(t, err, &refused, attack)
			require.Equal(t, "42501", refused.Code, attack)
		}
		require.Equal(t, entries, one[int](t, r, "SELECT count(*) FROM "+table), table)
	}
	for _, attack := range []string{
		"CREATE OR REPLACE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'",
		"DROP FUNCTION append_only() CASCADE", "SET ROLE postgres", "CREATE TABLE mine ()", "DELETE FROM goose_db_version",
	} {
		_, err := conn.Exec(t.Context(), attack)
		require.ErrorContains(t, err, "ERROR", attack)
	}

	code, stdout, stderr := tool(t, serving, "verify")
	require.Zero(t, code, stderr)
	require.Regexp(t, `(?m)^[0-9]+ entries of the audit log are chained, the last has the hash [0-9a-f]{64}$`, stdout)
	for name, tamper := range map[string]string{
		"changed": "UPDATE staff_audit SET actor = 'somebody else' WHERE position = 3",
		"removed": "DELETE FROM staff_audit WHERE position = 3",
		"emptied": "DELETE FROM staff_audit WHERE position < (SELECT max(position) FROM staff_audit)",
	} {
		r.exec(t, "CREATE TABLE kept AS SELECT * FROM staff_audit")
		r.exec(t, "ALTER TABLE staff_audit DISABLE TRIGGER ALL; "+tamper)
		code, stdout, stderr = tool(t, serving, "verify", "--json")
		require.Equal(t, 1, code, name)
		require.Contains(t, stderr, "the audit log is broken at entry", name)
		var said struct {
			Audit struct {
				Broken struct {
					Position int64 `json:"position"`
				} `json:"broken"`
			} `json:"audit"`
		}
		require.NoError(t, json.Unmarshal([]byte(stdout), &said))
		require.Equal(t, map[string]int64{"changed": 3, "removed": 3, "emptied": 1}[name], said.Audit.Broken.Position, name)
		r.exec(t, "DELETE FROM staff_audit; INSERT INTO staff_audit SELECT * FROM kept; DROP TABLE kept; ALTER TABLE staff_audit ENABLE TRIGGER ALL")
	}
}

// busyDay calls a service in all the ways in which its callers do.
func (r *rig) busyDay(t *testing.T, o *organisation) {
	t.Helper()
	for _, c := range commands() {
		a, press := c.on(t, o.service)
		press(o.service).is(t, c.answers)
		c.done(t, r, o.service, a)
	}
	u, support := o.customer(), o.as(token("sam", "support"))
	for _, paid := range []string{"tok_twice", "tok_disorder", "tok_async_decline", "tok_webhook_first", "tok_hang_charged", "tok_late_success"} {
		order, key := u.order(t), unique("pay")
		if paid == "tok_late_success" {
			r.hooks.shut() // on a busy machine the success would be there before the failure
		}
		first := u.pay(t.Context(), order, key, paid).attempt(t, http.StatusCreated)
		r.hooks.Mend()
		u.pay(t.Context(), order, key, paid).is(t, http.StatusCreated)
		a := u.settled(t, first.ID)
		u.send(t.Context(), http.MethodGet, "/v1/payment-attempts/"+a.ID+"?wait=1", "", "If-None-Match: \"1\"").is(t, http.StatusOK)
		support.send(t.Context(), http.MethodGet, "/v1/support/attempts/"+a.ID, "").is(t, http.StatusOK)
		support.send(t.Context(), http.MethodPost, "/v1/support/attempts/"+a.ID+"/recheck", `{"reason":"case 1"}`).is(t, http.StatusOK)
	}
	u.send(t.Context(), http.MethodPost, "/v1/orders/"+u.order(t)+"/cancel", "", "Idempotency-Key: "+unique("cancel")).is(t, http.StatusOK)
	eventually(t, "a discrepancy", func() bool { return len(column[string](t, r, "SELECT kind FROM discrepancies")) > 0 })
	id := column[string](t, r, "SELECT discrepancy_id::text FROM discrepancies")[0]
	support.send(t.Context(), http.MethodPost, "/v1/support/discrepancies/"+id+"/resolve", `{"reason":"case 2","resolution":"accepted"}`).is(t, http.StatusOK)
	event := column[string](t, r, "SELECT event_id::text FROM provider_events LIMIT 1")[0]
	support.send(t.Context(), http.MethodPost, "/v1/support/events/"+event+"/replay", `{"reason":"case 3"}`).is(t, http.StatusOK)
	support.send(t.Context(), http.MethodPost, "/v1/support/events/"+event+"/reveal", `{"reason":"case 4"}`).is(t, http.StatusOK)

	o.QueueUser(roles("admin"))
	p := o.browser(t)
	p.get(o.begun(p, "/support", func(url.Values) {}).RequestURI()).is(t, http.StatusSeeOther)
	p.get("/support/audit").is(t, http.StatusOK)
	p.get("/support/discrepancies").is(t, http.StatusOK)
	p.post("/support/sign-out").is(t, http.StatusSeeOther)
	// Counters of rare events begin at 0: an increase needs a value before the event.
	before := string(o.as("").send(t.Context(), http.MethodGet, "/metrics", "").text)
	for _, series := range []string{
		`paylatch_access_refused_total{action="token.refused"}`, `paylatch_discrepancies_opened_total{kind="currency_mismatch"}`,
		`paylatch_idempotency_requests_total{operation="pay",result="takeover"}`, `paylatch_webhooks_refused_total{account="sandbox",code="webhook-signature-invalid"}`,
	} {
		require.Contains(t, before, "\n"+series+" 0\n")
	}
	o.as("nonsense").send(t.Context(), http.MethodGet, "/v1/orders/A-1", "").is(t, http.StatusUnauthorized)
	eventually(t, "the refusal in the audit log", func() bool {
		return len(column[string](t, r, "SELECT action FROM staff_audit WHERE action = 'token.refused'")) > 0
	})
	require.Regexp(t, `paylatch_access_refused_total\{action="token\.refused"\} [1-9]`, string(o.as("").send(t.Context(), http.MethodGet, "/metrics", "").text))
	o.ready(t)
}

// drop removes a role with its grants.
func (r *rig) drop(role string) {
	db, err := pgx.Connect(context.Background(), r.dsn)
	if err != nil {
		return
	}
	defer func() { _ = db.Close(context.Background()) }()
	_, _ = db.Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role)
}
