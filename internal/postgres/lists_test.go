package postgres_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
)

var lister = authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}}

// listRows makes orders o<from> to o<to>, each with an attempt, a refund and a dispute that have the number in their
// ids. The number determines the values that a filter selects by. Three orders share a time of creation.
func listRows(t *testing.T, conn *pgx.Conn, from, to int) {
	t.Helper()
	const id = `('00000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid`
	const at = `timestamptz '2026-01-01 00:00:00+00' + i / 3 * interval '1 hour'`
	const times = at + `, ` + at + ` + i % 5 * interval '1 day'`
	const user, account, currency = `'u' || i % 4`, `'acc' || i % 3`, `CASE i % 7 WHEN 0 THEN 'USD' ELSE 'EUR' END`
	const due = `CASE i % 3 WHEN 0 THEN now() + interval '1 day' END`
	for _, insert := range []string{
		`INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, cancel_requested_at, created_at, updated_at)
			SELECT 'o' || i, ` + user + `, 'r' || i, '\x01', 100 * i, ` + currency + `, CASE i % 6 WHEN 1 THEN now() END, ` + times + ` FROM generate_series($1::int, $2::int) i`,
		`INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency,
				created_at, updated_at, finalized_at, saved_payment_method)
			SELECT 'o' || i, ` + id + `, ` + user + `, 'r' || i, '\x01', ` + account + `, (ARRAY['pending', 'failed', 'succeeded'])[i % 3 + 1]::attempt_status,
				(CASE WHEN i % 3 > 0 THEN 'final' WHEN i % 2 = 0 THEN 'authorized' ELSE 'processing' END)::attempt_stage, 100 * i, ` + currency + `, ` + times + `,
				CASE WHEN i % 3 > 0 THEN now() END, json_build_object('token', 'pm_' || i) FROM generate_series($1::int, $2::int) i;
		INSERT INTO operations (order_id, attempt_id, kind, number, account, refund_id, origin, state, sends, fence, next_at, created_at)
			SELECT 'o' || i, ` + id + `, kind, 0, ` + account + `, CASE kind WHEN 'refund' THEN ` + id + ` END, 'request', CASE i % 3 WHEN 0 THEN 'sent' ELSE 'done' END,
				1, 1, ` + due + `, now() FROM generate_series($1::int, $2::int) i, unnest(ARRAY['charge', 'refund']) kind`,
		`INSERT INTO refunds (order_id, refund_id, attempt_id, user_id, client_request_id, request_hash, account, status, amount, currency, created_at, updated_at, finalized_at)
			SELECT 'o' || i, ` + id + `, ` + id + `, 'service', 'r' || i, '\x01', ` + account + `, (ARRAY['pending', 'failed', 'succeeded'])[i % 3 + 1]::refund_status,
				100 * i, ` + currency + `, ` + times + `, CASE WHEN i % 3 > 0 THEN now() END FROM generate_series($1::int, $2::int) i`,
		`INSERT INTO saved_methods SELECT ` + account + `, 'pm_' || i, '', '', NULL, 'card', 'Visa', '', now(), current_timestamp, NULL, 1, now() FROM generate_series($1::int, $2::int) i`,
		`INSERT INTO disputes (order_id, dispute_id, attempt_id, account, provider_dispute_id, status, amount, currency, version, opened_at, updated_at, closed_at)
			SELECT 'o' || i, ` + id + `, ` + id + `, ` + account + `, 'dp' || i, (ARRAY['open', 'won', 'under_review'])[i % 3 + 1], CASE WHEN i % 9 > 0 THEN 100 * i END,
				CASE WHEN i % 9 > 0 THEN ` + currency + ` END, 1, ` + times + `, CASE i % 3 WHEN 1 THEN now() END FROM generate_series($1::int, $2::int) i`,
	} {
		_, err := conn.Exec(t.Context(), strings.NewReplacer("$1", strconv.Itoa(from), "$2", strconv.Itoa(to)).Replace(insert))
		require.NoError(t, err)
	}
}

// numbers are the numbers in ids.
func numbers(ids ...string) (all []int) {
	for _, id := range ids {
		var n int
		_, err := fmt.Sscan(strings.TrimLeft(id[strings.LastIndexAny(id, "o-")+1:], "0"), &n)
		if err != nil {
			panic(err)
		}
		all = append(all, n)
	}
	return all
}

// reads are the lists by their kind: each returns the numbers of a page.
func reads(t *testing.T, s *lists.Service) map[lists.Kind]func(params map[string]string) (page []int, next string) {
	t.Helper()
	query := func(kind lists.Kind, params map[string]string) lists.Query {
		q, err := lists.Parse(kind, params)
		require.NoError(t, err)
		return q
	}
	return map[lists.Kind]func(params map[string]string) ([]int, string){
		lists.Orders: func(params map[string]string) (page []int, next string) {
			p, err := s.Orders(t.Context(), lister, query(lists.Orders, params))
			require.NoError(t, err)
			for _, o := range p.Items {
				require.Len(t, o.Attempts, 1)
				require.Len(t, o.Attempts[0].Disputes, 1)
				require.NotNil(t, o.Attempts[0].Saved.RemovedAt)
				page = append(page, numbers(string(o.ID))...)
			}
			return page, p.Next
		},
		lists.Attempts: func(params map[string]string) (page []int, next string) {
			p, err := s.Attempts(t.Context(), lister, query(lists.Attempts, params))
			require.NoError(t, err)
			for _, v := range p.Items {
				n := numbers(v.ID.String())[0]
				require.Len(t, v.Disputes, 1)
				require.NotNil(t, v.Saved.RemovedAt)
				require.Equal(t, v.Failed() && n%6 != 1, v.CanStartNew, n)
				page = append(page, n)
			}
			return page, p.Next
		},
		lists.Refunds: func(params map[string]string) (page []int, next string) {
			p, err := s.Refunds(t.Context(), lister, query(lists.Refunds, params))
			require.NoError(t, err)
			return numbers(idsOf(p.Items, func(r payment.Refund) string { return r.ID.String() })...), p.Next
		},
		lists.Disputes: func(params map[string]string) (page []int, next string) {
			p, err := s.Disputes(t.Context(), lister, query(lists.Disputes, params))
			require.NoError(t, err)
			return numbers(idsOf(p.Items, func(d payment.Dispute) string { return d.ID.String() })...), p.Next
		},
	}
}

func idsOf[T any](items []T, id func(T) string) []string {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = id(item)
	}
	return ids
}

// Each filter selects its items, alone and with others.
func TestListFilters(t *testing.T) {
	t.Parallel()
	const most = 40
	url := testdb.New(t)
	conn := testdb.Connect(t, url)
	listRows(t, conn, 1, most)
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	created := func(i int) time.Time { return base.Add(time.Duration(i/3) * time.Hour) }
	updated := func(i int) time.Time { return created(i).AddDate(0, 0, i%5) }
	at := func(i int) string { return created(i).Format(time.RFC3339) }
	changed := base.AddDate(0, 0, 2).Format(time.RFC3339)
	filters := map[string]func(i int) bool{
		"":                        func(int) bool { return true },
		"user_id=u1":              func(i int) bool { return i%4 == 1 },
		"account=acc2":            func(i int) bool { return i%3 == 2 },
		"amount_min=1000":         func(i int) bool { return i >= 10 },
		"amount_max=1000":         func(i int) bool { return i <= 10 },
		"created_from=" + at(9):   func(i int) bool { return !created(i).Before(created(9)) },
		"created_to=" + at(9):     func(i int) bool { return created(i).Before(created(9)) },
		"updated_from=" + changed: func(i int) bool { return !updated(i).Before(base.AddDate(0, 0, 2)) },
		"updated_to=" + changed:   func(i int) bool { return updated(i).Before(base.AddDate(0, 0, 2)) },
		"currency=USD":            func(i int) bool { return i%7 == 0 },
		"user_id=u2&account=acc0&currency=EUR&created_from=" + at(6): func(i int) bool { return i%4 == 2 && i%3 == 0 && i%7 > 0 && i >= 6 },
		"user_id=nobody": func(int) bool { return false },
	}
	status := func(of ...string) map[string]func(i int) bool {
		own := maps.Clone(filters)
		for n, name := range of {
			own["status="+name] = func(i int) bool { return i%3 == n }
		}
		return own
	}
	orders := status()
	orders["status=paid"] = func(i int) bool { return i%3 == 2 }
	orders["status=cancelled"] = func(i int) bool { return i%6 == 1 }
	orders["status=open"] = func(i int) bool { return i%3 != 2 && i%6 != 1 }
	attempts := status("pending", "failed", "succeeded")
	attempts["stage=requested"] = func(i int) bool { return i%6 == 3 }
	attempts["stage=authorized&status=pending"] = func(i int) bool { return i%6 == 0 }
	attempts["stage=final"] = func(i int) bool { return i%3 > 0 }
	disputes := status("open", "won", "under_review")
	for name, keeps := range disputes { // one without an amount is of no amount and no currency
		if strings.Contains(name, "amount") || strings.Contains(name, "currency") {
			disputes[name] = func(i int) bool { return i%9 > 0 && keeps(i) }
		}
	}
	all := reads(t, lists.New(enginetest.Store(t, url).Lists()))
	for kind, selects := range map[lists.Kind]map[string]func(i int) bool{
		lists.Orders: orders, lists.Attempts: attempts, lists.Refunds: status("pending", "failed", "succeeded"), lists.Disputes: disputes,
	} {
		for text, keeps := range selects {
			params := map[string]string{"limit": "100"}
			for pair := range strings.SplitSeq(text, "&") {
				name, value, _ := strings.Cut(pair, "=")
				params[name] = value
			}
			var want []int
			for i := 1; i <= most; i++ {
				if keeps(i) {
					want = append(want, i)
				}
			}
			slices.SortFunc(want, func(a, b int) int { return newestFirst(kind, a, b) })
			got, next := all[kind](params)
			require.Equal(t, want, got, "%s: %s", kind, text)
			require.Empty(t, next)
		}
	}
}

// newestFirst is the order of a list. Items of the same time are ordered by their ids, which are texts for orders.
func newestFirst(kind lists.Kind, a, b int) int {
	if a/3 != b/3 {
		return b/3 - a/3
	}
	if kind == lists.Orders {
		return strings.Compare(fmt.Sprintf("o%d", b), fmt.Sprintf("o%d", a))
	}
	return b - a
}

// The items that exist at the read of the first page come once, in order, while others are added on top and in between,
// and while items change.
func TestPagesAreStable(t *testing.T) {
	t.Parallel()
	for round := range 6 {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			t.Parallel()
			dice := rand.New(rand.NewPCG(uint64(round), 7))
			url := testdb.New(t)
			conn := testdb.Connect(t, url)
			there := 30 + dice.IntN(30)
			listRows(t, conn, 1, there)
			added := there
			for kind, read := range reads(t, lists.New(enginetest.Store(t, url).Lists())) {
				begun := added
				params, seen := map[string]string{}, []int(nil)
				for {
					params["limit"] = strconv.Itoa(1 + dice.IntN(9))
					page, next := read(params)
					seen = append(seen, page...)
					if params["cursor"] = next; next == "" {
						break
					}
					require.NotEmpty(t, page)
					more := dice.IntN(4)
					listRows(t, conn, added+1, added+more)
					added += more
					_, err := conn.Exec(t.Context(), `UPDATE orders SET updated_at = now();
						UPDATE payment_attempts SET version = version + 1, updated_at = now(), provider_payment_id = 'p' || version;
						UPDATE refunds SET version = version + 1, updated_at = now();
						UPDATE disputes SET version = version + 1, updated_at = now()`)
					require.NoError(t, err)
				}
				require.True(t, slices.IsSortedFunc(seen, func(a, b int) int { return newestFirst(kind, a, b) }), "%s: %v", kind, seen)
				old := slices.DeleteFunc(slices.Clone(seen), func(n int) bool { return n > begun })
				slices.Sort(old)
				require.Len(t, slices.Compact(slices.Clone(old)), len(old), "%s: nothing twice", kind)
				require.Len(t, old, begun, "%s: nothing passed over: %v", kind, seen)
			}
		})
	}
}

// The earliest date comes first, in pages as well, and disputes without a date come last.
func TestDisputesAreDueInOrder(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn := testdb.Connect(t, url)
	listRows(t, conn, 1, 30)
	_, err := conn.Exec(t.Context(), `UPDATE disputes SET version = 2, due_by = CASE WHEN amount % 500 > 0 THEN now() + (3000 - amount) / 600 * interval '1 day' END`)
	require.NoError(t, err)
	want, err := conn.Query(t.Context(), `SELECT provider_dispute_id FROM disputes WHERE closed_at IS NULL ORDER BY due_by NULLS LAST, dispute_id`)
	require.NoError(t, err)
	names, err := pgx.CollectRows(want, pgx.RowTo[string])
	require.NoError(t, err)
	store := enginetest.Store(t, url).Lists()
	s, params := lists.New(store), map[string]string{"limit": "4"}
	var got []string
	for {
		q, err := lists.Parse(lists.Disputes, params)
		require.NoError(t, err)
		page, err := s.DisputesDue(t.Context(), lister, q)
		require.NoError(t, err)
		got = append(got, idsOf(page.Items, func(d payment.Dispute) string { return d.ProviderDisputeID })...)
		if params["cursor"] = page.Next; page.Next == "" {
			break
		}
	}
	require.Equal(t, names, got)
	require.Len(t, got, 20)

	counts := map[string]int64{}
	require.NoError(t, store.DisputesWaiting(t.Context(), func(account string, open int64, _ float64) { counts[account] = open }))
	require.Equal(t, map[string]int64{"acc0": 10, "acc2": 10}, counts)
}
