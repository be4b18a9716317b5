package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

const (
	sandboxSecret = "whsec_c2FuZGJveHNhbmRib3hzYW5kYm94c2FuZGJveA=="
	partnerSecret = "whsec_cGFydG5lcnBhcnRuZXJwYXJ0bmVycGFydG5lcnBhcg=="
	stripeSecret  = "whsec_of_the_endpoint_at_stripe"
)

// settings are the settings of every service here; a test changes them by environment variables. A provider's call may take long on a busy
// machine. So the lease is long, and a test that kills a service in the middle of a call ends its leases by leasesEnd.
const settings = `
listen: 127.0.0.1:0
environment: test
database_url: %q
data_dir: %q
encryption_keys: [{id: e2e, key: ZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTI=}]
auth: {hs256_secret: %s}
default_account: sandbox
accounts:
  - {name: sandbox, kind: sandbox, base_url: %q, webhook_secrets: [%s], breaker: {failures: 0}}
  - {name: stripe-eu, kind: stripe, webhook_secrets: [whsec_one_that_is_rolled, %[6]s]}
  - {name: stripe-fenced, kind: stripe, webhook_secrets: [%[6]s], allowed_ips: [192.0.2.0/24]}
  - {name: partner, kind: standard, webhook_secrets: [%[7]s]}
idempotency: {wait: 60s, lease: 50s, quota: {new_keys: 100000, per: 1m}}
provider_timeout: 45s
shutdown_timeout: 5m
reconcile: {after: 500ms, every: 100ms}
`

// rig is a database and a sandbox provider, with everything between them and
// the services of the test in the test's hands.
type rig struct {
	t       *testing.T
	dsn     string
	db      *pgxpool.Pool
	sandbox string
	gate    *faults.HTTP
	hooks   *relay
}

func newRig(t *testing.T) *rig {
	t.Helper()
	if strings.HasPrefix(t.Name(), onCitus) {
		return newRigOn(t, testdb.Citus(t))
	}
	return newRigOn(t, testdb.New(t))
}

func newRigOn(t *testing.T, dsn string) *rig {
	t.Helper()
	return newRigOf(t, dsn, "sandbox")
}

// newRigOf is newRigOn with a sandbox that delivers to another account.
func newRigOf(t *testing.T, dsn, account string) *rig {
	t.Helper()
	r := &rig{t: t, dsn: dsn, hooks: newRelay(t)}
	db, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	r.db = db
	box := start(t, t.TempDir(), nil, "sandbox", "--listen", "127.0.0.1:0", "--state", filepath.Join(t.TempDir(), "state"),
		"--webhook-url", r.hooks.URL+"/webhooks/"+account, "--webhook-secret", sandboxSecret)
	r.sandbox = "http://" + box.says(t, "sandbox listens").Address
	r.gate = faults.NewHTTP(t, r.sandbox)
	return r
}

// service is a running `paylatch serve`.
type service struct {
	*process
	base string
}

// serve starts a service and sends the webhooks to it.
func (r *rig) serve(environ ...string) *service {
	r.t.Helper()
	return r.serveAt(r.gate.URL, environ...)
}

// serveAt is serve with another address of the provider.
func (r *rig) serveAt(provider string, environ ...string) *service {
	r.t.Helper()
	return r.serveOf(binary, provider, environ...)
}

// serveOf is serveAt with another binary.
func (r *rig) serveOf(program, provider string, environ ...string) *service {
	r.t.Helper()
	dir := r.t.TempDir()
	file := filepath.Join(dir, "paylatch.yaml")
	text := fmt.Sprintf(settings, r.dsn, dir, secret, provider, sandboxSecret, stripeSecret, partnerSecret)
	require.NoError(r.t, os.WriteFile(file, []byte(text), 0o600))
	p := startOf(r.t, program, dir, environ, "serve", "--config", file)
	s := &service{p, checked(r.t, "http://"+p.says(r.t, "serving").Listen)}
	r.hooks.Lead(s.base)
	return s
}

// serveRole is serve for a process of a role.
func (r *rig) serveRole(role string, environ ...string) *service {
	r.t.Helper()
	dir := r.t.TempDir()
	file := filepath.Join(dir, "paylatch.yaml")
	text := fmt.Sprintf(settings, r.dsn, dir, secret, r.gate.URL, sandboxSecret, stripeSecret, partnerSecret)
	require.NoError(r.t, os.WriteFile(file, []byte(text), 0o600))
	p := start(r.t, dir, environ, "serve", "--config", file, "--role", role)
	return &service{p, checked(r.t, "http://"+p.says(r.t, "serving").Listen)}
}

func (s *service) as(token string) client { return client{base: s.base, token: token} }

// bluntly is as, without the repetition of refused requests.
func (s *service) bluntly(token string) client {
	return client{base: s.base, token: token, blunt: true}
}

// customer is the user u1.
func (s *service) customer() client { return s.as(token("u1", "customer")) }

// movement is an entry of the sandbox's ledger.
type movement struct {
	Kind           string `json:"kind"`
	Reference      string `json:"reference"`
	IdempotencyKey string `json:"idempotency_key"`
	Amount         int64  `json:"amount"`
	Currency       string `json:"currency"`
}

// ledger returns the provider's movements of a payment attempt.
func (r *rig) ledger(t *testing.T, attempt string) []movement {
	t.Helper()
	var of []movement
	for _, m := range r.movements(t) {
		if m.Reference == attempt {
			of = append(of, m)
		}
	}
	return of
}

func (r *rig) movements(t *testing.T) []movement {
	t.Helper()
	a := client{base: r.sandbox}.send(t.Context(), http.MethodGet, "/v1/ledger", "")
	a.is(t, http.StatusOK)
	var all []movement
	require.NoError(t, json.Unmarshal(a.text, &all))
	return all
}

// charged requires that exactly one charge of an amount was made for an attempt.
func (r *rig) charged(t *testing.T, attempt string, amount int64) {
	t.Helper()
	of := r.ledger(t, attempt)
	require.Len(t, of, 1, "one charge")
	require.Equal(t, movement{Kind: "charge", Reference: attempt, IdempotencyKey: of[0].IdempotencyKey, Amount: amount, Currency: "EUR"}, of[0])
}

// leasesEnd ends the leases of runners that are dead.
func (r *rig) leasesEnd(t *testing.T) {
	t.Helper()
	for _, statement := range []string{
		`UPDATE operations SET lease_until = now(), next_at = least(next_at, now()) WHERE lease_until > now()`,
		`UPDATE idempotency_keys SET lease_until = now() WHERE NOT answered AND lease_until > now()`,
	} {
		_, err := r.db.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
}

// verifies runs paylatch verify.
func (r *rig) verifies(t *testing.T) {
	t.Helper()
	out, err := r.verify(t)
	require.NoError(t, err, "%s", out)
	require.Contains(t, out, "agree with their logs")
}

// verify runs paylatch verify, and again where a busy PostgreSQL took no connection in time.
func (r *rig) verify(t *testing.T) (string, error) {
	t.Helper()
	for began := time.Now(); ; {
		cmd := exec.CommandContext(t.Context(), binary, "verify")
		cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PAYLATCH_DATABASE_URL="+r.dsn+"&connect_timeout=15")
		out, err := cmd.CombinedOutput()
		if err == nil || !unreached(string(out)) || time.Since(began) > soon {
			return string(out), err
		}
	}
}

// served sends a request again while a busy PostgreSQL keeps the service from answering it. All other refusals count.
func served(ctx context.Context, send func() answer) answer {
	for began := time.Now(); ; breathe(ctx, pause) {
		a := send()
		if a.peekProblem().Code != "storage-unavailable" || time.Since(began) > soon {
			return a
		}
	}
}

// unreached reports whether a command that failed has printed that the database did not respond in time: it is run again then.
func unreached(printed string) bool { return strings.Contains(printed, "storage unavailable") }

// column reads the first column of a query.
func column[T any](t *testing.T, r *rig, query string, args ...any) []T {
	t.Helper()
	rows, err := r.db.Query(t.Context(), query, args...)
	require.NoError(t, err)
	values, err := pgx.CollectRows(rows, pgx.RowTo[T])
	require.NoError(t, err)
	return values
}

func one[T any](t *testing.T, r *rig, query string, args ...any) T {
	t.Helper()
	values := column[T](t, r, query, args...)
	require.Len(t, values, 1)
	return values[0]
}

// settled waits until an attempt is final and returns it.
func (c client) settled(t *testing.T, id string) attempt {
	t.Helper()
	var a answer
	eventually(t, "a final status", func() bool {
		a = c.read(t.Context(), id)
		return a.peek().Stage == "final"
	})
	return a.attempt(t, http.StatusOK)
}

// told requires that the log of an attempt has no gap, moves forward, and that one event reported its end.
func (r *rig) told(t *testing.T, a attempt) {
	t.Helper()
	versions := column[int](t, r, `SELECT version FROM attempt_transitions WHERE attempt_id = $1 ORDER BY version`, a.ID)
	for i, v := range versions {
		require.Equal(t, i+1, v)
	}
	require.GreaterOrEqual(t, len(versions), a.Version, "a late webhook may have added one since it was read")
	ends := column[string](t, r, `SELECT to_stage FROM attempt_transitions
		WHERE attempt_id = $1 AND to_stage IN ('succeeded', 'failed') AND from_stage <> to_stage`, a.ID)
	require.Equal(t, []string{a.Status}, ends)
	news := column[string](t, r, `SELECT type FROM outbox WHERE attempt_id = $1 AND type IN ('payment_attempt.succeeded', 'payment_attempt.failed')`, a.ID)
	require.Equal(t, []string{"payment_attempt." + a.Status}, news)
}
