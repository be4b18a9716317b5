package main_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/postgres/envelope/envelopetest"
)

const (
	someAttempt = "01980d3e-7f2a-7000-9d2b-3f0e5a6b7c8d"
	someEvent   = "01980d3e-8c11-7d02-a1b5-0c9d8e7f6a5b"
)

// furnished is a database with a pending attempt, an event of it that was missed,
// and something for a person to look at.
func furnished(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	_, err = conn.Exec(t.Context(), strings.NewReplacer(":a", someAttempt, ":e", someEvent).Replace(`
		INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
			VALUES ('A-1', E'u\u202e1', 'r1', '\x01', 1999, 'EUR', now(), now());
		INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, created_at, updated_at)
			VALUES ('A-1', ':a', E'u\u202e1', 'r1', '\x01', 'acc', 'pending', 'requested', 1999, 'EUR', now(), now());
		INSERT INTO operations (order_id, attempt_id, kind, number, account, origin, state, sends, fence, next_at, created_at)
			VALUES ('A-1', ':a', 'charge', 0, 'acc', 'request', 'accepted', 1, 1, now(), now());
		INSERT INTO attempt_references VALUES ('acc', ':a', 'A-1', ':a');
		INSERT INTO attempt_transitions (order_id, attempt_id, version, from_stage, to_stage, cause, at) VALUES ('A-1', ':a', 1, 'requested', 'requested', 'pay', now());
		INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs, verdict, received_at)
			VALUES (':e', 'acc', 'evt_1', false, E'paid\x1b[31m', 'succeeded', '\x01',
				'{"id":"evt_1","kind":"succeeded","references":[":a"],"money":{"minor":1999,"currency":"EUR"}}', '{:a}', 'unmatched', now());
		INSERT INTO discrepancies (discrepancy_id, kind, order_id, attempt_id, amount, currency, text, opened_at)
			VALUES (':e', 'needs_review', 'A-1', ':a', 1999, 'EUR', 'Find out what became of it.', now() - interval '3 hours')`))
	require.NoError(t, err)
	store, err := postgres.Open(t.Context(), dsn)
	require.NoError(t, err)
	defer store.Close()
	store.SealWith(envelopetest.Box(t), time.Now)
	envelopetest.Put(t, conn, store.Keys(), uuid.MustParse(someEvent), `{"email":"a@b.example","amount":1999}`)
	return conn
}

// boxKeys are the encryption keys of envelopetest.Box.
var boxKeys = "PAYLATCH_ENCRYPTION_KEYS=[{id: k1, key: " + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k1", 16))) + "}]"

func TestSupportCommands(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	conn := furnished(t, dsn)
	environ := []string{"PAYLATCH_DATABASE_URL=" + dsn, boxKeys}
	says := func(want string, args ...string) string {
		t.Helper()
		code, stdout, stderr := run(t, environ, args...)
		require.Equal(t, 0, code, stderr)
		require.Contains(t, stdout, want)
		require.NotContains(t, stdout, "\u202e")
		require.NotContains(t, stdout, "\x1b")
		return stdout
	}
	says("The customer pressed Pay for €19.99.", "attempt", "show", someAttempt)
	says(`u\u{202e}1`, "attempt", "show", someAttempt)
	shown := says(`"email": "[hidden]"`, "event", "show", someEvent)
	require.Contains(t, shown, `paid\u{1b}[31m`)
	require.NotContains(t, shown, "a@b.example")
	listed := says("needs_review", "discrepancy", "list")
	require.Contains(t, listed, "Find out what became of it.", "what happened")
	require.Contains(t, listed, "Look the payment up in the provider's dashboard.", "and what to do")
	says("attempt "+someAttempt, "discrepancy", "list", "--kind", "needs_review")
	says("Nothing of the kind disputed is waiting for a person.", "discrepancy", "list", "--kind", "disputed")
	says("No discrepancy of the kind disputed.", "discrepancy", "list", "--kind", "disputed", "--all")

	says("changes from requested to succeeded", "event", "replay", someEvent, "--dry-run", "--reason", "case 4711")
	for _, want := range []string{"changes from requested to succeeded", "does not change"} {
		says(want, "event", "replay", someEvent, "--reason", "case 4711")
	}
	says("The payment of €19.99 for order A-1 succeeded", "attempt", "show", someAttempt)

	me, err := user.Current()
	require.NoError(t, err)
	rows, err := conn.Query(t.Context(), "SELECT DISTINCT actor FROM staff_audit")
	require.NoError(t, err)
	actors, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{"cli:" + me.Username}, actors)
	var done int
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM staff_audit WHERE action = 'event.replay' AND reason = 'case 4711' AND outcome = 'done'").Scan(&done))
	require.Equal(t, 2, done)
}

func TestDiscrepancyList(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	environ := []string{"PAYLATCH_DATABASE_URL=" + dsn}
	list := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := run(t, environ, append([]string{"discrepancy", "list"}, args...)...)
		require.Equal(t, 0, code, stderr)
		return stdout
	}
	require.Equal(t, "Nothing is waiting for a person.\n", list())
	require.Equal(t, "No discrepancy.\n", list("--all"))
	_, err := furnished(t, dsn).Exec(t.Context(), `
		INSERT INTO discrepancies (discrepancy_id, kind, order_id, attempt_id, text, opened_at, resolved_at, resolved_by, resolution, reason)
			SELECT gen_random_uuid(), 'disputed', order_id, attempt_id, 'The cardholder disputes it.', now() - interval '1 hour', now(), 'ann', 'accepted', 'r'
			FROM payment_attempts`)
	require.NoError(t, err)
	require.NotContains(t, list(), "disputed")

	first := list("--all", "--limit", "1")
	require.Contains(t, first, "resolved as accepted")
	require.NotContains(t, first, "Respond to the provider before its deadline", "it is done")
	_, cursor, more := strings.Cut(first, "More discrepancies: --cursor ")
	require.True(t, more, first)
	rest := list("--all", "--limit", "1", "--cursor", strings.TrimSpace(cursor))
	require.Regexp(t, `(?m)^\S+ \S+ +3h0m\d+s +open +needs_review`, rest)
	require.NotContains(t, rest, "There are more")
}

func TestSupportCommandsJSON(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	furnished(t, dsn)
	for _, args := range [][]string{
		{"attempt", "show", someAttempt, "--json"},
		{"event", "show", someEvent, "--json"},
		{"event", "replay", someEvent, "--reason", "r", "--dry-run", "--json"},
		{"discrepancy", "list", "--all", "--json"},
	} {
		code, stdout, stderr := run(t, []string{"PAYLATCH_DATABASE_URL=" + dsn}, args...)
		require.Equal(t, 0, code, stderr)
		var v map[string]any
		require.NoError(t, json.Unmarshal([]byte(stdout), &v))
		require.NotEmpty(t, v)
	}
}

// A final attempt is looked up, too, and the timeline has the lookup, although another process made it.
func TestAttemptRecheck(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	furnished(t, dsn)
	var lookups atomic.Int32
	box := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const charge = `{"id":"ch_1","reference":"` + someAttempt + `","status":"succeeded","amount":1999,"amount_captured":1999,"currency":"EUR"}`
		lookups.Add(1)
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/charges" {
			_, _ = w.Write([]byte(`{"items":[` + charge + `]}`))
			return
		}
		_, _ = w.Write([]byte(charge))
	}))
	defer box.Close()
	file := filepath.Join(t.TempDir(), "paylatch.yaml")
	require.NoError(t, os.WriteFile(file, []byte("environment: test\naccounts: [{name: acc, kind: sandbox, base_url: "+box.URL+", webhook_secrets: [whsec_c2VjcmV0IG9mIDI0IGJ5dGVzIGF0IGxlYXN0]}]\ndefault_account: acc\n"), 0o600))
	environ := []string{"PAYLATCH_DATABASE_URL=" + dsn}
	for n := range int32(2) {
		code, stdout, stderr := run(t, environ, "attempt", "recheck", someAttempt, "--reason", "case 4711", "--config", file)
		require.Equal(t, 0, code, stderr)
		require.Equal(t, "Attempt "+someAttempt+" of order A-1 is now succeeded.\n", stdout)
		require.Equal(t, n+1, lookups.Load())
		_, stdout, _ = run(t, environ, "attempt", "show", someAttempt)
		require.EqualValues(t, n+1, strings.Count(stdout, "paylatch asked the provider for the status of the payment"), stdout)
	}
}

func TestSupportCommandsRefused(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no id":                 {[]string{"attempt", "show"}, 2, "<id>"},
		"not an id":             {[]string{"attempt", "show", "x"}, 2, "payment attempt not found"},
		"no such attempt":       {[]string{"attempt", "show", someAttempt}, 1, "payment attempt not found"},
		"no such event":         {[]string{"event", "show", someEvent}, 1, "event not found"},
		"no event to replay":    {[]string{"event", "replay", someEvent, "--reason", "r"}, 1, "event not found"},
		"no reason":             {[]string{"event", "replay", someEvent}, 2, "--reason"},
		"blank reason":          {[]string{"event", "replay", someEvent, "--reason", " "}, 2, "give a reason"},
		"no such recheck":       {[]string{"attempt", "recheck", someAttempt, "--reason", "r"}, 1, "payment attempt not found"},
		"recheck of no id":      {[]string{"attempt", "recheck", "x", "--reason", "r"}, 2, "payment attempt not found"},
		"recheck for no reason": {[]string{"attempt", "recheck", someAttempt}, 2, "--reason"},
		"no such kind":          {[]string{"discrepancy", "list", "--kind", "lost"}, 2, "kind: must be one of amount_mismatch, "},
		"no such cursor":        {[]string{"discrepancy", "list", "--cursor", "x"}, 2, "cursor"},
		"no such limit":         {[]string{"discrepancy", "list", "--limit", "0"}, 2, "limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, []string{"PAYLATCH_DATABASE_URL=" + dsn}, c.args...)
			require.Equal(t, c.code, code, stderr)
			require.Empty(t, stdout)
			require.Contains(t, stderr, c.says)
		})
	}
}
