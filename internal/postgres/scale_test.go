package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/postgres/envelope/envelopetest"
	"github.com/paylatch/paylatch/migrations"
)

const (
	// fewRows and fewQueries are the size of the test where no other is set.
	fewRows    = 20_000
	fewQueries = 5
	manyDays   = 90
	// patience is for a machine that runs other tests at the same time.
	patience = 5 * time.Second
)

// TestSearchAtScale measures each kind of search, with its entry in the audit log. The orders are of 90 days, and each
// customer has one to a thousand of them. PAYLATCH_SEARCH_ROWS=10000000 sets the number of orders,
// PAYLATCH_SEARCH_QUERIES the number of searches. PAYLATCH_SEARCH_DATABASE names a database, which is filled if it has
// no order.
//
//nolint:paralleltest,tparallel // each kind is measured alone
func TestSearchAtScale(t *testing.T) {
	t.Parallel()
	rows, queries := number(t, "PAYLATCH_SEARCH_ROWS", fewRows), number(t, "PAYLATCH_SEARCH_QUERIES", fewQueries)
	url := os.Getenv("PAYLATCH_SEARCH_DATABASE")
	if url == "" {
		url = testdb.New(t)
	} else {
		require.NoError(t, migrations.Up(t.Context(), url))
	}
	conn := testdb.Connect(t, url)
	if !testdb.One[bool](t, conn, `SELECT EXISTS (SELECT FROM orders)`) {
		seed(t, conn, rows)
	}
	desk, now := finderSearching(t, url), testdb.One[time.Time](t, conn, `SELECT max(created_at) FROM orders`)
	for _, kind := range kinds(rows, now) {
		t.Run(kind.name, func(t *testing.T) {
			took := make([]time.Duration, queries)
			hits := 0
			random := rand.New(rand.NewPCG(1, uint64(len(kind.name)))) // the same each time
			for i := range took {
				q := finder.Query{Text: kind.text(random)}
				var found finder.Found
				for try := 0; try == 0 || try < 10 && took[i] >= patience && rows == fewRows; try++ { // the machine may be busy with something else
					var err error
					began := time.Now()
					found, err = desk.Search(t.Context(), finderClerk, q)
					took[i] = time.Since(began)
					require.NoError(t, err, q.Text)
				}
				hits += len(found.Hits)
				if kind.finds {
					require.NotEmpty(t, found.Hits, q.Text)
				}
			}
			slices.Sort(took)
			p := func(percent int) time.Duration { return took[(len(took)-1)*percent/100] }
			t.Logf("| %s | %.1f | %.1f | %.1f | %.1f |", kind.name, ms(p(50)), ms(p(95)), ms(p(99)), float64(hits)/float64(queries))
			require.Less(t, p(95), patience)
		})
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}

// searched is a kind of search.
type searched struct {
	name  string
	text  func(r *rand.Rand) string
	finds bool
}

// kinds are the texts that customers quote from the rows of seed.
func kinds(rows int, now time.Time) []searched {
	some := func(r *rand.Rand) int { return 1 + r.IntN(rows) }
	day := func(r *rand.Rand) string { return now.AddDate(0, 0, -1-r.IntN(manyDays-3)).Format(time.DateOnly) }
	price := func(r *rand.Rand) string {
		p := popular[r.IntN(len(popular))]
		return fmt.Sprintf("%d.%02d", p/100, p%100)
	}
	letters := strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8", "i", "9", "j")
	numbered := func(n int) string { return "word" + letters.Replace(strconv.Itoa(n)) }
	word := func(r *rand.Rand) string { return numbered(int(vocabulary * r.Float64())) }
	often := func(r *rand.Rand) string { return numbered(r.IntN(20)) }
	return []searched{
		{"an order's id", func(r *rand.Rand) string { return "W-" + strconv.Itoa(1_000_000_000+some(r)) }, true},
		{"the same in another case, behind a #", func(r *rand.Rand) string { return "#w-" + strconv.Itoa(1_000_000_000+some(r)) }, true},
		{"the beginning of an order's id", func(r *rand.Rand) string { return "W-" + strconv.Itoa(1_000_000_000 + some(r))[:8] }, true},
		{"two letters that all orders begin with", func(*rand.Rand) string { return "W-" }, true},
		{"a customer with a thousand orders", func(r *rand.Rand) string { return "big-" + strconv.Itoa(r.IntN(max(1, rows/5000))) }, true},
		{"a customer with few", func(r *rand.Rand) string { return "usual-" + strconv.Itoa(r.IntN(max(1, rows/100))) }, false},
		{"the provider's id of a payment", func(r *rand.Rand) string { return "pi_" + strconv.Itoa(some(r)) }, true},
		{"the key of a refused press", func(r *rand.Rand) string { return "press-" + strconv.Itoa(10*(1+r.IntN(rows/10))) }, true},
		{"an amount with a currency and a day", func(r *rand.Rand) string { return price(r) + " EUR " + day(r) }, true},
		{"an amount with a day", func(r *rand.Rand) string { return price(r) + " " + day(r) }, true},
		{"about an amount with a day", func(r *rand.Rand) string { return "about " + price(r) + " eur " + day(r) }, true},
		{"an amount without a day", func(r *rand.Rand) string { return "€" + price(r) }, true},
		{"the last four digits", func(r *rand.Rand) string { return fmt.Sprintf("%04d", r.IntN(10_000)) }, false},
		{"a word of the description, any of 5,000", word, false},
		{"one of the twenty most common words", often, true},
		{"a word and a common one", func(r *rand.Rand) string { return word(r) + " " + often(r) }, false},
		{"two common words", func(r *rand.Rand) string { return often(r) + " " + often(r) }, false},
		{"a word of one order", func(r *rand.Rand) string { return "inv" + strconv.Itoa(some(r)) }, true},
		{"an amount and one of the twenty most common words", func(r *rand.Rand) string { return price(r) + " EUR " + often(r) }, true},
		{"an amount in any currency and any word", func(r *rand.Rand) string { return price(r) + " " + word(r) }, false},
		{"about an amount and any word", func(r *rand.Rand) string { return "about " + price(r) + " eur " + word(r) }, false},
		{"any amount and any word", func(r *rand.Rand) string {
			return fmt.Sprintf("%d.%02d EUR %s", 1+r.IntN(400), r.IntN(100), word(r))
		}, false},
		{"any amount and a common word", func(r *rand.Rand) string {
			return fmt.Sprintf("%d.%02d EUR %s", 1+r.IntN(400), r.IntN(100), often(r))
		}, false},
		{"an amount with a day and any word", func(r *rand.Rand) string { return price(r) + " EUR " + day(r) + " " + word(r) }, false},
		{"an amount and a customer with a thousand orders", func(r *rand.Rand) string {
			return price(r) + " EUR big-" + strconv.Itoa(r.IntN(max(1, rows/5000)))
		}, false},
		{"what nothing has", func(r *rand.Rand) string { return "nothing-like-" + strconv.Itoa(r.IntN(1_000_000)) }, false},
	}
}

// vocabulary is how many words descriptions are made of, the lower ones more often; popular are prices that half of the orders have.
const vocabulary = 5000

var popular = []int{499, 999, 1499, 1999, 2499, 2999, 3999, 4999, 5999, 7999, 9900, 9999, 12_900, 14_999, 19_999, 24_900}

// seed fills a database; its indexes are built afterwards.
func seed(t *testing.T, conn *pgx.Conn, rows int) {
	t.Helper()
	const tables = `('orders', 'payment_attempts', 'attempt_references', 'provider_events', 'attempt_log', 'search_orders', 'search_payments')`
	prices := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(popular)), ","), "[]")
	of := fmt.Sprintf(" FROM generate_series(1, %d) i", rows)
	at := fmt.Sprintf("(timestamptz '%s' - (%d - i) * interval '%d days' / %d)", time.Now().UTC().Format(time.DateTime+"Z"), rows, manyDays, rows)
	// An id of ours begins with its time.
	id := "(lpad(to_hex((extract(epoch FROM " + at + ") * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(i), 15, '0'))::uuid"
	random := func(salt string) string { return "(hashint8extended(i, " + salt + ") & 1048575) / 1048576.0" }
	user := fmt.Sprintf(`CASE i %% 10 WHEN 0 THEN 'big-' || i / 10 %% %d WHEN 1 THEN 'big-' || i / 10 %% %d WHEN 2 THEN 'usual-' || i / 10 %% %d
		WHEN 3 THEN 'usual-' || i / 10 %% %d ELSE 'once-' || i END`, max(1, rows/5000), max(1, rows/5000), max(1, rows/100), max(1, rows/100))
	amount := "CASE WHEN " + random("1") + " < 0.5 THEN (ARRAY[" + prices + "])[1 + (" + random("2") + " * 16)::int % 16] ELSE 100 + (" + random("2") + " * 40000)::int END"
	currency := "(ARRAY['EUR','EUR','EUR','EUR','EUR','EUR','EUR','USD','GBP','JPY'])[1 + (" + random("3") + " * 10)::int % 10]"
	word := func(salt string) string {
		return fmt.Sprintf("'word' || translate((%d * power(%s, 3))::int::text, '0123456789', 'abcdefghij')", vocabulary, random(salt))
	}
	run := func(statement string) {
		t.Helper()
		began := time.Now()
		_, err := conn.Exec(context.WithoutCancel(t.Context()), statement)
		require.NoError(t, err, statement)
		if rows > fewRows {
			t.Logf("%.0fs %.60q", time.Since(began).Seconds(), statement[strings.LastIndex(statement, "; ")+1:])
		}
	}
	run(`SET session_replication_role = replica; SET statement_timeout = 0; SET synchronous_commit = off`)
	for _, fill := range []string{
		`TRUNCATE orders, payment_attempts, attempt_references CASCADE; INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, description, metadata, created_at, updated_at)
			SELECT 'W-' || 1000000000 + i, ` + user + `, 'r' || i, '\x01', ` + amount + `, ` + currency + `, 'Order of ' || ` + word("4") + ` || ' and ' || ` + word("5") + `,
				jsonb_build_object('invoice', 'INV' || i, 'campaign', ` + word("6") + `), ` + at + `, ` + at + of,
		`TRUNCATE payment_attempts CASCADE; INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, provider_payment_id, status, stage, amount, currency,
				created_at, updated_at, finalized_at)
			SELECT 'W-' || 1000000000 + i, ` + id + `, ` + user + `, 'pay-' || i, '\x01', 'acc', 'pi_' || i, CASE WHEN i % 7 = 0 THEN 'failed' ELSE 'succeeded' END::attempt_status, 'final',
				` + amount + `, ` + currency + `, ` + at + `, ` + at + `, ` + at + of,
		`TRUNCATE attempt_references; INSERT INTO attempt_references SELECT 'acc', 'pi_' || i, 'W-' || 1000000000 + i, ` + id + of,
		`TRUNCATE provider_events; INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs, order_id, attempt_id, verdict, received_at)
			SELECT ` + id + `, 'acc', 'evt_' || i, false, 't', 'succeeded', '\x01', '{}', ARRAY['pi_' || i], 'W-' || 1000000000 + i, ` + id + `,
				CASE WHEN i % 1000 = 0 THEN 'foreign' ELSE 'applied' END, ` + at + of,
		`TRUNCATE attempt_log; INSERT INTO attempt_log (order_id, entry_id, attempt_id, kind, what, key, at, until)
			SELECT 'W-' || 1000000000 + i, ` + id + `, ` + id + `, CASE WHEN i % 10 = 0 THEN 'refused' ELSE 'call' END, 'pay', 'press-' || i, ` + at + `, ` + at + of + ` WHERE i % 10 < 2`,
		`TRUNCATE search_orders; INSERT INTO search_orders
			SELECT 'W-' || 1000000000 + i, ` + at + `, ARRAY['=w-' || 1000000000 + i, '@' || ` + user + `, (1000000000 + i)::text, 'order', 'of', 'and', ` + word("4") + `, ` + word("5") + `,
				` + word("6") + `, 'inv' || i]` + of,
		`TRUNCATE search_payments; INSERT INTO search_payments SELECT ` + id + `, 'W-' || 1000000000 + i, (` + at + ` AT TIME ZONE 'UTC')::date, ` + amount + `, ` + currency + `, ` + at + `,
				lpad((` + random("7") + ` * 9999)::int::text, 4, '0')` + of,
	} {
		empty, insert, _ := strings.Cut(fill, "; ")
		run(empty + `; UPDATE pg_index SET indisready = false, indisvalid = false FROM pg_class c WHERE c.oid = indrelid AND c.relname IN ` + tables + `; ` + insert)
	}
	for table := range strings.FieldsSeq(strings.NewReplacer("(", "", ")", "", "'", "", ",", "").Replace(tables)) {
		run(`SET maintenance_work_mem = '512MB'; REINDEX TABLE ` + table)
		run(`VACUUM ANALYZE ` + table)
	}
}

// BenchmarkCopy measures the cost of the copy for the search, for an order with a payment and a webhook.
//
//nolint:dupword // it is SQL
func BenchmarkCopy(b *testing.B) {
	const items = 5000
	url := testdb.New(b)
	conn, err := pgx.Connect(b.Context(), url)
	require.NoError(b, err)
	defer conn.Close(context.WithoutCancel(b.Context()))
	_, err = conn.Exec(b.Context(), fmt.Sprintf(`INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, description, metadata, created_at, updated_at)
			SELECT 'W-' || i, 'u' || i, 'r' || i, '\x01', 1000, 'EUR', 'Order of shirt ' || i, '{"campaign": "summer sale"}', now() - make_interval(secs => %[1]d - i), now() FROM generate_series(1, %[1]d) i;
		INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, created_at, updated_at, finalized_at)
			SELECT order_id, gen_random_uuid(), user_id, 'p', '\x01', 'acc', 'succeeded', 'final', amount, currency, created_at, created_at, created_at FROM orders;
		INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs, order_id, attempt_id, verdict, received_at)
			SELECT (lpad(to_hex(row_number() OVER ()), 12, '0') || substr(md5(order_id), 13))::uuid, 'acc', 'evt-' || order_id, false, 'paid', 'succeeded', '\x01', '{}', '{}',
				order_id, attempt_id, 'applied', created_at FROM payment_attempts;
		`, items))
	require.NoError(b, err)
	store, err := postgres.Open(b.Context(), url)
	require.NoError(b, err)
	store.SealWith(envelopetest.Box(b), time.Now)
	defer store.Close()
	envelopetest.PutAll(b, conn, store.Keys(), `{"card": {"last4": "4242"}, "padding": "`+strings.Repeat("x", 1500)+`"}`)
	_, err = conn.Exec(b.Context(), "VACUUM ANALYZE")
	require.NoError(b, err)
	index := finder.NewIndex(store.Finder()).Without()
	for b.Loop() {
		_, err := conn.Exec(b.Context(), `TRUNCATE search_orders, search_payments; UPDATE search_cursors SET at = '0001-01-01', id = ''`)
		require.NoError(b, err)
		for more := true; more; {
			more, err = index.Copy(b.Context())
			require.NoError(b, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*items), "µs/order")
}
