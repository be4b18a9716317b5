package e2e_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// takenBack is an order whose first payment was captured and reversed, and whose second payment was charged back in part.
func (s *demoShop) takenBack(t *testing.T) string {
	t.Helper()
	first := s.bought(t, unique("o"), "tok_decline")
	second := s.customer().pay(t.Context(), first.OrderID, unique("pay"), "tok_success").attempt(t, http.StatusCreated)
	s.refunded(t, second.ID)
	for _, m := range []struct {
		attempt, kind string
		minor         int
	}{{first.ID, "capture", 1999}, {first.ID, "capture_reversal", 1999}, {second.ID, "chargeback", 700}} {
		_, err := s.db.Exec(t.Context(), `INSERT INTO money_movements (order_id, attempt_id, number, account, kind, source, provider_id, amount, currency, cause, recorded_at)
			SELECT a.order_id, a.attempt_id, (SELECT count(*) + 1 FROM money_movements n WHERE n.attempt_id = a.attempt_id), a.account, $2, 'named', gen_random_uuid()::text, $3, 'EUR', 'webhook', now() FROM payment_attempts a WHERE attempt_id = $1`,
			m.attempt, m.kind, m.minor)
		require.NoError(t, err)
		_, err = s.db.Exec(t.Context(), `UPDATE payment_attempts SET amount_disputed = amount_disputed + CASE $2 WHEN 'chargeback' THEN $3 ELSE 0 END,
			version = version + 1 WHERE attempt_id = $1`, m.attempt, m.kind, m.minor)
		require.NoError(t, err)
	}
	return first.OrderID
}

// TestTheOrderShowsWhatWasTakenBack, of all its payments and apart from refunds, in the picture, its text and the list below it.
func TestTheOrderShowsWhatWasTakenBack(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	order := s.takenBack(t)
	page := signedIn(t, s.base, "sam", "support").get("/support/orders?id=" + order)
	require.Contains(t, string(page.text), "€19.99 asked; €19.99 captured: €7.99 left, €5.00 refunded, €7.00 charged back; €19.99 reversed by the provider.")
	for _, want := range []string{"refunded €5.00", "charged back €7.00", "reversed by the provider €19.99", "left €7.99"} {
		require.Contains(t, page.page(), want)
	}
	t.Run("in a browser", func(t *testing.T) {
		t.Parallel()
		b := newTab(t)
		b.signIn(s.base, token("sam", "support"))
		for _, width := range []int64{360, 1280} {
			b.do(chromedp.EmulateViewport(width, 900))
			for _, dark := range []bool{true, false} {
				b.open(s.base + "/support/orders?id=" + order)
				b.accessible("order")
				b.dark(dark)
				require.LessOrEqual(t, int64(b.width()), width)
				b.picture("order-" + map[bool]string{true: "dark-", false: "light-"}[dark] + map[bool]string{true: "phone", false: "wide"}[width == 360])
			}
		}
	})
}
