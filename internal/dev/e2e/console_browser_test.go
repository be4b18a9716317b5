package e2e_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// signIn pastes a token into the sign-in page.
func (b *tab) signIn(base, bearer string) {
	b.t.Helper()
	b.open(base + "/support")
	b.until(`location.pathname === "/support/sign-in" && document.getElementById("token")`)
	b.fill("#token", bearer)
	b.click("main button")
	b.until(`location.pathname === "/support" && document.getElementById("search")`)
}

// fill pastes a text into a field.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.click(selector)
	b.focus(selector)
	b.paste(text)
}

// paste inserts a text as a paste from the clipboard does.
func (b *tab) paste(text string) {
	b.t.Helper()
	call(b, input.InsertText, input.InsertTextParams{Text: text})
}

// A person without experience of the console answers "was I charged twice?", refunds money and resolves the open discrepancies,
// by keyboard and mouse. All of it is in the audit log, and not in the program's own log.
func TestAPersonAnswersTheirFirstCustomer(t *testing.T) {
	t.Parallel()
	newTab(t) // fails with the reason if there is no browser
	s := openConsole(t)
	const key, reason, person = "key-that-a-customer-quotes", "reason-known-to-the-audit-log", "nora-from-support"
	order := "order-" + unique("n")
	a := s.course(t, order, key)
	late := s.late(t)
	bearer := token(person, "admin")
	b := newTab(t)
	b.signIn(s.base, bearer)

	b.until(`document.activeElement.id === "search"`) // by itself, once the page has loaded
	eval[any](b, `document.activeElement.blur()`)
	for _, kind := range []input.DispatchKeyEventType{"keyDown", "keyUp"} {
		call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: "/", Code: "Slash", Text: "/"})
	}
	b.until(`document.activeElement.id === "search"`)
	b.paste(order[:12])
	b.until(`[...document.querySelectorAll("#found a")].some((a) => a.innerText.startsWith("order-"))`)
	require.Equal(t, order[:12], eval[string](b, `new URL(location).searchParams.get("q")`))
	for _, quoted := range []string{a.ID, *a.ProviderPaymentID, key, order} {
		b.open(s.base + "/support")
		b.fill("#search", quoted)
		b.do(chromedp.KeyEvent("\r"))
		b.until(`location.pathname === "/support/attempts/` + a.ID + `" && document.getElementById("summary")`)
	}
	require.Contains(t, eval[string](b, `document.querySelector("main p:not(.outcome)").innerText`), "The customer was charged once for this order.", "the first paragraph is the answer")
	course := eval[string](b, `document.querySelector(".timeline").innerText`)
	for _, want := range []string{
		"The customer pressed Pay for €19.99.", "The customer pressed Pay again", "so the outcome was unknown",
		"that had been received before; nothing changed.", "A refund of €5.00 was requested.",
	} {
		require.Contains(t, course, want)
	}

	b.click(`#act a[href$="/refund"]`)
	b.until(`document.activeElement.id === "reason"`)
	require.Equal(t, "/support/attempts/"+a.ID, eval[string](b, "location.pathname"), "the form opens where it was asked for")
	b.paste(reason)
	eval[any](b, `document.getElementById("amount").value = "1.00"`)
	b.click("#form button")
	b.until(`document.querySelector(".sure")?.innerText.startsWith("This refunds €1.00 of €14.99")`)
	b.doubleClick("#form button")
	b.until(`document.querySelector(".outcome")?.innerText === "The refund of €1.00 is succeeded."`)
	require.Equal(t, []int64{500, 100}, column[int64](t, s.rig, `SELECT amount FROM refunds WHERE attempt_id = $1 ORDER BY created_at`, a.ID))

	b.open(s.base + "/support/discrepancies")
	b.click(".discrepancy a[role=button]")
	b.until(`location.pathname.endsWith("/resolve") && document.getElementById("reason")`)
	b.click(`input[value="accepted"]`)
	b.fill("#reason", reason)
	b.click("#form button")
	b.until(`document.querySelector(".outcome")?.innerText.startsWith("Resolved: late success")`)
	require.Equal(t, []string{person + " accepted"}, column[string](t, s.rig, `SELECT resolved_by || ' ' || resolution FROM discrepancies WHERE attempt_id = $1`, late.ID))

	b.open(s.base + "/support/audit?actor=" + person)
	log := eval[string](b, `document.querySelector(".timeline.audit").innerText`)
	for _, want := range []string{"search.view", "attempt.view", "createRefund", "discrepancies.view", "discrepancy.view", "discrepancy.resolve", reason, "127.0.0.1"} {
		require.Contains(t, log, want)
	}
	b.click(".out button")
	b.until(`location.pathname === "/support/sign-in" && document.body.innerText.includes("You are signed out.")`)
	code, _ := s.stop(t, syscall.SIGTERM)
	require.Zero(t, code)
	for _, hidden := range []string{key, reason, bearer, secret, "late-success", *a.ProviderPaymentID} {
		require.NotContains(t, s.stderr.String(), hidden)
	}
}

// TestWhatFailsInTheConsoleSaysSo: a search that fails leaves nothing standing that
// an earlier text has found, and an action that can't be shown is not silent.
func TestWhatFailsInTheConsoleSaysSo(t *testing.T) {
	t.Parallel()
	newTab(t)
	s := openConsole(t)
	a := s.bought(t, "order-"+unique("n"), "tok_success")
	s.bought(t, "order-"+unique("n"), "tok_success")
	b := newTab(t)
	b.signIn(s.base, token("ada", "admin"))
	typed := func(text string) {
		eval[any](b, `document.getElementById("search").value = ""`)
		b.focus("#search")
		b.paste(text)
	}
	rename := func(from, to string) {
		_, err := s.db.Exec(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to)
		require.NoError(t, err)
	}
	says := func(text string) {
		b.until(`document.getElementById("found").innerText.includes(` + quote(text) + `)`)
		require.Zero(t, eval[int](b, `document.querySelectorAll("#found a").length`), text)
	}
	b.until(`document.activeElement.id === "search"`) // by itself, once the page has loaded
	typed("order-")
	b.until(`document.querySelector("#found a")`)
	rename("staff_audit", "hidden")
	typed("order-n")
	says("An error occurred in paylatch.")
	rename("hidden", "staff_audit")
	typed("order-")
	b.until(`document.querySelector("#found a")`)
	typed(strings.Repeat("ü", 300))
	says("must be an id or its beginning")
	typed("order-")
	b.until(`document.querySelector("#found a")`)
	b.offline(true)
	typed("order-n")
	says("No answer came.")
	b.offline(false)

	b.open(s.base + "/support/attempts/" + a.ID)
	rename("staff_audit", "hidden")
	b.click(`#act a[href$="/refund"]`)
	b.until(`location.pathname.endsWith("/refund") && document.querySelector("[role=alert]")?.innerText.startsWith("An error occurred in paylatch.")`)
}

// hostile is the worst text in a merchant's data.
const hostile = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">\u202egnp.exe"

// TestHostileDataIsHarmless looks at an order whose names and metadata are made to break a page: no script runs, no text turns
// around, and no element sticks out.
func TestHostileDataIsHarmless(t *testing.T) {
	t.Parallel()
	newTab(t)
	s := openConsole(t)
	a := s.bought(t, unique("o"), "tok_success")
	long := strings.Repeat("x", 10<<10)
	_, err := s.db.Exec(t.Context(), `UPDATE orders SET description = $2, metadata = jsonb_build_object($1::text, $2::text, 'long', $3::text, 'words', $4::text) WHERE order_id = $5`,
		hostile, hostile, long, strings.Repeat("many words ", 1000), a.OrderID)
	require.NoError(t, err)
	c := client{base: s.base, token: token("sam", "support")}
	c.send(t.Context(), http.MethodPost, "/v1/support/attempts/"+a.ID+"/recheck", `{"reason":`+quote(hostile+long[:300])+`}`).is(t, http.StatusOK)
	b := newTab(t)
	b.signIn(s.base, token(`<b>"&\<script>`, "admin"))
	for _, path := range []string{"/support/orders?id=" + a.OrderID, "/support/attempts/" + a.ID, "/support/audit", "/support?" + formOf("q", hostile)} {
		b.open(s.base + path)
		require.NotEqual(t, "taken", eval[string](b, "document.title"), path)
		require.Zero(t, eval[int](b, `document.querySelectorAll("main script, main img, b").length`), path)
		require.LessOrEqual(t, b.width(), 360, "%s: nothing sticks out", path)
		require.Contains(t, eval[string](b, "document.body.innerText"), "<script>", path)
		require.True(t, eval[bool](b, `(() => {
			const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
			while (walk.nextNode()) if (walk.currentNode.data.includes("\u202e") && !walk.currentNode.parentElement.closest("bdi, pre[dir], option, textarea")) return false;
			return true;
		})()`), "%s: what turns text around is isolated", path)
		b.accessible(path)
	}
}

// TestEverybodyCanUseTheConsole runs axe-core on the listed pages at a phone's width, and on two of
// them at a desk's, and keeps pictures.
func TestEverybodyCanUseTheConsole(t *testing.T) {
	t.Parallel()
	newTab(t)
	s := openConsole(t)
	a := s.course(t, unique("o"), unique("key"))
	s.late(t)
	event := one[string](t, s.rig, `SELECT event_id::text FROM provider_events WHERE attempt_id = $1 ORDER BY received_at LIMIT 1`, a.ID)
	case1 := one[string](t, s.rig, `SELECT discrepancy_id::text FROM discrepancies LIMIT 1`)
	s.disputed(t, a)
	s.copied(t)
	b := newTab(t)
	b.open(s.base + "/support/sign-in")
	b.accessible("sign-in")
	b.picture("sign-in")
	b.signIn(s.base, token("ada", "admin"))
	for name, path := range map[string]string{
		"search": "/support", "found": "/support?q=u1", "none": "/support?q=nothing-like-it", "attempt": "/support/attempts/" + a.ID,
		"order": "/support/orders?id=" + a.OrderID, "event": "/support/events/" + event, "refund": "/support/attempts/" + a.ID + "/refund",
		"recheck": "/support/attempts/" + a.ID + "/recheck", "replay": "/support/events/" + event + "/replay", "worklist": "/support/discrepancies",
		"disputes": "/support/disputes", "payments": "/support/payments", "orders": "/support/orders?status=paid&currency=EUR", "refunds": "/support/refunds",
		"refused-filter": "/support/payments?amount_from=20", "quoted": "/support?q=about+20+euros+today",
		"resolve": "/support/discrepancies/" + case1 + "/resolve", "audit": "/support/audit", "missing": "/support/attempts/none",
	} {
		b.open(s.base + path)
		b.accessible(name)
		require.LessOrEqual(t, b.width(), 360, "%s: nothing sticks out", name)
		b.picture(name + "-phone-dark")
	}
	b.do(chromedp.EmulateViewport(1280, 900))
	b.open(s.base + "/support/payments?status=succeeded")
	b.accessible("payments, wide")
	b.picture("payments-wide")
	b.open(s.base + "/support/attempts/" + a.ID)
	b.accessible("attempt, wide")
	b.dark(false)
	b.picture("attempt-wide")
	b.do(chromedp.KeyEvent("\t"))
	require.Equal(t, "To the content", eval[string](b, "document.activeElement.innerText"), "the first Tab leads past the menu")

	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	require.Equal(t, "none", eval[string](b, `getComputedStyle(document.querySelector("header.top")).display`))
	require.NotEqual(t, "none", eval[string](b, `getComputedStyle(document.querySelector(".timeline .text")).display`))
	b.picture("attempt-print")
}

// TestTheConsoleWithoutScripts: search, forms and their confirmation are pages of
// their own then.
func TestTheConsoleWithoutScripts(t *testing.T) {
	t.Parallel()
	newTab(t)
	s := openConsole(t, "PAYLATCH_SILENT_AFTER=100ms", leftAlone)
	a := s.bought(t, unique("o"), "tok_never")
	b := scriptless(t)
	b.signIn(s.base, token("sam", "support"))
	require.Contains(t, eval[string](b, `document.querySelector(".warning").innerText`), "No webhook was ever received from sandbox, and a payment waits for a webhook.")
	b.fill("#search", a.OrderID)
	b.click(".find button")
	b.until(`location.pathname === "/support/attempts/` + a.ID + `"`)
	b.click(`#act a[href$="/recheck"]`)
	b.until(`location.pathname.endsWith("/recheck") && document.getElementById("reason")`)
	b.fill("#reason", "case 1")
	b.click("#form button")
	b.until(`document.querySelector(".outcome")?.innerText.startsWith("The status was re-checked.")`)
	require.Contains(t, s.deeds(t, "sam"), "attempt.recheck "+a.ID+" done case 1")
}
