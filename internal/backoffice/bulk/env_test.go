package bulk_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
)

// rooms are the use cases; during is called within each, before it ends.
type rooms struct {
	*commands.Commands
	*intake.Inbox

	during atomic.Pointer[func() error]
}

func (r *rooms) Replay(ctx context.Context, cmd intake.Replay) (intake.Replayed, error) {
	with := cmd.With
	cmd.With = func(ctx context.Context, tx intake.Tx, p intake.Replayed) error {
		if f := r.during.Load(); f != nil {
			if err := (*f)(); err != nil {
				return err
			}
		}
		return with(ctx, tx, p)
	}
	return r.Inbox.Replay(ctx, cmd)
}

func (r *rooms) Resolve(ctx context.Context, actor authz.Actor, cmd commands.Resolve) (payment.Discrepancy, error) {
	return r.Commands.Resolve(ctx, actor, cmd)
}

// env is the jobs and the use cases on a real database.
type env struct {
	*rooms

	bulk  *bulk.Service
	desk  *support.Service
	store *postgres.Store
	db    *pgxpool.Pool
}

var (
	shop = authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}
	sam  = staff("sam", payment.RoleSupport)
	ada  = staff("ada", payment.RoleAdmin)
)

func staff(name string, role payment.Role) support.Staff {
	return support.Staff{Actor: authz.Actor{Subject: name, Roles: []payment.Role{role}}, Address: "192.0.2.7", RequestID: "req-1"}
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := enginetest.New(t, engine.Options{
		Rules:          changeset.Rules{Accounts: current.Of(map[string]gateway.Account{"acc": {}}), Schedule: payment.Schedule{First: time.Hour, Lease: time.Minute}},
		DefaultAccount: "acc",
	})
	r := &rooms{Commands: e.Commands, Inbox: e.Inbox}
	desk := support.New(support.Options{Store: e.Store.Support(), Payments: deskOf{r, e.Runner}})
	return &env{rooms: r, bulk: bulk.New(payment.OnlyCell, e.Store.Jobs(), desk), desk: desk, store: e.Store, db: e.DB}
}

// deskOf has everything that the support side needs.
type deskOf struct {
	*rooms
	*runner.Runner
}

// runner is one process's.
func (r *env) runner(t *testing.T) *bulk.Runner {
	t.Helper()
	return bulk.NewRunner(bulk.RunnerOptions{
		Queue: r.store.Jobs().Queue(), Payments: r.rooms, Code: render.CodeOf,
		Log: func(j bulk.Job, id uuid.UUID, err error) { t.Logf("job %s, %s: %v", j.ID, id, err) },
	})
}

// through works until nothing is left, and returns the job.
func (r *env) through(t *testing.T, by *bulk.Runner, id uuid.UUID) bulk.Job {
	t.Helper()
	for more := true; more; {
		var err error
		more, err = by.Work(t.Context())
		require.NoError(t, err)
	}
	return r.job(t, id)
}

func (r *env) job(t *testing.T, id uuid.UUID) bulk.Job {
	t.Helper()
	j, err := r.store.Jobs().Job(t.Context(), id)
	require.NoError(t, err)
	return j
}

// attempts registers an attempt, and copies it, so that there are n of them with the names ch-1 to ch-n at the provider.
func (r *env) attempts(t *testing.T, n int) {
	t.Helper()
	request := func(endpoint string) idempotency.Request {
		return idempotency.Request{User: "u1", Endpoint: endpoint, Key: "key-of-the-first", Hash: [32]byte{1}, Refusal: func(err error) idempotency.Response {
			return idempotency.Response{Status: 409, Body: []byte(err.Error())}
		}}
	}
	_, _, err := r.CreateOrder(t.Context(), shop, request("orders"), commands.CreateOrder{OrderID: "A-0", Money: payment.Money{Minor: 1999, Currency: "EUR"}})
	require.NoError(t, err)
	_, err = r.Register(t.Context(), shop, request("attempts"), commands.External{OrderID: "A-0", Account: "acc", Capture: payment.CaptureAutomatic})
	require.NoError(t, err)
	require.NoError(t, pgx.BeginFunc(t.Context(), r.db, func(tx pgx.Tx) error {
		for _, table := range []string{"orders", "payment_attempts", "attempt_transitions", "operations", "attempt_references"} {
			if err := copyRows(t.Context(), tx, table, n); err != nil {
				return fmt.Errorf("copy %s: %w", table, err)
			}
		}
		return nil
	}))
}

// copyRows copies the rows of the first order, n times.
func copyRows(ctx context.Context, tx pgx.Tx, table string, n int) error {
	var columns string
	err := tx.QueryRow(ctx, "SELECT string_agg(column_name, ', ') FROM information_schema.columns WHERE table_name = $1 AND is_generated = 'NEVER'", table).Scan(&columns)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, fmt.Sprintf(`
		INSERT INTO %[1]s (%[2]s) SELECT %[2]s FROM (
			SELECT (jsonb_populate_record(c, to_jsonb(c) || jsonb_build_object('order_id', 'A-' || i, 'client_request_id', 'r-' || i)
				|| CASE WHEN to_jsonb(c) ? 'attempt_id' THEN jsonb_build_object('attempt_id', md5('a' || i)::uuid) ELSE '{}' END
				|| CASE WHEN to_jsonb(c) ? 'reference' THEN jsonb_build_object('reference', md5('a' || i)::uuid) ELSE '{}' END)).*
			FROM %[1]s c, generate_series(1, $1) i WHERE c.order_id = 'A-0') copies`, table, columns), n)
	return err
}

// named gives the attempts the names under which events were parked. Nothing else looks for these events: the job does.
func (r *env) named(t *testing.T) {
	t.Helper()
	_, err := r.db.Exec(t.Context(), `INSERT INTO attempt_references (account, reference, order_id, attempt_id)
		SELECT 'acc', 'ch-' || substr(order_id, 3), order_id, attempt_id FROM payment_attempts WHERE order_id <> 'A-0'`)
	require.NoError(t, err)
}

// parked adds n events of unknown payments.
func (r *env) parked(t *testing.T, n int) {
	t.Helper()
	const batch = 500
	for from := 1; from <= n; from += batch {
		var list []payment.ReceivedEvent
		for i := from; i < from+batch && i <= n; i++ {
			list = append(list, payment.ReceivedEvent{Account: "acc", Body: []byte(`{}`), At: time.Now(), Event: webhooks.Event{
				ID: fmt.Sprintf("evt_%d", i), IDSource: webhooks.Native, Type: "charge.succeeded", Kind: webhooks.KindSucceeded,
				References: []string{fmt.Sprintf("ch-%d", i)}, Money: &webhooks.Money{Minor: 1999, Currency: "EUR"},
			}})
		}
		verdicts, err := r.Intake(t.Context(), list)
		require.NoError(t, err)
		for _, v := range verdicts {
			require.Equal(t, payment.VerdictUnmatched, v)
		}
	}
}

func one[T any](t *testing.T, r *env, query string, args ...any) T {
	t.Helper()
	var v T
	require.NoError(t, r.db.QueryRow(t.Context(), query, args...).Scan(&v))
	return v
}

func rows(t *testing.T, r *env, query string, args ...any) []string {
	t.Helper()
	found, err := r.db.Query(t.Context(), query, args...)
	require.NoError(t, err)
	list, err := pgx.CollectRows(found, pgx.RowTo[string])
	require.NoError(t, err)
	return list
}

// acts is the audit log as "actor action outcome".
func (r *env) acts(t *testing.T) []string {
	t.Helper()
	return rows(t, r, "SELECT actor || ' ' || action || ' ' || outcome FROM staff_audit ORDER BY entry_id")
}

const reason = "the names came late, case 4711"

func unmatched() bulk.Order {
	return bulk.Order{Kind: bulk.Replay, Filter: bulk.Filter{Account: "acc", Verdict: "unmatched"}, Reason: reason}
}
