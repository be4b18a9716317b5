package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// booked makes the books of a payment in the month before: an explained payout, one that differs, a fee of the account, and a payment of
// others. It returns the month, and the ids of the payouts.
func (s *demoShop) booked(t *testing.T, a attempt) (month, explained, differing string) {
	t.Helper()
	from := time.Now().UTC().AddDate(0, 0, 1-time.Now().UTC().Day()).AddDate(0, -1, 0)
	month = from.Format("2006-01")
	for _, sql := range []string{
		`INSERT INTO settlements (account, entry_id, order_id, attempt_id, kind, movement_id, payment, amount, currency, fee, net, balance_currency, payout_id, at, recorded_at)
			SELECT account, 'txn_1', order_id, attempt_id, 'capture', '', 'pp', 1999, 'EUR', 88, 1911, 'EUR', 'po_whole', $2::timestamptz, now() FROM payment_attempts WHERE attempt_id = $1
			UNION ALL SELECT account, 'txn_2', order_id, attempt_id, 'refund', 're_1', 'pp', 500, 'EUR', 0, -500, 'EUR', '', $2::timestamptz, now() FROM payment_attempts WHERE attempt_id = $1`,
		`INSERT INTO account_entries (account, entry_id, kind, payment, amount, currency, fee, net, balance_currency, payout_id, at, recorded_at)
			SELECT account, 'txn_fee', 'fee', '', 0, '', 0, -25, 'EUR', 'po_less', $2::timestamptz, now() FROM payment_attempts WHERE attempt_id = $1
			UNION ALL SELECT account, 'txn_of_others', 'capture', 'pay_of_others', 700, 'EUR', 0, 700, 'EUR', 'po_less', $2::timestamptz, now() FROM payment_attempts WHERE attempt_id = $1`,
		`INSERT INTO payouts (payout_id, account, provider_payout_id, amount, currency, status, arrives_on, created_at, updated_at)
			SELECT gen_random_uuid(), account, name, minor, 'EUR', 'paid', $2::timestamptz::date + 2, now(), now()
			FROM payment_attempts, (VALUES ('po_whole', 1911), ('po_less', 650)) n (name, minor) WHERE attempt_id = $1`,
		`INSERT INTO money_movements (order_id, attempt_id, number, account, kind, source, payment, provider_id, amount, currency, cause, at, recorded_at)
			SELECT order_id, attempt_id, 9, account, 'capture', 'named', 'pp', 'month', 1999, 'EUR', 'webhook', $2::timestamptz, now() FROM payment_attempts WHERE attempt_id = $1`,
	} {
		_, err := s.db.Exec(t.Context(), sql, a.ID, from)
		require.NoError(t, err)
	}
	id := `SELECT payout_id::text FROM payouts WHERE provider_payout_id = $1`
	return month, one[string](t, s.rig, id, "po_whole"), one[string](t, s.rig, id, "po_less")
}

// The page of a month has the sums of each account, explains each payout to the cent, names what it can't explain, and leads to the rows.
func TestConsoleMonth(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	a := s.bought(t, unique("o"), "tok_success")
	month, whole, less := s.booked(t, a)
	first, err := time.Parse("2006-01", month)
	require.NoError(t, err)
	sam := signedIn(t, s.base, "sam", "support")
	page := sam.get("/support/month")
	page.is(t, http.StatusOK)
	for _, want := range []string{
		// captured, refunded, charged back, fees, reserves, without a payment, not booked, net, paid out, open
		"sandbox EUR €19.99 €0.00 €0.00 €1.13 €0.00 €7.00 €5.00 €20.86 €25.86 -€5.00",
		"po_whole €19.11 paid The amount is the sum of 1 entry.", "po_less €6.50 paid €0.00 from payments that paylatch has. €6.75 from entries without a payment in paylatch. -€0.25 not explained by any entry.",
		"fee txn_fee -€0.25 po_less", "capture txn_of_others pay_of_others €7.00 po_less", "paylatch journal --month " + month,
	} {
		require.Contains(t, page.page(), want)
	}
	for _, link := range []string{
		"/support/entries?payout_id=" + whole, "/support/entries?payout_id=" + less, "/support/entries?account=sandbox&amp;month=" + month,
		"/support/payments?account=sandbox&amp;created_from=" + month + "-01T00%3A00%3A00Z&amp;created_to=" + url.QueryEscape(first.AddDate(0, 1, 0).Format(time.RFC3339)) + "&amp;currency=EUR",
	} {
		require.Contains(t, string(page.text), `href="`+link)
	}
	require.Equal(t, page.page(), sam.get("/support/month?month="+month).page(), "without a month the last one that is over")
	this := sam.get("/support/month?month=" + time.Now().UTC().Format("2006-01"))
	this.is(t, http.StatusOK)
	require.Contains(t, this.page(), "The month is not over.")
	require.NotContains(t, string(this.text), `rel="next"`)
	empty := sam.get("/support/month?month=2020-02").page()
	for _, want := range []string{"February 2020", "January 2020", "March 2020", "No payment was captured, and the books have no entry.", "No payout is dated in this month.", "There are no such entries."} {
		require.Contains(t, empty, want)
	}
	day := sam.get("/support/month?day=" + month + "-01")
	day.is(t, http.StatusOK)
	for _, want := range []string{
		"sandbox EUR €19.99 €0.00 €0.00 €1.13 €0.00 €7.00 €5.00 €20.86 €25.86 -€5.00", "All accounts EUR €19.99 €0.00 €0.00 €1.13 €0.00 €7.00 €5.00 €20.86 €25.86 -€5.00",
		"A day of the time zone UTC",
	} {
		require.Contains(t, day.page(), want)
	}
	require.NotContains(t, day.page(), "The day is not over.")
	require.Contains(t, string(day.text), `href="/support/entries?account=sandbox&amp;day=`+month+`-01"`)
	require.Contains(t, sam.get("/support/entries?account=sandbox&day="+month+"-01").page(), "refund €5.00 €0.00 -€5.00 txn_2")
	require.NotContains(t, sam.get("/support/entries?account=sandbox&day="+month+"-02").page(), "txn_2")
	yesterday := "/support/month?day=" + time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	require.Contains(t, string(sam.get("/support").text), `href="`+yesterday+`"`)
	require.Contains(t, string(sam.get("/support/month").text), `href="`+yesterday+`"`)
	today := sam.get("/support/month?day=" + time.Now().UTC().Format(time.DateOnly))
	require.Contains(t, today.page(), "The day is not over.")
	require.NotContains(t, string(today.text), `rel="next"`)
	for _, bad := range []string{"2020-13-01", "x", "2999-01-01", ""} {
		sam.get("/support/month?day="+bad).is(t, http.StatusUnprocessableEntity)
	}
	for _, bad := range []string{"2020-13", "x", "2999-01"} {
		sam.get("/support/month?month="+bad).is(t, http.StatusUnprocessableEntity)
		sam.get("/support/entries?month="+bad).is(t, http.StatusUnprocessableEntity)
	}

	entries := sam.get("/support/entries?payout_id=" + whole)
	entries.is(t, http.StatusOK)
	require.Contains(t, entries.page(), "sandbox capture €19.99 €0.88 €19.11 txn_1 "+a.OrderID+" po_whole")
	require.Contains(t, string(entries.text), `href="/support/attempts/`+a.ID+`"`)
	require.NotContains(t, entries.page(), "txn_2")
	require.Contains(t, sam.get("/support/entries?payout_id="+less).page(), "fee txn_fee -€0.25 po_less")
	require.Contains(t, sam.get("/support/entries?account=sandbox&month="+month).page(), "refund €5.00 €0.00 -€5.00 txn_2")
	sam.get("/support/entries?payout_id="+strings.Repeat("0", 8)+"-0000-7000-8000-000000000000").is(t, http.StatusNotFound)
	sam.get("/support/entries?payout_id=x").is(t, http.StatusUnprocessableEntity)
	deeds := s.deeds(t, "sam")
	require.Contains(t, deeds, "month.view "+month+"-01 done ")
	require.Contains(t, deeds, "month.view "+month+" done ")
	require.Contains(t, deeds, "listSettlements.view payout_id="+whole+" done ")
}

// A person goes from month to month, and from a payout to its entries and to a payment; with a phone, too.
func TestAPersonClosesAMonth(t *testing.T) {
	t.Parallel()
	newTab(t)
	s := openConsole(t)
	a := s.bought(t, unique("o"), "tok_success")
	month, whole, less := s.booked(t, a)
	b := newTab(t)
	b.signIn(s.base, token("fin", "support"))
	b.click(`nav a[href="/support/month"]`)
	b.until(`location.pathname === "/support/month" && document.getElementById("payouts")`)
	require.Equal(t, "page", eval[string](b, `document.querySelector('nav a[href="/support/month"]').getAttribute("aria-current")`))
	before := eval[string](b, `document.querySelector("h1").innerText`)
	b.click(`a[rel="prev"]`)
	b.until(`document.querySelector("h1").innerText !== ` + quote(before))
	b.click(`a[rel="next"]`)
	b.until(`document.querySelector("h1")?.innerText === ` + quote(before))
	b.click(`a[href^="/support/month?day="]`)
	b.until(`new URLSearchParams(location.search).get("day") && document.querySelector("h1").innerText`)
	yesterday := eval[string](b, `document.querySelector("h1").innerText`)
	b.click(`a[rel="prev"]`)
	b.until(`document.querySelector("h1").innerText !== ` + quote(yesterday))
	b.click(`a[rel="next"]`)
	b.until(`document.querySelector("h1")?.innerText === ` + quote(yesterday))
	for name, path := range map[string]string{
		"month": "/support/month?month=" + month, "day": "/support/month?day=" + month + "-01", "empty-month": "/support/month?month=2020-02", "payout": "/support/entries?payout_id=" + less,
		"entries": "/support/entries?account=sandbox&month=" + month,
	} {
		b.open(s.base + path)
		b.accessible(name)
		require.LessOrEqual(t, b.width(), 360, "%s: nothing sticks out", name)
		b.picture(name + "-phone-dark")
	}
	b.do(chromedp.EmulateViewport(1280, 900))
	b.open(s.base + "/support/month?month=" + month)
	b.accessible("month, wide")
	b.picture("month-wide")
	b.click(`a[href="/support/entries?payout_id=` + whole + `"]`)
	b.until(`location.pathname === "/support/entries" && document.getElementById("settlements")`)
	b.click(`td a[href^="/support/orders"], th a[href="/support/attempts/` + a.ID + `"]`)
	b.until(`document.body.innerText.includes(` + quote(a.OrderID) + `) && location.pathname !== "/support/entries"`)
}
