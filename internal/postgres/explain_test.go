package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// TestHotQueriesUseTheirIndexes checks the plans of the statements of each pay, each webhook and each tick, on tables of
// 10,000 rows: as planned for the given values, and as planned for any values.
func TestHotQueriesUseTheirIndexes(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	fill(t, testdb.Connect(t, url))
	q, id := dbsqlc.New(), uuid.MustParse(attemptID(5000))
	many := func(format string) []string {
		var names []string
		for i := range 64 {
			names = append(names, fmt.Sprintf(format, 100*i))
		}
		return names
	}
	accounts := strings.Split(strings.Repeat("acc ", 63)+"acc", " ")
	for name, c := range map[string]struct {
		index string
		ask   func(ctx context.Context, db dbsqlc.DBTX) error
	}{
		"the attempt of a request, with its charge": {"attempts_one_per_request operations_one_per_number disputes_by_attempt", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.AttemptsByRequest(ctx, db, &dbsqlc.AttemptsByRequestParams{OrderIds: []string{"o5000"}, UserIds: []string{"u1"}, ClientRequestIds: []string{"r5000"}})
			return err
		}},
		"the disputes of an attempt": {"disputes_by_attempt", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.DisputesOfAttempts(ctx, db, []uuid.UUID{id})
			return err
		}},
		"disputes by their names": {"disputes_one_per_provider_id", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.DisputesNamed(ctx, db, &dbsqlc.DisputesNamedParams{Accounts: []string{"acc"}, ProviderDisputeIds: []string{"dp-5000"}})
			return err
		}},
		"an attempt": {"attempts_by_id disputes_by_attempt", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.AttemptRead(ctx, db, id)
			return err
		}},
		"the next final attempts": {"attempts_by_id", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.FinalAttempts(ctx, db, &dbsqlc.FinalAttemptsParams{Account: "acc", After: id, Until: uuid.Max, Scan: 100, Most: 20})
			return err
		}},
		"attempts that are waited for": {"attempts_by_id", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.AttemptsMoved(ctx, db, &dbsqlc.AttemptsMovedParams{AttemptIds: []uuid.UUID{id}, Versions: []int32{1}})
			return err
		}},
		"attempts that have changed": {"attempts_by_id", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.AttemptsRead(ctx, db, []uuid.UUID{id})
			return err
		}},
		"an attempt to lock": {"attempts_by_id", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.AttemptLock(ctx, db, id)
			return err
		}},
		"free attempts to lock": {"attempts_by_id", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.AttemptsLockFree(ctx, db, []uuid.UUID{id})
			return err
		}},
		"the attempts of an order": {"payment_attempts_pkey", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.AttemptsOfOrderLock(ctx, db, "o5000")
			return err
		}},
		"the live attempts of orders": {"attempts_one_live_per_order", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.AttemptsLiveLockFree(ctx, db, []string{"o5000"})
			return err
		}},
		"the order of an attempt": {"orders_pkey attempts_by_id", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OrderBeside(ctx, db, id)
			return err
		}},
		"the attempts beside an attempt": {"payment_attempts_pkey attempts_by_id", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.AttemptsBeside(ctx, db, id)
			return err
		}},
		"operations of attempts": {"operations_one_per_number", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OperationsOfAttempts(ctx, db, []uuid.UUID{id})
			return err
		}},
		"operations by reference": {"operations_one_per_number references_one_attempt", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OperationsNamed(ctx, db, &dbsqlc.OperationsNamedParams{Accounts: accounts, Refs: many("pp-%d")})
			return err
		}},
		"operations of orders": {"operations_one_per_number payment_attempts_pkey", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OperationsOfOrders(ctx, db, []string{"o5000"})
			return err
		}},
		"operations to write": {"operations_one_per_number", func(ctx context.Context, db dbsqlc.DBTX) error {
			return q.OperationsMove(ctx, db, &dbsqlc.OperationsMoveParams{
				AttemptIds: []uuid.UUID{id}, Kinds: []string{"charge"}, Numbers: []int32{0}, WereStates: []string{"sent"}, WereFences: []int64{1},
			})
		}},
		"due operations": {"operations_due", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OperationsDue(ctx, db, &dbsqlc.OperationsDueParams{Account: "acc", Most: 100})
			return err
		}},
		"operations that trail": {"operations_due", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OperationsTrailing(ctx, db, &dbsqlc.OperationsTrailingParams{Account: "acc", Most: 100})
			return err
		}},
		"accounts with something due": {"operations_due", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.AccountsDue(ctx, db)
			return err
		}},
		"movements of attempts": {"movements_one_per_number", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.MovementsOfAttempts(ctx, db, []uuid.UUID{id})
			return err
		}},
		"owners of movements": {"movements_once", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.MovementsOwned(ctx, db, &dbsqlc.MovementsOwnedParams{Accounts: []string{"acc"}, Kinds: []string{"capture"}, ProviderIds: []string{"m-5000"}})
			return err
		}},
		"a refund": {"refunds_by_id operations_one_open_payment", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.RefundRead(ctx, db, id)
			return err
		}},
		"an attempt to write": {"attempts_by_id", func(ctx context.Context, db dbsqlc.DBTX) error {
			return q.AttemptsAdvance(ctx, db, &dbsqlc.AttemptsAdvanceParams{OrderIds: []string{"o5000"}, AttemptIds: []uuid.UUID{id}, Was: []int32{1}})
		}},
		"an order": {"orders_pkey", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OrderLock(ctx, db, "o5000")
			return err
		}},
		"the order of a request": {"orders_one_per_request", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OrderByRequest(ctx, db, &dbsqlc.OrderByRequestParams{UserID: "u1", ClientRequestID: "r5000"})
			return err
		}},
		"attempts by reference": {"references_one_attempt", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.ReferencesFind(ctx, db, &dbsqlc.ReferencesFindParams{Accounts: accounts, Refs: many("pp-%d")})
			return err
		}},
		"attempts to lock by reference": {"references_one_attempt", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.AttemptsLockNamed(ctx, db, &dbsqlc.AttemptsLockNamedParams{Accounts: accounts, Refs: many("pp-%d")})
			return err
		}},
		"attempts to lock by id": {"attempts_by_id", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.AttemptsLockNamed(ctx, db, &dbsqlc.AttemptsLockNamedParams{AttemptIds: []uuid.UUID{id}})
			return err
		}},
		"free orders to lock": {"orders_pkey", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OrdersLockFree(ctx, db, []string{"o5000"})
			return err
		}},
		"keys": {"keys_one_per_command", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.KeysRead(ctx, db, &dbsqlc.KeysReadParams{UserIds: []string{"u1"}, Endpoints: []string{"pay"}, Keys: []string{"key-00005000"}})
			return err
		}},
		"keys to count": {"keys_one_per_command", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.QuotasTake(ctx, db, &dbsqlc.QuotasTakeParams{
				Ords: []int32{0}, UserIds: []string{"u1"}, Endpoints: []string{"pay"}, Keys: []string{"key-00005000"}, Per: 60,
			})
			return err
		}},
		"known events": {"events_one_per_id", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.EventsKnown(ctx, db, &dbsqlc.EventsKnownParams{Accounts: accounts, Ids: many("evt-%d")})
			return err
		}},
		"due events": {"events_due", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.EventsDue(ctx, db, 100)
			return err
		}},
		"what is overdue": {"operations_due events_due", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.Overdue(ctx, db)
			return err
		}},
		"parked events to count": {"events_due", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.EventsParkedCount(ctx, db)
			return err
		}},
		"foreign events to count": {"events_foreign", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.EventsForeign(ctx, db)
			return err
		}},
		"parked and foreign events": {"events_unsettled_by_reference", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.EventsParked(ctx, db, &dbsqlc.EventsParkedParams{Account: "acc", Refs: []string{"pp-5000"}})
			return err
		}},
		"parked events of an attempt": {"events_unsettled_by_reference references_by_attempt", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.EventsParkedOf(ctx, db, &dbsqlc.EventsParkedOfParams{Account: "acc", AttemptID: id, Others: []string{"pp-1"}})
			return err
		}},
		"an event": {"events_by_id", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.EventLock(ctx, db, id)
			return err
		}},
		"a key": {"keys_one_per_command", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.KeyRead(ctx, db, &dbsqlc.KeyReadParams{UserID: "u1", Endpoint: "pay", Key: "key-00005000"})
			return err
		}},
		"a key to answer": {"keys_one_per_command", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.KeyRespond(ctx, db, &dbsqlc.KeyRespondParams{UserID: "u1", Endpoint: "pay", Key: "key-00005000", Fence: 1})
			return err
		}},
	} {
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				// A given value may make a part of the plan superfluous.
				e := &explainer{conn: testdb.Connect(t, testdb.With(t, url, "plan_cache_mode", mode))}
				require.ErrorIs(t, c.ask(t.Context(), e), errExplained)
				e.uses(t, c.index)
			})
		}
	}
}

// A planner that has not counted the parked and foreign events yet must not read all of them for a name either.
func TestEventsAreFoundByReferenceBeforeTheyAreCounted(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	_, err := testdb.Connect(t, url).Exec(t.Context(), `ALTER TABLE provider_events SET (autovacuum_enabled = off);
		INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs, verdict, tries,
			next_try_at, received_at)
		SELECT gen_random_uuid(), 'acc', 'evt-' || i, false, 't', 'succeeded', '\x01', '{}', ARRAY['pp-' || i], CASE i % 2 WHEN 0 THEN 'foreign' ELSE 'unmatched' END, 4,
			CASE i % 2 WHEN 1 THEN now() END, now()
		FROM generate_series(1, 20000) i`)
	require.NoError(t, err)
	q := dbsqlc.New()
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		e := &explainer{conn: testdb.Connect(t, testdb.With(t, url, "plan_cache_mode", mode))}
		_, err := q.EventsParked(t.Context(), e, &dbsqlc.EventsParkedParams{Account: "acc", Refs: []string{"pp-5000"}})
		require.ErrorIs(t, err, errExplained)
		_, err = q.EventsParkedOf(t.Context(), e, &dbsqlc.EventsParkedOfParams{Account: "acc", AttemptID: uuid.New(), Others: []string{"pp-1"}})
		require.ErrorIs(t, err, errExplained)
		e.uses(t, "events_unsettled_by_reference")
	}
}

// fill makes 10,000 rows of each table. Every hundredth is due.
//
//nolint:dupword // it is SQL
func fill(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	const id = `('00000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid`
	const due = `CASE WHEN i % 100 = 0 THEN now() - interval '1 hour' END`
	for _, insert := range []string{
		`INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
			SELECT 'o' || i, 'u1', 'r' || i, '\x01', 1000, 'EUR', now(), now() FROM generate_series(1, 10000) i`,
		`INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency,
				created_at, updated_at, finalized_at)
			SELECT 'o' || i, ` + id + `, 'u1', 'r' || i, '\x01', 'acc', (CASE WHEN i % 100 = 0 THEN 'pending' ELSE 'failed' END)::attempt_status,
				(CASE WHEN i % 100 = 0 THEN 'requested' ELSE 'final' END)::attempt_stage, 1000, 'EUR', now(), now(),
				CASE WHEN i % 100 > 0 THEN now() END FROM generate_series(1, 10000) i;
		INSERT INTO operations (order_id, attempt_id, kind, number, account, refund_id, origin, state, sends, fence, next_at, created_at)
			SELECT 'o' || i, ` + id + `, kind, 0, 'acc', CASE kind WHEN 'refund' THEN ` + id + ` END, 'request', CASE WHEN i % 100 = 0 THEN 'sent' ELSE 'done' END,
				1, 1, ` + due + `, now() FROM generate_series(1, 10000) i, unnest(ARRAY['charge', 'refund']) kind`,
		`INSERT INTO money_movements (order_id, attempt_id, number, account, kind, source, provider_id, amount, currency, cause, recorded_at)
			SELECT 'o' || i, ` + id + `, 1, 'acc', 'capture', 'named', 'm-' || i, 1000, 'EUR', 'webhook', now() FROM generate_series(1, 10000) i`,
		`INSERT INTO attempt_references SELECT 'acc', kind || i, 'o' || i, ` + id + ` FROM generate_series(1, 10000) i, unnest(ARRAY['pp-', 'cs-', 'ch-', '']) kind`,
		`INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs, verdict, tries,
				next_try_at, received_at)
			SELECT ` + id + `, 'acc', 'evt-' || i, false, 't', 'succeeded', '\x01', json_build_object('padding', repeat('x', 500)), ARRAY['pp-' || i],
				CASE WHEN i % 100 = 0 THEN 'deferred' WHEN i % 4 = 1 THEN 'foreign' ELSE 'applied' END, 0, ` + due + `, now() - i * interval '1 hour'
			FROM generate_series(1, 10000) i`,
		`INSERT INTO event_bytes SELECT event_id, received_at, convert_to(repeat('x', 500), 'UTF8') FROM provider_events`,
		`INSERT INTO refunds (order_id, refund_id, attempt_id, user_id, client_request_id, request_hash, account, status, amount, currency,
				version, created_at, updated_at, finalized_at)
			SELECT 'o' || i, ` + id + `, ` + id + `, 'u1', 'r' || i, '\x01', 'acc', (CASE WHEN i % 100 = 0 THEN 'pending' ELSE 'failed' END)::refund_status,
				1, 'EUR', 1, now(), now(), CASE WHEN i % 100 > 0 THEN now() END FROM generate_series(1, 10000) i`,
		`INSERT INTO disputes (order_id, dispute_id, attempt_id, account, provider_dispute_id, status, version, opened_at, updated_at)
			SELECT 'o' || i, ` + id + `, ` + id + `, 'acc', 'dp-' || i, 'open', 1, now(), now() FROM generate_series(1, 10000) i`,
		`INSERT INTO idempotency_keys (user_id, endpoint, key, request_hash, lease_until, created_at, expires_at)
			SELECT 'u1', 'pay', 'key-' || lpad(i::text, 8, '0'), '\x01', now(), now(), now() FROM generate_series(1, 10000) i`,
		`VACUUM ANALYZE`,
	} {
		_, err := conn.Exec(t.Context(), insert)
		require.NoError(t, err)
	}
}

func attemptID(i int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", i) }

var errExplained = errors.New("it was explained, not run")

// explainer is a database that explains a statement instead of running it.
type explainer struct {
	conn  *pgx.Conn
	plans []string
	// analyze runs the explained statements, and has plans as JSON.
	analyze bool
}

// empty is the part of a plan that is for a partition without rows.
var empty = regexp.MustCompile(`Seq Scan on event_bytes_\w+ \w+  \(cost=0\.00\.\.0\.00 `)

// uses fails unless all plans use the indexes, whose names are separated by spaces.
func (e *explainer) uses(t *testing.T, indexes string) {
	t.Helper()
	for _, plan := range e.plans {
		require.NotContains(t, empty.ReplaceAllString(plan, ""), "Seq Scan")
		for index := range strings.FieldsSeq(indexes) {
			require.Contains(t, plan, index)
		}
	}
}

func (e *explainer) explain(ctx context.Context, query string, args []any) error {
	if err := e.plan(ctx, query, args); err != nil {
		return err
	}
	return errExplained
}

func (e *explainer) plan(ctx context.Context, query string, args []any) error {
	if err := e.conn.DeallocateAll(ctx); err != nil {
		return err
	}
	named, err := e.conn.Prepare(ctx, "hot", query)
	if err != nil {
		return err
	}
	literals := make([]string, len(args))
	for i, arg := range args {
		text, err := e.conn.TypeMap().Encode(named.ParamOIDs[i], pgx.TextFormatCode, arg, []byte{}) // of NULL it is nil
		if err != nil {
			return err
		}
		if literals[i] = "NULL"; text != nil {
			literals[i] = "'" + strings.ReplaceAll(string(text), "'", "''") + "'"
		}
	}
	how := "EXPLAIN "
	if e.analyze {
		how = "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "
	}
	rows, err := e.conn.Query(ctx, strings.Replace(how+"EXECUTE hot("+strings.Join(literals, ", ")+")", "()", "", 1))
	if err != nil {
		return err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	e.plans = append(e.plans, strings.Join(lines, "\n"))
	return nil
}

func (e *explainer) Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, e.explain(ctx, query, args)
}

func (e *explainer) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	return nil, e.explain(ctx, query, args)
}

func (e *explainer) QueryRow(ctx context.Context, query string, args ...any) pgx.Row {
	return explained{e.explain(ctx, query, args)}
}

type explained struct{ err error }

func (e explained) Scan(...any) error { return e.err }
