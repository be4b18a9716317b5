package e2e_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// today opens the first page of a shop that has sold something, once that is counted.
func (s *demoShop) today(t *testing.T, p *person, failed int) {
	t.Helper()
	eventually(t, "the payments to be counted", func() bool {
		return strings.Contains(string(p.get("/support").text), fmt.Sprintf("6 payments succeeded and %d failed in the last 24 hours", failed))
	})
}

// sold has six payments succeed and three fail.
func (s *demoShop) sold(t *testing.T) {
	t.Helper()
	for range 6 {
		s.bought(t, unique("o"), "tok_success")
	}
	for range 3 {
		s.bought(t, unique("o"), "tok_decline")
	}
}

// usual fills the hours of the last two weeks with the numbers of a shop that sells.
func (s *demoShop) usual(t *testing.T) {
	t.Helper()
	_, err := s.db.Exec(t.Context(), `
		INSERT INTO hourly_outcomes (hour, subject, account, currency, status, code, count, amount)
		SELECT date_trunc('hour', now()) - h * interval '1 hour', 'attempt', a, c, s, CASE s WHEN 'failed' THEN 'card_declined' ELSE '' END, n, n * 1999
		FROM generate_series(1, 335) h, unnest(ARRAY['bank-with-a-long-name', 'stripe-eu']) a, unnest(ARRAY['EUR', 'JPY']) c, unnest(ARRAY['succeeded', 'failed']) s,
			LATERAL (SELECT (CASE s WHEN 'failed' THEN CASE WHEN a = 'stripe-eu' AND h < 24 THEN 40 ELSE 8 END ELSE 90 + 60 * sin(h / 4.0) END)::int AS n) n`)
	require.NoError(t, err)
	_, err = s.db.Exec(t.Context(), `INSERT INTO hourly_outcomes VALUES (date_trunc('hour', now()) - interval '1 hour', 'refund', '', 'EUR', 'succeeded', '', 1234, 2468000)`)
	require.NoError(t, err)
}

// TestToday: the numbers are there without a script, equal the API's numbers, and each call is in the audit log.
func TestToday(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	s.sold(t)
	p := signedIn(t, s.base, "sam", "support")
	s.today(t, p, 3)
	page := p.get("/support").page()
	for _, want := range []string{"66.6 %", "€119.94", "Nothing is waiting.", "The outcomes of all provider calls are known.", "All providers work", "No endpoint is configured."} {
		require.Contains(t, page, want)
	}
	moved := p.get("/support/today")
	moved.is(t, http.StatusSeeOther)
	require.Equal(t, "/support", moved.header.Get("Location"))

	got := client{base: s.base, token: token("amy", "support")}.send(t.Context(), http.MethodGet, "/v1/support/overview", "")
	got.is(t, http.StatusOK)
	require.Contains(t, string(got.text), `"approval_by_account":[{"account":"sandbox","day":{"succeeded":6,"ended":9,"rate":0.66`)
	require.Equal(t, []string{"overview.view  done "}, s.deeds(t, "amy"))

	counted := string(client{base: s.base, blunt: true}.send(t.Context(), http.MethodGet, "/metrics", "").text)
	require.Contains(t, counted, `paylatch_attempts_total{account="sandbox",failure_code="",status="succeeded"} 6`)
	for _, name := range []string{"paylatch_commit_duration_seconds_count", `paylatch_batch_items_count{what="pays"}`, `paylatch_batch_items_count{what="results"}`, "paylatch_pool_waits_total"} {
		require.Regexp(t, "\n"+regexp.QuoteMeta(name)+" [1-9]", counted)
	}
}

// TestToday_renewed: a page that renews itself is no use of the session, and one look in the audit log.
func TestToday_renewed(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	p := signedIn(t, s.base, "sam", "support")
	ends := func() time.Time { return one[time.Time](t, s.rig, `SELECT expiry FROM sessions`) }
	p.get("/support").is(t, http.StatusOK)
	before := ends()
	for range 3 {
		renewed := p.get("/support/today", "HX-Request: true")
		renewed.is(t, http.StatusOK)
		require.True(t, strings.HasPrefix(strings.TrimSpace(string(renewed.text)), `<section id="today"`), "the numbers alone")
		require.Empty(t, renewed.header.Values("Set-Cookie"))
	}
	require.Equal(t, before, ends())
	require.Equal(t, 1, strings.Count(strings.Join(s.deeds(t, "sam"), "\n"), "overview.view"))
	p.get("/support").is(t, http.StatusOK)
	require.True(t, ends().After(before), "a page that is opened is a use")
}

// TestToday_inABrowser: open details stay open, and the focus stays, when the numbers renew themselves. Old numbers are marked.
// Pictures are kept.
func TestToday_inABrowser(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	s := openConsole(t)
	s.sold(t)
	s.late(t)
	s.today(t, signedIn(t, s.base, "ann", "support"), 4)
	s.usual(t)
	b.signIn(s.base, token("ada", "admin"))
	eventually(t, "the usual to be read", func() bool {
		b.open(s.base + "/support")
		return eval[bool](b, `document.getElementById("approval-currencies") !== null`)
	})
	require.Equal(t, "1,234", eval[string](b, `document.querySelectorAll(".tiles .figure")[document.querySelectorAll(".tiles .figure").length - 1].innerText`))
	b.accessible("today")
	require.LessOrEqual(t, b.width(), 360, "nothing sticks out")
	b.picture("today-phone-dark")
	renew := `htmx.ajax("GET", "/support/today", {source: "#today", target: "#today", swap: "outerHTML"})`
	b.click("#hours-more")
	b.until(`document.getElementById("hours-table").open`)
	b.picture("today-phone-hours")
	b.focus("#tile-cases")
	eval[any](b, `document.getElementById("today").dataset.old = "1"; `+renew)
	b.until(`!document.getElementById("today").dataset.old && document.getElementById("hours-table").open && document.activeElement.id === "tile-cases"`)
	b.do(chromedp.EmulateViewport(1280, 900))
	b.accessible("today, wide")
	b.dark(false)
	b.picture("today-wide")

	b.fill("#search", "o-")
	b.paste("nothing-like-it")
	b.until(`document.querySelector("#found p") && getComputedStyle(document.getElementById("today")).display === "none"`)
	b.open(s.base + "/support")
	b.offline(true)
	eval[any](b, renew+`.catch(() => {})`)
	b.until(`!document.getElementById("today-late").hidden`)
	b.offline(false)
	b.click("#case-late_success")
	b.until(`location.pathname === "/support/discrepancies" && document.querySelector(".discrepancy")`)
}
