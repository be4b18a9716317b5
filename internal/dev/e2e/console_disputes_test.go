package e2e_test

import (
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The dispute with the earliest due date comes first, and shows the remaining time.
func TestConsoleDisputes(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	a := s.bought(t, unique("o"), "tok_success")
	before := time.Now()
	s.disputed(t, a)
	sam := signedIn(t, s.base, "sam", "support")
	shown := func(query string) []string {
		page := sam.get("/support/disputes" + query)
		page.is(t, http.StatusOK)
		return regexp.MustCompile(`dp_\w+`).FindAllString(page.page(), -1)
	}
	require.Equal(t, []string{"dp_over", "dp_sent", "dp_soon", "dp_undated"}, shown(""))
	require.Equal(t, []string{"dp_over", "dp_sent", "dp_soon"}, shown("?account=sandbox"))
	require.Equal(t, []string{"dp_soon", "dp_undated"}, shown("?status=open"))
	require.Equal(t, []string{"dp_won"}, shown("?status=won"))
	require.Empty(t, shown("?status=lost"))
	sam.get("/support/disputes?status=gone").is(t, http.StatusUnprocessableEntity)
	page := sam.get("/support/disputes")
	for _, want := range []string{
		"the provider's code fraudulent", "Amount not stated overdue for 26 hours", "€7.00 the provider decides", "€5.00 2 days left", "€3.00 no date is known", "Order " + a.OrderID,
	} {
		require.Contains(t, page.page(), want)
	}
	require.Contains(t, string(page.text), `href="/support/attempts/`+a.ID+`"`)
	first := sam.get("/support/attempts/" + a.ID).page()
	require.Regexp(t, `Inquiry: the customer's bank asks the shop for information; the deadline was \d+ \w+ \d+, \d\d:\d\d UTC, (yesterday|2 days ago); `+
		`disputed and under review: the provider has the shop's answer about €7\.00 and decides; `+
		`disputed: the customer's bank asks the shop for an answer about €5\.00 until \d+ \w+ \d+, \d\d:\d\d UTC, in [23] days; `+
		`disputed: the customer's bank asks the shop for an answer about €3\.00; the provider states no deadline\. The payment of`, first)
	found := sam.get("/support?" + formOf("q", "dp_soon"))
	found.is(t, http.StatusSeeOther)
	require.Equal(t, "/support/attempts/"+a.ID, found.header.Get("Location"))
	require.Contains(t, s.deeds(t, "sam"), "listDisputes.view account=sandbox done ")

	counted := client{base: s.base}.send(t.Context(), http.MethodGet, "/metrics", "")
	counted.is(t, http.StatusOK)
	require.Regexp(t, `paylatch_disputes_open\{account="sandbox"\} 3\n`, string(counted.text))
	due := regexp.MustCompile(`paylatch_dispute_due_seconds\{account="sandbox"\} (\S+)`).FindSubmatch(counted.text)
	require.NotNil(t, due, "%s", counted.text)
	seconds, err := strconv.ParseFloat(string(due[1]), 64)
	require.NoError(t, err)
	const over = -(26*3600 + 30*60)
	require.LessOrEqual(t, seconds, over+5.0, "for 26 hours and a half")
	require.GreaterOrEqual(t, seconds, over-5-time.Since(before).Seconds())
	require.NotContains(t, string(counted.text), `paylatch_dispute_due_seconds{account="other"}`)
}

// disputed makes disputes of a payment in every state that the page distinguishes.
func (s *demoShop) disputed(t *testing.T, a attempt) {
	t.Helper()
	_, err := s.db.Exec(t.Context(), `INSERT INTO disputes (order_id, dispute_id, attempt_id, account, provider_dispute_id, status, reason, amount, currency,
			due_by, opened_at, version, updated_at, closed_at)
		SELECT a.order_id, gen_random_uuid(), a.attempt_id, n.account, n.name, n.status, 'fraudulent', n.amount, CASE WHEN n.amount IS NOT NULL THEN 'EUR' END,
			now() + n.due::interval, now(), 1, now(), CASE n.status WHEN 'won' THEN now() END
		FROM payment_attempts a, (VALUES ('dp_undated', 'open', 300, NULL, 'other'), ('dp_soon', 'open', 500, '2 days 12:00', 'sandbox'),
			('dp_over', 'warning', NULL, '-26:30', 'sandbox'), ('dp_sent', 'under_review', 700, '1 hour', 'sandbox'), ('dp_won', 'won', 900, '1 hour', 'sandbox'))
			n (name, status, amount, due, account)
		WHERE a.attempt_id = $1`, a.ID)
	require.NoError(t, err)
}
