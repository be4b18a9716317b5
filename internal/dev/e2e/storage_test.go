package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/migrations"
)

// crash ends a PostgreSQL as a loss of power would, and waits until it is gone.
func crash(t *testing.T, pg *devpg.Server) {
	t.Helper()
	require.NoError(t, syscall.Kill(pg.Pid(), syscall.SIGKILL))
	within(t, "the end of PostgreSQL", pg.Done())
	_ = pg.Stop() // gives the directory back; that the server was killed is known
}

func revive(t *testing.T, pg *devpg.Server) *devpg.Server {
	t.Helper()
	again, err := devpg.Start(t.Context(), devpg.Config{Dir: pg.Dir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = again.Stop() })
	return again
}

// TestPostgresIsKilledUnderLoad: each caller sees a response or a 503, and acknowledged work is there afterwards.
func TestPostgresIsKilledUnderLoad(t *testing.T) {
	t.Parallel()
	pg := testdb.Private(t)
	r := newRigOn(t, pg.DSN("postgres"))
	s := r.serve()
	l := newLoad(t, s)
	l.run(t, 4)
	for range 2 {
		before := l.counts()
		eventually(t, "some load", func() bool { return l.counts() > before+100 })
		crash(t, pg)
		before = l.counts()
		eventually(t, "some refusals", func() bool { return l.counts() > before+20 })
		pg = revive(t, pg)
	}
	before := l.counts()
	eventually(t, "some load", func() bool { return l.counts() > before+100 })
	l.stop()

	// the pool's connections were cut, too
	r.db.Reset()
	l.kept(t, r)
}

// consistent waits until nothing is pending any more, and then requires that the
// database and the ledger say the same: one attempt for each intent, at most one
// charge for each order.
func (r *rig) consistent(t *testing.T) {
	t.Helper()
	eventually(t, "an end of every attempt", func() bool {
		var pending int
		err := r.db.QueryRow(t.Context(), `SELECT count(*) FROM payment_attempts WHERE status = 'pending'`).Scan(&pending)
		return err == nil && pending == 0
	})
	require.Empty(t, column[string](t, r, `SELECT order_id || client_request_id FROM payment_attempts GROUP BY order_id, client_request_id HAVING count(*) > 1`))
	orders := map[string]string{}
	for _, row := range column[string](t, r, `SELECT attempt_id || ' ' || order_id FROM payment_attempts WHERE status = 'succeeded'`) {
		id, order, _ := strings.Cut(row, " ")
		orders[id] = order
	}
	charged := map[string]int{}
	for _, m := range r.movements(t) {
		require.Contains(t, orders, m.Reference, "a charge without a success")
		charged[orders[m.Reference]]++
	}
	require.Len(t, charged, len(orders), "a success without a charge")
	for order, n := range charged {
		require.Equal(t, 1, n, order)
	}
}

// TestStorageDown: the service fails closed and at once, and does not call the provider.
func TestStorageDown(t *testing.T) {
	t.Parallel()
	pg := testdb.Private(t)
	r := newRigOn(t, pg.DSN("postgres"))
	s := r.serve()
	patient, c := s.customer(), s.bluntly(token("u1", "customer"))
	order, key := patient.order(t), unique("pay")
	a := patient.pay(t.Context(), order, key, "tok_success").attempt(t, http.StatusCreated)
	unpaid := patient.order(t)
	calls := r.gate.Count(charges)
	signer := stripeSigner(t)
	crash(t, pg)

	for name, send := range map[string]func() answer{
		"a new order": func() answer { return c.createOrder(t.Context(), unique("o"), unique("key")) },
		"a new pay":   func() answer { return c.pay(t.Context(), unpaid, "key-while-down", "tok_success") },
		"a replay":    func() answer { return c.pay(t.Context(), order, key, "tok_success") },
		"an attempt":  func() answer { return c.read(t.Context(), a.ID) },
		"a webhook": func() answer {
			return s.deliverOnce(t.Context(), "stripe-eu", signer, intentSucceeded("evt_down", "pi", a.ID, "1999"))
		},
		"many at once": func() answer {
			return atOnce(100, func(int) answer { return c.pay(t.Context(), unpaid, unique("pay"), "tok_success") })[99]
		},
		"the next time": func() answer { return c.pay(t.Context(), unpaid, "key-while-down", "tok_success") },
	} {
		const most = 8 * time.Second // by a transaction's own limit it would be 10 s
		took := time.Hour
		for begun := time.Now(); took >= most && time.Since(begun) < soon; { // the machine may be busy with something else
			began := time.Now()
			got := send()
			took = time.Since(began)
			p := got.problem(t, http.StatusServiceUnavailable, "storage-unavailable")
			require.True(t, *p.Retryable, name)
			require.NotEmpty(t, got.header.Get("Retry-After"), name)
			require.Empty(t, got.header.Get("Idempotency-Result"), name)
		}
		require.Less(t, took, most, name)
	}
	require.Equal(t, calls, r.gate.Count(charges), "the provider is not called")
	anyone := client{base: s.base, blunt: true}
	anyone.send(t.Context(), http.MethodGet, "/healthz", "").is(t, http.StatusOK)
	anyone.send(t.Context(), http.MethodGet, "/readyz", "").is(t, http.StatusServiceUnavailable)

	revive(t, pg)
	eventually(t, "ready again", func() bool { return anyone.send(t.Context(), http.MethodGet, "/readyz", "").status == http.StatusOK })
	paid := patient.pay(t.Context(), unpaid, "key-while-down", "tok_success")
	require.Equal(t, "succeeded", paid.attempt(t, http.StatusCreated).Status)
	require.Equal(t, "created", paid.header.Get("Idempotency-Result"))
	require.Equal(t, "ignored", s.deliver(t.Context(), signer, `{"id":"evt_down","type":"x"}`).header.Get("Webhook-Result"),
		"what was answered with 503 was not kept")
}

// TestReadOnlyIsNotReady: a database that reads and takes no write is no database to serve on.
func TestReadOnlyIsNotReady(t *testing.T) {
	t.Parallel()
	pg := testdb.Private(t)
	r := newRigOn(t, pg.DSN("postgres"))
	anyone := client{base: r.serve().base, blunt: true}
	for _, readOnly := range []bool{false, true, false} {
		for _, statement := range []string{
			fmt.Sprintf("ALTER SYSTEM SET default_transaction_read_only = %t", readOnly), "SELECT pg_reload_conf()",
		} {
			_, err := r.db.Exec(t.Context(), statement)
			require.NoError(t, err)
		}
		eventually(t, "what /readyz says", func() bool {
			got := anyone.send(t.Context(), http.MethodGet, "/readyz", "")
			return (got.status != http.StatusOK) == readOnly && strings.Contains(string(got.text), `"database":"failed"`) == readOnly
		})
		anyone.send(t.Context(), http.MethodGet, "/healthz", "").is(t, http.StatusOK)
	}
}

// TestServeStartsBeforeItsDatabase: a database that comes later is no reason to
// end, and nothing is answered before it is there, and migrated.
func TestServeStartsBeforeItsDatabase(t *testing.T) {
	t.Parallel()
	pg := testdb.Private(t)
	dsn := pg.DSN("postgres")
	newest := func(applied bool) {
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), `UPDATE goose_db_version SET is_applied = $1 WHERE version_id = $2`, applied, migrations.Required())
		require.NoError(t, errors.Join(err, conn.Close(t.Context())))
	}
	newest(false)
	crash(t, pg)
	r := &rig{t: t, dsn: dsn, hooks: newRelay(t)}
	s := r.serveAt("http://127.0.0.1:9")
	c, anyone := s.bluntly(token("u1", "customer")), client{base: s.base, blunt: true}
	hook := func() answer {
		return s.deliverOnce(t.Context(), "stripe-eu", stripeSigner(t), intentSucceeded("evt_early", "pi", uuid.NewString(), "1999"))
	}
	c.createOrder(t.Context(), "A-1", "key-00000001").problem(t, http.StatusServiceUnavailable, "storage-unavailable")
	revive(t, pg)
	eventually(t, "the database", func() bool {
		return strings.Contains(string(anyone.send(t.Context(), http.MethodGet, "/readyz", "").text), `"database":"ok","migrations":"failed"`)
	})
	c.createOrder(t.Context(), "A-1", "key-00000001").problem(t, http.StatusServiceUnavailable, "storage-unavailable")
	hook().problem(t, http.StatusServiceUnavailable, "storage-unavailable")
	newest(true)
	eventually(t, "the database", func() bool { return c.createOrder(t.Context(), "A-1", "key-00000001").status == http.StatusCreated })
	served(t.Context(), hook).is(t, http.StatusOK)
}

// TestStorageGoneBetweenTheCommits: the service waits a while for the storage with the provider's response. After that the retry
// and the reconciler find the result.
func TestStorageGoneBetweenTheCommits(t *testing.T) {
	t.Parallel()
	for _, back := range []string{"in time", "too late"} {
		t.Run(back, func(t *testing.T) {
			t.Parallel()
			pg := testdb.Private(t)
			r := newRigOn(t, pg.DSN("postgres"))
			r.hooks.shut()
			s := r.serve("PAYLATCH_PROVIDER_TIMEOUT=20m", "PAYLATCH_IDEMPOTENCY_LEASE=21m", "PAYLATCH_RECONCILE_EVERY=1h") // a start takes long
			u, free := held(t, r, client{base: s.base, token: token("u1", "customer"), blunt: back == "too late"})
			crash(t, pg)
			if back == "in time" {
				revive(t, pg)
				r.db.Reset()
				free()
				var first answer
				eventually(t, "the response", func() bool {
					select {
					case first = <-u.answer:
						return true
					default:
						r.leasesEnd(t) // the service may have no connection in time: the client sends the request again
						return false
					}
				})
				require.Equal(t, "succeeded", first.attempt(t, http.StatusCreated).Status)
			} else {
				free()
				(<-u.answer).problem(t, http.StatusServiceUnavailable, "storage-unavailable")
				revive(t, pg)
				r.db.Reset()
			}
			r.leasesEnd(t)
			a := s.customer().pay(t.Context(), u.order, u.key, "tok_success").attempt(t, http.StatusCreated)
			require.Equal(t, "succeeded", a.Status)
			r.charged(t, a.ID, 1999)
			r.told(t, a)
		})
	}
}
