package e2e_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/postgres/envelope/envelopetest"
)

// copied copies all present objects into the search's index, so that amounts, cards and words find them.
func (s *demoShop) copied(t *testing.T) {
	t.Helper()
	store, err := postgres.Open(t.Context(), s.db.Config().ConnString())
	require.NoError(t, err)
	store.SealWith(envelopetest.Box(t, "e2e"), time.Now)
	defer store.Close()
	_, err = finder.NewIndex(store.Finder()).Without().Copy(t.Context())
	require.NoError(t, err)
}

// The lists show what the API's lists do, by the same filters, and hand it out as a file.
func TestConsoleLists(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	paid := s.bought(t, unique("paid"), "tok_success")
	failed := s.bought(t, unique("failed"), "tok_declined")
	sam := signedIn(t, s.base, "sam", "support")
	shown := func(path string) string {
		page := sam.get(path)
		page.is(t, http.StatusOK)
		return page.page()
	}
	for path, want := range map[string][2]bool{ // whether it has the paid one, and the failed
		"/support/payments":                                         {true, true},
		"/support/orders":                                           {true, true},
		"/support/payments?status=failed":                           {false, true},
		"/support/payments?status=succeeded&user_id=u1":             {true, false},
		"/support/payments?user_id=nobody":                          {false, false},
		"/support/payments?stage=final&account=sandbox":             {true, true},
		"/support/payments?amount_from=19,99&currency=eur":          {true, true},
		"/support/payments?amount_from=20+EUR":                      {false, false},
		"/support/payments?amount_to=€19.98":                        {false, false},
		"/support/payments?created_to=2020-01-01":                   {false, false},
		"/support/payments?created_from=2020-01-01":                 {true, true},
		"/support/orders?status=paid":                               {true, false},
		"/support/orders?currency=USD":                              {false, false},
		"/support/orders?updated_from=2020-01-01&amount_to=20+euro": {true, true},
	} {
		text := shown(path)
		require.Equal(t, want, [2]bool{strings.Contains(text, paid.OrderID), strings.Contains(text, failed.OrderID)}, path)
	}
	for path, field := range map[string]string{
		"/support/payments?amount_from=20":        "amount_from",
		"/support/payments?amount_from=much+EUR":  "amount_from",
		"/support/payments?created_from=tomorrow": "created_from",
		"/support/payments?status=lost":           "status",
		"/support/orders?cursor=x":                "cursor",
	} {
		page := sam.get(path)
		page.is(t, http.StatusUnprocessableEntity)
		require.Contains(t, page.page(), field+":", path)
		require.Contains(t, string(page.text), `name="created_from"`, "the form is there again")
	}
	require.Contains(t, shown("/support/refunds"), "No refund matches.")

	file := sam.get("/support/payments.csv?status=failed&amount_from=1+EUR")
	file.is(t, http.StatusOK)
	require.Contains(t, file.header.Get("Content-Type"), "text/csv")
	lines, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(file.text), "\ufeff"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 2)
	require.Contains(t, lines[1], failed.ID)
	for _, path := range []string{"/support/orders.csv", "/support/refunds.csv"} {
		sam.get(path).is(t, http.StatusOK)
	}
	deeds := s.deeds(t, "sam")
	require.Contains(t, deeds, "listPaymentAttempts.view status=failed done ")
	require.Contains(t, deeds, "listPaymentAttempts.view status=failed&amount_from=1+EUR done ")
	require.Contains(t, deeds, "listOrders.view  done ")
	newPerson(t, s.base).get("/support/payments.csv").is(t, http.StatusSeeOther)
}

// A text that a customer quotes leads to the payment, even if it is no id.
func TestConsoleFindsWhatIsQuoted(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	order := "Quoted-" + unique("n")
	a := s.bought(t, order, "tok_success")
	_, err := s.db.Exec(t.Context(), `UPDATE orders SET description = 'Turquoise kettle' WHERE order_id = $1`, order)
	require.NoError(t, err)
	s.copied(t)
	sam := signedIn(t, s.base, "sam", "support")
	for _, quoted := range []string{strings.ToUpper(order), "#" + strings.ToLower(order), `"` + order + `"`, "19.99 EUR today", "about 20 euros today"} {
		require.Equal(t, "/support/attempts/"+a.ID, sam.get("/support?q="+url.QueryEscape(quoted)).header.Get("Location"), quoted)
	}
	require.Equal(t, "/support/orders?id="+order, sam.get("/support?q=turquoise+KETTLE").header.Get("Location"))
	s.bought(t, unique("other"), "tok_success")
	s.copied(t)
	page := sam.get("/support?q=19.99+EUR+today")
	page.is(t, http.StatusOK)
	require.Contains(t, page.page(), "Searched for: payments of 19.99 EUR on ")
	require.Contains(t, page.page(), "order "+order+" , customer u1 ,")
	sam.get("/support?q=4242+4242+4242+4242").is(t, http.StatusUnprocessableEntity)
}
