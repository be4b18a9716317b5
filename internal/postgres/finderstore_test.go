package postgres_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/envelope"
	"github.com/paylatch/paylatch/internal/postgres/envelope/envelopetest"
)

// bought makes an order with a succeeded payment, and a webhook of it.
//
//nolint:dupword // it is SQL
func bought(t *testing.T, conn *pgx.Conn, keys *envelope.Keys, nth int, order, user string, amount int, currency, description, metadata, body string, at time.Time) string {
	t.Helper()
	id := fmt.Sprintf("00000000-0000-7000-8000-%012d", nth)
	event := payment.OnlyCell.NewIDAt(at)
	_, err := conn.Exec(t.Context(), `WITH o AS (
		INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, description, metadata, created_at, updated_at)
		VALUES ($1, $2, 'r-' || $1, '\x01', $3, $4, $5, $6, $7, $7) RETURNING *
	), a AS (
		INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, created_at, updated_at, finalized_at)
		SELECT order_id, $8, user_id, 'pay-' || order_id, '\x01', 'acc', 'succeeded', 'final', amount, currency, created_at, created_at, created_at FROM o RETURNING *
	)
	INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs, order_id, attempt_id, verdict, received_at)
	SELECT $9, 'acc', 'evt-' || order_id, false, 'paid', 'succeeded', '\x01', '{"money": {"minor": 7, "currency": "EUR"}}', '{}', order_id, attempt_id, 'applied',
		created_at FROM a`, order, user, amount, currency, description, metadata, at, id, event)
	require.NoError(t, err)
	envelopetest.Put(t, conn, keys, event, body)
	return id
}

// finderShop is a database with some payments that were copied for the search.
func finderShop(t *testing.T) (url string, conn *pgx.Conn, ids []string) {
	t.Helper()
	url = testdb.New(t)
	conn = testdb.Connect(t, url)
	keys := enginetest.Store(t, url).Keys()
	noon := time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)
	for i, o := range []struct {
		order, user, currency, description, metadata, body string
		amount                                             int
		at                                                 time.Time
	}{
		{"W-1001", "Ann@example.com", "EUR", "Blue shirt", `{"campaign": "Summer sale"}`, `{"card": {"last4": "4242"}}`, 4999, noon},
		{"W-1002", "ben", "EUR", "Red shirt", `{}`, `pan=411111******1111&x=1`, 5000, noon.Add(24 * time.Hour)},
		{"W-1003", "ben", "JPY", "Kettle", `{"note": "blue one"}`, `{"a": 1}`, 4999, noon.Add(-time.Hour)},
		{"OrdeR-7", "cleo", "USD", "Hat", `{}`, `{"last4": "4242"}`, 4999, noon.Add(-12 * time.Hour)},
		{"W-900", "cleo", "EUR", "Hat", `{}`, `{"last4": "9999"}`, 4999, noon.Add(-30 * 24 * time.Hour)},
	} {
		ids = append(ids, bought(t, conn, keys, i, o.order, o.user, o.amount, o.currency, o.description, o.metadata, o.body, o.at))
	}
	_, err := conn.Exec(t.Context(), `INSERT INTO attempt_log (order_id, entry_id, attempt_id, kind, what, key, at, until)
		VALUES ('W-1001', gen_random_uuid(), $1, 'refused', 'pay', 'second-window', now(), now()), ('W-1002', gen_random_uuid(), NULL, 'refused', 'pay', 'third-Window', now(), now()),
			('W-1002', gen_random_uuid(), NULL, 'call', 'charge', 'a-call-of-ours', now(), now())`, ids[0])
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `INSERT INTO attempt_references VALUES ('acc', 'ref_1', 'W-1001', $1), ('acc', 'ref_12', 'W-1001', $1)`, ids[0])
	require.NoError(t, err)
	copied(t, url)
	return url, conn, ids
}

// copied copies all that there is for the search.
func copied(t *testing.T, url string) {
	t.Helper()
	index := finder.NewIndex(enginetest.Store(t, url).Finder()).Without()
	for more := true; more; {
		var err error
		more, err = index.Copy(t.Context())
		require.NoError(t, err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	url, _, ids := finderShop(t)
	desk := finderSearching(t, url)
	order := func(id, by string) string { return "order " + id + " by " + by }
	payment := func(nth int, by string) string { return "attempt " + ids[nth] + " by " + by }
	const both = "amount_and_words"
	for text, want := range map[string][]string{
		// Ids in any case, and with text around them.
		"w-1001":          {payment(0, "order_id"), order("W-1001", "order_id")},
		`"#W-1001"`:       {payment(0, "order_id"), order("W-1001", "order_id")},
		"ORDER-7":         {payment(3, "order_id"), order("OrdeR-7", "order_id")},
		"oRdEr-7":         {payment(3, "order_id"), order("OrdeR-7", "order_id")},
		"ann@EXAMPLE.com": {payment(0, "user_id"), order("W-1001", "user_id")},
		// Exactly one name and the beginning of another.
		"ref_1": {payment(0, "reference")},
		// A part of an id is a word of the order.
		"1001": {order("W-1001", "words")},
		// Amounts, by day and currency.
		"49.99 EUR 3 March 2026":    {payment(0, "amount")},
		"49,99 € 2026-02-01":        {payment(4, "amount")},
		"49.99 2026-03-03":          {payment(0, "amount"), payment(3, "amount")},
		"about 50 eur 3 March 2026": {payment(0, "amount")},
		"about 50 eur 4 March 2026": {payment(1, "amount")},
		"4999 yen 3 March 2026":     {payment(2, "amount")},
		"$49.99":                    {payment(3, "amount")},
		"49.99 EUR":                 {payment(0, "amount"), payment(4, "amount")},
		"49.99 EUR 7 March 2026":    nil,
		// A round amount that nobody paid is searched approximately.
		"49 EUR 3 March 2026": {payment(0, "amount")},
		// Days alone, and with words. A day is one of the shop's time zone, here UTC.
		"3 March 2026":                 {payment(0, "day"), payment(2, "day"), payment(3, "day")},
		"03/04/2026":                   {payment(1, "day")},
		"blue 3 March 2026":            {payment(0, "day_and_words"), payment(2, "day_and_words")},
		"blue hat 3 March 2026":        nil,
		"49.99 2026-03-03 card 4242":   {payment(0, "amount"), payment(3, "amount")},
		"49.99 2026-03-03 ending 9999": nil,
		// An amount with words, or with the id of an order or a customer, of one order.
		"49.99 shirt":                        {payment(0, both)},
		"shirt 49.99 EUR":                    {payment(0, both)},
		"about 50 EUR shirt":                 {payment(1, both), payment(0, both)},
		"about 50 eur red shirt":             {payment(1, both)},
		"49.99 EUR hat":                      {payment(4, both)},
		"$49.99 hat":                         {payment(3, both)},
		"49.99 EUR hat 2 March 2026":         nil,
		"49.99 EUR hat next friday":          {payment(4, both)},
		"49.99 USD hat 3 March 2026":         {payment(3, both)},
		"49.99 hat card 4242":                {payment(3, both)},
		"49.99 hat card 9999":                {payment(4, both)},
		"12.00 EUR shirt":                    nil,
		"49.99 EUR ann@EXAMPLE.com":          {payment(0, both)},
		"50 EUR ben":                         {payment(1, both)},
		"49.99 cleo":                         {payment(3, both), payment(4, both)},
		"49.99 cleo hat":                     {payment(3, both), payment(4, both)},
		"49.99 EUR #w-1001":                  {payment(0, both)},
		"49.99 EUR w-1001":                   {payment(0, both)},
		"50 EUR w-1001":                      {payment(0, both)},
		"60 EUR w-1001":                      nil,
		"4999 JPY blue kettle 3 March 2026":  {payment(2, both)},
		"49.99 EUR example shirt":            nil,
		"summer 49.99 EUR sale of the shirt": {payment(0, both)},
		// Cards.
		"4242":                   {payment(0, "card_last_four"), payment(3, "card_last_four")},
		"•••• 1111":              {payment(1, "card_last_four")},
		"card 4242 3 March 2026": {payment(0, "card_last_four"), payment(3, "card_last_four")},
		"card 4242 2 March 2026": nil,
		"1112":                   nil,
		// Keys of refused requests.
		"second-window":  {payment(0, "idempotency_key")},
		"third-Window":   {order("W-1002", "idempotency_key")},
		"third":          {order("W-1002", "idempotency_key")},
		"a-call-of-ours": nil,
		// Words.
		"shirt":       {order("W-1002", "words"), order("W-1001", "words")},
		"BLUE shirt":  {order("W-1001", "words")},
		"blue":        {order("W-1001", "words"), order("W-1003", "words")},
		"summer sale": {order("W-1001", "words")},
		"shir":        nil,
	} {
		found, err := desk.Search(t.Context(), finderClerk, finder.Query{Text: text})
		require.NoError(t, err, text)
		var got []string
		for _, h := range found.Hits {
			got = append(got, h.Type+" "+h.ID+" by "+h.Matched)
		}
		require.ElementsMatch(t, want, got, text)
		for _, h := range found.Hits {
			require.Equal(t, h.Matched == "idempotency_key", h.Key != "", text)
		}
		if text == "third" {
			require.Equal(t, "third-Window", found.Hits[0].Key)
		}
		if text == "ref_1" {
			require.Equal(t, finder.Exact, found.Hits[0].Rank, "what matches better counts")
		}
	}
}

// Exact matches come first, the rest by time, and each once on all pages.
func TestFind_pages(t *testing.T) {
	t.Parallel()
	url, conn, _ := finderShop(t)
	_, err := conn.Exec(t.Context(), `INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, description, created_at, updated_at)
		SELECT CASE i WHEN 1 THEN 'hat' ELSE 'hat-' || i END, CASE i % 10 WHEN 3 THEN 'HAT' ELSE 'u' END, 'r' || i, '\x01', 1000, 'EUR', CASE i % 2 WHEN 0 THEN 'a hat' ELSE '' END,
			'2026-01-01'::timestamptz + make_interval(hours => i / 5), now() FROM generate_series(1, 60) i`)
	require.NoError(t, err)
	copied(t, url)
	desk := finderSearching(t, url)
	for _, limit := range []string{"1", "7", "100"} {
		seen, cursor := []finder.Hit{}, ""
		for {
			page, err := desk.Search(t.Context(), finderClerk, finder.Query{Text: "hat", Cursor: cursor, Limit: limit})
			require.NoError(t, err)
			seen = append(seen, page.Hits...)
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		once := map[string]bool{}
		for i, h := range seen {
			require.False(t, once[h.ID], "%s twice, by %s", h.ID, h.Matched)
			once[h.ID] = true
			if i > 0 {
				before := seen[i-1]
				require.GreaterOrEqual(t, h.Rank, before.Rank)
				require.False(t, h.Rank == before.Rank && h.At.After(before.At))
			}
		}
		require.Len(t, seen, 60+2, "all that begin with it, and two by their words")
		require.Equal(t, finder.Exact, seen[6].Rank, "the order and six of the user")
		require.Equal(t, finder.Alike, seen[7].Rank)
	}
}

func TestFind_details(t *testing.T) {
	t.Parallel()
	url, conn, ids := finderShop(t)
	_, err := conn.Exec(t.Context(), `INSERT INTO refunds (order_id, refund_id, attempt_id, user_id, client_request_id, request_hash, account, provider_refund_id, status, amount, currency, created_at, updated_at)
		VALUES ('W-1001', '00000000-0000-7000-8000-0000000000ff', $1, 'service', 'rr', '\x01', 'acc', 're-W-1001', 'pending', 10, 'EUR', now(), now())`, ids[0])
	require.NoError(t, err)
	desk := finderSearching(t, url)
	for text, want := range map[string]string{
		"W-1001":     "order Ann@example.com 49.99 EUR paid",
		"re-W-1001":  "refund Ann@example.com 0.10 EUR pending",
		"evt-W-1001": "event Ann@example.com 0.07 EUR applied",
		"pay-W-1001": "attempt Ann@example.com 49.99 EUR succeeded",
		"kettle":     "order ben 4999 JPY paid",
	} {
		found, err := desk.Search(t.Context(), finderClerk, finder.Query{Text: text})
		require.NoError(t, err)
		h := found.Hits[0]
		require.Equal(t, want, fmt.Sprintf("%s %s %s %s", h.Type, h.User, h.Money, h.Status), text)
	}
}

// Several processes copy each item once. Items older than the copied ones are copied once after the source was set back.
func TestIndex(t *testing.T) {
	t.Parallel()
	url, conn, _ := finderShop(t)
	count := func() [3]int {
		return [3]int{
			testdb.One[int](t, conn, `SELECT count(*) FROM search_orders`), testdb.One[int](t, conn, `SELECT count(*) FROM search_payments`),
			testdb.One[int](t, conn, `SELECT count(*) FROM search_payments WHERE last_four <> ''`),
		}
	}
	require.Equal(t, [3]int{5, 5, 4}, count())
	bought(t, conn, enginetest.Store(t, url).Keys(), 77, "old", "u", 1, "EUR", "x", `{}`, `{"last4": "0001"}`, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	copied(t, url)
	require.Equal(t, [3]int{5, 5, 4}, count(), "it is older than the marks")
	_, err := conn.Exec(t.Context(), `UPDATE search_cursors SET at = '2020-01-01', id = ''`)
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 4 {
		index := finder.NewIndex(enginetest.Store(t, url).Finder()).Without()
		all.Go(func() {
			_, err := index.Copy(t.Context())
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, [3]int{6, 6, 5}, count())

	bought(t, conn, enginetest.Store(t, url).Keys(), 78, "young", "u", 1, "EUR", "x", `{}`, `{}`, time.Now())
	_, err = finder.NewIndex(enginetest.Store(t, url).Finder()).Copy(t.Context())
	require.NoError(t, err)
	require.Equal(t, [3]int{6, 6, 5}, count(), "an older one may be committed later")
}
