package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
)

// Each hit for an amount with words comes once on all pages, newest first, in both ways of searching. One word is in 6,000
// orders, and 300 of them have the amount. The amount is also in 900 other orders, and 60 of those have the other word.
//
//nolint:dupword // it is SQL
func TestFind_amount_with_words_pages(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn := testdb.Connect(t, url)
	_, err := conn.Exec(t.Context(), `WITH n AS (
			SELECT i, 'W-' || i AS id, CASE WHEN i <= 6000 THEN CASE i % 20 WHEN 0 THEN 1250 ELSE 999 END ELSE 1250 END AS amount,
				CASE WHEN i <= 6000 THEN 'Umbrella' WHEN i % 15 = 0 THEN 'Parasol' ELSE 'Hat' END AS description,
				now() - make_interval(mins => (i * 7919) % 6900) AS at
			FROM generate_series(1, 6900) i
		), o AS (
			INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, description, metadata, created_at, updated_at)
			SELECT id, 'u', id, '\x01', amount, 'EUR', description, '{}', at, at FROM n
		)
		INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, created_at, updated_at, finalized_at)
		SELECT id, gen_random_uuid(), 'u', 'p' || i, '\x01', 'acc', 'succeeded', 'final', amount, 'EUR', at, at, at FROM n`)
	require.NoError(t, err)
	copied(t, url)
	_, err = conn.Exec(t.Context(), "VACUUM ANALYZE")
	require.NoError(t, err)
	desk := finderSearching(t, url)
	for text, want := range map[string]int{"12.50 EUR umbrella": 300, "parasol 12.50": 60, "12.50 EUR u": 1200, "12.50 EUR umbrella parasol": 0, "parasol last 7 days": 60} {
		seen, cursor, before := map[string]bool{}, "", time.Now().Add(time.Hour)
		for {
			page, err := desk.Search(t.Context(), finderClerk, finder.Query{Text: text, Cursor: cursor, Limit: "70"})
			require.NoError(t, err)
			for _, h := range page.Hits {
				require.False(t, seen[h.ID], "%s: %s twice", text, h.ID)
				require.False(t, h.At.After(before), text)
				require.Equal(t, "12.50 EUR", h.Money.String())
				seen[h.ID], before = true, h.At
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		require.Equal(t, want, len(seen), text) //nolint:testifylint // a list of them is of no help
	}
}

// A text that may have no amount is words where nothing has the amount, on every page.
func TestFind_words_that_look_like_an_amount(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn := testdb.Connect(t, url)
	for i, description := range []string{"Shoe, size 9.5", "Shoe, size 10.5", "Shoe"} {
		bought(t, conn, enginetest.Store(t, url).Keys(), i, "W-"+string(rune('a'+i)), "u", 4999, "EUR", description, `{}`, `{}`, time.Now().Add(-time.Hour*time.Duration(i)))
	}
	copied(t, url)
	desk := finderSearching(t, url)
	found, err := desk.Search(t.Context(), finderClerk, finder.Query{Text: "10.5 shoe", Limit: "1"})
	require.NoError(t, err)
	require.Len(t, found.Hits, 1)
	require.Equal(t, "words", found.Hits[0].Matched)
	require.Contains(t, found.Understood, "orders with the words 10, shoe")
	var all []string
	for cursor := ""; ; {
		page, err := desk.Search(t.Context(), finderClerk, finder.Query{Text: "9.5 shoe", Limit: "1", Cursor: cursor})
		require.NoError(t, err)
		for _, h := range page.Hits {
			all = append(all, h.ID)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	require.Equal(t, []string{"W-a", "W-b", "W-c"}, all)
}
