package postgres_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// listedRows is how many attempts the test of large lists makes; PAYLATCH_LISTED_ROWS sets another number, for a long run.
const listedRows = 200_000

// TestListsOfManyItems: with many attempts no filter, alone or with another, makes a statement read more than a few rows
// for each item that it may check. No statement reads a whole table. The filters match no item, which is the hardest
// case.
func TestListsOfManyItems(t *testing.T) {
	t.Parallel()
	rows := listedRows
	if set := os.Getenv("PAYLATCH_LISTED_ROWS"); set != "" {
		var err error
		rows, err = strconv.Atoi(set)
		require.NoError(t, err)
	}
	url := testdb.New(t)
	conn := testdb.Connect(t, testdb.With(t, url, "statement_timeout", "0"))
	fillLists(t, conn, rows)
	e := &explainer{conn: testdb.Connect(t, testdb.With(t, testdb.With(t, url, "plan_cache_mode", "force_custom_plan"), "enable_seqscan", "off")), analyze: true}
	store := enginetest.Store(t, url).Lists()
	worst := time.Duration(0)
	for _, kind := range []lists.Kind{lists.Orders, lists.Attempts, lists.Refunds, lists.Disputes} {
		for _, params := range alone(kind) {
			q, err := lists.Parse(kind, params)
			require.NoError(t, err)
			q.Limit++
			if q.Narrowed() {
				began := time.Now()
				q.Until, err = store.Reach(t.Context(), q, 20_000)
				worst = max(worst, time.Since(began))
				require.NoError(t, err)
				require.Equal(t, q.User == "u7", q.Until == lists.Place{}, "%s %v", kind, params)
			}
			e.plans = nil
			require.ErrorIs(t, listOf(t.Context(), e, q), errExplained)
			read, took := costOf(t, e.plans[0])
			worst = max(worst, took)
			require.LessOrEqual(t, read, 4*20_000, "%s %v reads\n%s", kind, params, e.plans[0])
		}
	}
	t.Logf("%d attempts: the slowest statement of a list took %s", rows, worst)
}

// alone are the filters of a list, and all pairs of them.
func alone(kind lists.Kind) (all []map[string]string) {
	filters := []string{
		"status=" + lists.Statuses(kind)[0], "account=other", "currency=ZAR", "amount_min=5000", "amount_max=5", "user_id=u7", "user_id=guest",
		"updated_from=2026-05-01T00:00:00Z", "updated_to=2020-01-01T00:00:00Z", "created_from=2020-01-01T00:00:00Z", "created_to=2026-01-02T03:00:00Z",
	}
	if kind == lists.Attempts {
		filters = append(filters, "stage=authorized")
	}
	for i, one := range filters {
		for _, other := range append([]string{""}, filters[i+1:]...) {
			params := map[string]string{}
			for _, filter := range []string{one, other} {
				if name, value, some := strings.Cut(filter, "="); some {
					params[name] = value
				}
			}
			all = append(all, params)
		}
	}
	return all
}

// fillLists makes orders with an attempt, a refund and a dispute each, one a second, all of them paid: half of one user, 50 of each other.
func fillLists(t *testing.T, conn *pgx.Conn, rows int) {
	t.Helper()
	const id = `('00000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid`
	const at = `timestamptz '2026-01-01 00:00:00+00' + i * interval '1 second'`
	const user = `CASE WHEN i % 2 = 0 THEN 'guest' ELSE 'u' || i / 100 END`
	many := ` FROM generate_series(1, ` + strconv.Itoa(rows) + `) i`
	for _, statement := range []string{
		`SET session_replication_role = replica`, // triggers and foreign keys cost more than all of this
		`INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
			SELECT 'o' || i, ` + user + `, 'r' || i, '\x01', 1000, 'EUR', ` + at + `, ` + at + many,
		`INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, created_at, updated_at, finalized_at)
			SELECT 'o' || i, ` + id + `, ` + user + `, 'r' || i, '\x01', 'acc', 'succeeded', 'final', 1000, 'EUR', ` + at + `, ` + at + `, ` + at + many,
		`INSERT INTO refunds (order_id, refund_id, attempt_id, user_id, client_request_id, request_hash, account, status, amount, currency, created_at, updated_at, finalized_at)
			SELECT 'o' || i, ` + id + `, ` + id + `, 'service', 'r' || i, '\x01', 'acc', 'succeeded', 1000, 'EUR', ` + at + `, ` + at + `, ` + at + many,
		`INSERT INTO disputes (order_id, dispute_id, attempt_id, account, provider_dispute_id, status, amount, currency, version, opened_at, updated_at, closed_at)
			SELECT 'o' || i, ` + id + `, ` + id + `, 'acc', 'dp' || i, 'won', 1000, 'EUR', 1, ` + at + `, ` + at + `, ` + at + many,
		`VACUUM ANALYZE orders, payment_attempts, refunds, disputes`,
	} {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
}

// listOf runs the statement of a list.
func listOf(ctx context.Context, db dbsqlc.DBTX, q lists.Query) (err error) {
	queries, most, user, currency := dbsqlc.New(), int32(q.Limit), string(q.User), string(q.Currency)
	before, _ := uuid.Parse(q.Before.ID)
	until, _ := uuid.Parse(q.Until.ID)
	switch q.Kind {
	case lists.Orders:
		_, err = queries.OrdersList(ctx, db, &dbsqlc.OrdersListParams{
			BeforeAt: q.Before.At, BeforeID: q.Before.ID, UntilAt: q.Until.At, UntilID: q.Until.ID, CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, UpdatedFrom: q.UpdatedFrom,
			UpdatedTo: q.UpdatedTo, UserID: user, Account: q.Account, Currency: currency, AmountMin: q.AmountMin, AmountMax: q.AmountMax, Status: q.Status, Most: most,
		})
	case lists.Attempts:
		_, err = queries.AttemptsList(ctx, db, &dbsqlc.AttemptsListParams{
			BeforeAt: q.Before.At, BeforeID: before, UntilAt: q.Until.At, UntilID: until, CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, UpdatedFrom: q.UpdatedFrom,
			UpdatedTo: q.UpdatedTo, UserID: user, Account: q.Account, Currency: currency, AmountMin: q.AmountMin, AmountMax: q.AmountMax, Status: q.Status, Stage: q.Stage, Most: most,
		})
	case lists.Refunds:
		_, err = queries.RefundsList(ctx, db, &dbsqlc.RefundsListParams{
			BeforeAt: q.Before.At, BeforeID: before, UntilAt: q.Until.At, UntilID: until, CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, UpdatedFrom: q.UpdatedFrom,
			UpdatedTo: q.UpdatedTo, UserID: user, Account: q.Account, Currency: currency, AmountMin: q.AmountMin, AmountMax: q.AmountMax, Status: q.Status, Most: most,
		})
	case lists.Disputes:
		_, err = queries.DisputesList(ctx, db, &dbsqlc.DisputesListParams{
			BeforeAt: q.Before.At, BeforeID: before, UntilAt: q.Until.At, UntilID: until, CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, UpdatedFrom: q.UpdatedFrom,
			UpdatedTo: q.UpdatedTo, UserID: user, Account: q.Account, Currency: currency, AnyAmount: q.AnyAmount(), AmountMin: q.AmountMin, AmountMax: q.AmountMax, Status: q.Status, Most: most,
		})
	case lists.Settlements, lists.Payouts, lists.Reconciliations:
		panic("these are of no user")
	}
	return err
}

// node is a part of a plan that was run.
type node struct {
	Type     string  `json:"Node Type"`              //nolint:tagliatelle // as PostgreSQL names it
	Relation string  `json:"Relation Name"`          //nolint:tagliatelle // as PostgreSQL names it
	Rows     float64 `json:"Actual Rows"`            //nolint:tagliatelle // as PostgreSQL names it
	Loops    float64 `json:"Actual Loops"`           //nolint:tagliatelle // as PostgreSQL names it
	Filtered float64 `json:"Rows Removed by Filter"` //nolint:tagliatelle // as PostgreSQL names it
	Plans    []node  `json:"Plans"`                  //nolint:tagliatelle // as PostgreSQL names it
}

// costOf is the number of rows that a statement read from its tables, even the ones that did not match, and the time
// that it took.
func costOf(t *testing.T, plan string) (rows int, took time.Duration) {
	t.Helper()
	var found []struct {
		Plan node    `json:"Plan"`           //nolint:tagliatelle // as PostgreSQL names it
		Took float64 `json:"Execution Time"` //nolint:tagliatelle // as PostgreSQL names it
	}
	require.NoError(t, json.Unmarshal([]byte(plan), &found))
	rest := []node{found[0].Plan}
	for len(rest) > 0 {
		n := rest[0]
		require.NotEqual(t, "Seq Scan", n.Type)
		if n.Relation != "" {
			rows += int((n.Rows + n.Filtered) * n.Loops)
		}
		rest = slices.Concat(rest[1:], n.Plans)
	}
	return rows, time.Duration(found[0].Took * float64(time.Millisecond))
}
