package postgres_test

import (
	"context"
	"fmt"
	"math"
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
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// bookRows makes settlements, payouts and runs from to to, with the number in their names. The attempts of listRows must exist.
func bookRows(t *testing.T, conn *pgx.Conn, from, to int) {
	t.Helper()
	const id = `('00000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid`
	const at = `timestamptz '2026-01-01 00:00:00+00' + i / 3 * interval '1 hour'`
	for _, insert := range []string{
		`INSERT INTO settlements (account, entry_id, order_id, attempt_id, kind, movement_id, payment, amount, currency, net, balance_currency, payout_id, at, recorded_at)
			SELECT 'acc' || i % 3, 'e-' || i, 'o' || i, ` + id + `, (ARRAY['capture', 'refund'])[i % 2 + 1], '', 'pp-' || i, 100 * i, CASE i % 7 WHEN 0 THEN 'USD' ELSE 'EUR' END,
				CASE WHEN i % 5 > 0 THEN i END, CASE WHEN i % 5 > 0 THEN 'EUR' ELSE '' END, CASE i % 4 WHEN 0 THEN '' ELSE 'po-' || (i % 3 + 1) END,
				CASE WHEN i % 8 > 0 THEN ` + at + ` END, ` + at + ` FROM generate_series($1::int, $2::int) i`,
		`INSERT INTO payouts (payout_id, account, provider_payout_id, amount, currency, status, created_at, updated_at)
			SELECT ` + id + `, 'acc' || (i - 1) % 3, 'po-' || i, CASE WHEN i % 4 > 0 THEN 100 * i END, CASE WHEN i % 4 > 0 THEN CASE i % 7 WHEN 0 THEN 'USD' ELSE 'EUR' END END,
				CASE WHEN i % 4 > 0 THEN (ARRAY['paid', 'failed'])[i % 2 + 1] END, ` + at + `, ` + at + ` + i % 5 * interval '1 day' FROM generate_series($1::int, $2::int) i`,
		`INSERT INTO reconciliations (reconciliation_id, account, from_at, to_at, source, started_by, started_at, touched_at, finished_at, failure, counts)
			SELECT ` + id + `, 'acc' || i % 3, ` + at + ` - interval '1 day', ` + at + `, 'books', 'daily', ` + at + `, CASE i % 4 WHEN 0 THEN now() ELSE ` + at + ` END,
				CASE i % 4 WHEN 1 THEN now() END, CASE i % 4 WHEN 2 THEN 'cut' ELSE '' END, '{"entries": 3, "applied": 1}' FROM generate_series($1::int, $2::int) i`,
	} {
		_, err := conn.Exec(t.Context(), insert, from, to)
		require.NoError(t, err)
	}
}

// bookReads are the lists of the books by their kind.
func bookReads(t *testing.T, s *lists.Service) map[lists.Kind]func(params map[string]string) (page []int, next string) {
	t.Helper()
	query := func(kind lists.Kind, params map[string]string) lists.Query {
		q, err := lists.Parse(kind, params)
		require.NoError(t, err)
		return q
	}
	return map[lists.Kind]func(params map[string]string) ([]int, string){
		lists.Settlements: func(params map[string]string) (page []int, next string) {
			p, err := s.Settlements(t.Context(), lister, query(lists.Settlements, params))
			require.NoError(t, err)
			return numbers(idsOf(p.Items, func(s payment.Settlement) string { return s.EntryID })...), p.Next
		},
		lists.Payouts: func(params map[string]string) (page []int, next string) {
			p, err := s.Payouts(t.Context(), lister, query(lists.Payouts, params))
			require.NoError(t, err)
			return numbers(idsOf(p.Items, func(p payment.Payout) string { return p.ID.String() })...), p.Next
		},
		lists.Reconciliations: func(params map[string]string) (page []int, next string) {
			p, err := s.Reconciliations(t.Context(), lister, query(lists.Reconciliations, params))
			require.NoError(t, err)
			return numbers(idsOf(p.Items, func(r lists.Reconciliation) string { return r.ID.String() })...), p.Next
		},
	}
}

// Each filter of the books selects its items.
func TestBookFilters(t *testing.T) {
	t.Parallel()
	const most = 40
	url := testdb.New(t)
	conn := testdb.Connect(t, url)
	listRows(t, conn, 1, most)
	bookRows(t, conn, 1, most)
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	created := func(i int) time.Time { return base.Add(time.Duration(i/3) * time.Hour) }
	at := created(9).Format(time.RFC3339)
	every := map[string]func(i int) bool{
		"": func(int) bool { return true }, "account=acc2": func(i int) bool { return i%3 == 2 },
		"created_from=" + at: func(i int) bool { return !created(i).Before(created(9)) }, "created_to=" + at: func(i int) bool { return created(i).Before(created(9)) },
	}
	and := func(more map[string]func(i int) bool) map[string]func(i int) bool {
		for name, keeps := range every {
			if more[name] == nil {
				more[name] = keeps
			}
		}
		return more
	}
	id := func(i int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", i) }
	changed := base.AddDate(0, 0, 2)
	all := bookReads(t, lists.New(enginetest.Store(t, url).Lists()))
	for kind, selects := range map[lists.Kind]map[string]func(i int) bool{
		lists.Settlements: and(map[string]func(i int) bool{
			"amount_min=1000": func(i int) bool { return i >= 10 }, "amount_max=1000&kind=refund": func(i int) bool { return i <= 10 && i%2 == 1 },
			"currency=USD": func(i int) bool { return i%7 == 0 }, "payment_attempt_id=" + id(9): func(i int) bool { return i == 9 },
			"payout_id=" + id(3):                       func(i int) bool { return i%3 == 2 && i%4 > 0 },
			"payout_id=" + id(3) + "&account=acc2":     func(i int) bool { return i%3 == 2 && i%4 > 0 },
			"payout_id=" + id(3) + "&account=acc1":     func(int) bool { return false },
			"payout_id=" + id(3) + "&created_to=" + at: func(i int) bool { return i%3 == 2 && i%4 > 0 && created(i).Before(created(9)) },
			"payout_id=" + id(999):                     func(int) bool { return false },
		}),
		lists.Payouts: and(map[string]func(i int) bool{
			"account=acc2": func(i int) bool { return (i-1)%3 == 2 }, "status=failed": func(i int) bool { return i%2 == 1 },
			"status=paid": func(i int) bool { return i%4 == 2 }, "amount_min=1000": func(i int) bool { return i >= 10 && i%4 > 0 },
			"currency=USD": func(i int) bool { return i%7 == 0 && i%4 > 0 },
			"updated_from=" + changed.Format(time.RFC3339): func(i int) bool { return !created(i).AddDate(0, 0, i%5).Before(changed) },
			"updated_to=" + changed.Format(time.RFC3339):   func(i int) bool { return created(i).AddDate(0, 0, i%5).Before(changed) },
		}),
		lists.Reconciliations: and(map[string]func(i int) bool{
			"status=running": func(i int) bool { return i%4 == 0 }, "status=finished": func(i int) bool { return i%4 == 1 },
			"status=failed":    func(i int) bool { return i%4 >= 2 },
			"updated_to=" + at: func(i int) bool { return i%4 > 0 && created(i).Before(created(9)) },
		}),
	} {
		for text, keeps := range selects {
			params := map[string]string{"limit": "100"}
			for pair := range strings.SplitSeq(text, "&") {
				name, value, _ := strings.Cut(pair, "=")
				params[name] = value
			}
			want := []int{}
			for i := 1; i <= most; i++ {
				if keeps(i) {
					want = append(want, i)
				}
			}
			got, next := all[kind](params)
			sorted := slices.Clone(got)
			slices.Sort(sorted)
			require.Equal(t, want, append([]int{}, sorted...), "%s: %s", kind, text)
			require.True(t, slices.IsSortedFunc(got, func(a, b int) int { return b/3 - a/3 }), "%s: %s: %v", kind, text, got)
			require.Empty(t, next)
		}
	}
}

// The items that exist at the read of the first page come once while others are added on top and in between, in pages of any length.
func TestBookPagesAreStable(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn := testdb.Connect(t, url)
	listRows(t, conn, 1, 200)
	added := 40
	bookRows(t, conn, 1, added)
	for kind, read := range bookReads(t, lists.New(enginetest.Store(t, url).Lists())) {
		begun, params, seen := added, map[string]string{}, []int(nil)
		for length := 1; ; length = length%7 + 1 {
			params["limit"] = strconv.Itoa(length)
			page, next := read(params)
			seen = append(seen, page...)
			if params["cursor"] = next; next == "" {
				break
			}
			bookRows(t, conn, added+1, added+2)
			added += 2
		}
		require.True(t, slices.IsSortedFunc(seen, func(a, b int) int { return b/3 - a/3 }), "%s: %v", kind, seen)
		old := slices.DeleteFunc(slices.Clone(seen), func(n int) bool { return n > begun })
		slices.Sort(old)
		require.Len(t, slices.Compact(slices.Clone(old)), len(old), "%s: nothing twice", kind)
		require.Len(t, old, begun, "%s: nothing passed over: %v", kind, seen)
	}
}

// The storage computes the ids of settlements as Go does, for any names.
func TestSettlementIDs(t *testing.T) {
	t.Parallel()
	conn := testdb.Connect(t, testdb.New(t))
	for _, s := range []payment.Settlement{{Account: "acc", EntryID: "e1"}, {Account: "банк", EntryID: "проводка 7"}, {Account: "a", EntryID: strings.Repeat("x", 500)}} {
		var id uuid.UUID
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT settlement_id($1, $2)", s.Account, s.EntryID).Scan(&id))
		require.Equal(t, uuid.UUID(s.ID()), id)
		require.EqualValues(t, 8, id.Version())
		require.Equal(t, uuid.RFC4122, id.Variant())
	}
}

// The lists of the books use their indexes, and read no whole table.
func TestBookListsUseTheirIndexes(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn := testdb.Connect(t, url)
	fill(t, conn)
	for _, insert := range []string{
		`INSERT INTO settlements (account, entry_id, order_id, attempt_id, kind, movement_id, payment, amount, currency, net, balance_currency, payout_id, recorded_at)
			SELECT 'acc', 'e-' || i, order_id, attempt_id, 'capture', '', 'pp', 1000, 'EUR', 990, 'EUR', 'po-' || i / 50, now() - i * interval '1 hour'
			FROM (SELECT order_id, attempt_id, row_number() OVER () AS i FROM payment_attempts) a`,
		`INSERT INTO payouts (payout_id, account, provider_payout_id, amount, currency, created_at, updated_at)
			SELECT gen_random_uuid(), 'acc', 'po-' || i, 1, 'EUR', now() - i * interval '1 hour', now() FROM generate_series(0, 5000) i`,
		`INSERT INTO reconciliations (reconciliation_id, account, from_at, to_at, source, started_by, started_at, touched_at)
			SELECT gen_random_uuid(), 'acc', now() - interval '1 day', now(), 'books', 'daily', now() - i * interval '1 hour', now() FROM generate_series(0, 5000) i`,
		`VACUUM ANALYZE`,
	} {
		_, err := conn.Exec(t.Context(), insert)
		require.NoError(t, err)
	}
	q, ends := dbsqlc.New(), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	settlements := func(p dbsqlc.SettlementsListParams) func(context.Context, dbsqlc.DBTX) error {
		return func(ctx context.Context, db dbsqlc.DBTX) error {
			p.BeforeAt, p.BeforeID, p.CreatedTo, p.AmountMax, p.Most = ends, uuid.Max, ends, math.MaxInt64, 26
			_, err := q.SettlementsList(ctx, db, &p)
			return err
		}
	}
	for name, c := range map[string]struct {
		index string
		ask   func(context.Context, dbsqlc.DBTX) error
	}{
		"settlements":               {"settlements_by_time payouts_once", settlements(dbsqlc.SettlementsListParams{})},
		"settlements of a kind":     {"settlements_by_time", settlements(dbsqlc.SettlementsListParams{Account: "acc", Kind: "capture"})},
		"settlements of a payout":   {"settlements_by_payout", settlements(dbsqlc.SettlementsListParams{Account: "acc", ProviderPayoutID: "po-7"})},
		"settlements of an attempt": {"settlements_by_attempt", settlements(dbsqlc.SettlementsListParams{AttemptID: uuid.MustParse(attemptID(7))})},
		"reach": {"settlements_by_time", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.SettlementsReach(ctx, db, &dbsqlc.SettlementsReachParams{BeforeAt: ends, BeforeID: uuid.Max, CreatedTo: ends, Skipped: 2000})
			return err
		}},
		"payouts": {"payouts_by_time settlements_by_payout", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.PayoutsList(ctx, db, &dbsqlc.PayoutsListParams{BeforeAt: ends, BeforeID: uuid.Max, CreatedTo: ends, UpdatedTo: ends, AnyAmount: true, Most: 26})
			return err
		}},
		"a payout": {"payouts_pkey settlements_by_payout", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.PayoutRead(ctx, db, uuid.Max)
			return err
		}},
		"reconciliations": {"reconciliations_by_time", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.ReconciliationsList(ctx, db, &dbsqlc.ReconciliationsListParams{BeforeAt: ends, BeforeID: uuid.Max, CreatedTo: ends, UpdatedTo: ends, Alive: 900, Most: 26})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &explainer{conn: testdb.Connect(t, testdb.With(t, url, "plan_cache_mode", "force_custom_plan"))}
			require.ErrorIs(t, c.ask(t.Context(), e), errExplained)
			e.uses(t, c.index)
		})
	}
}
