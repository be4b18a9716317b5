package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestTheWorklistShowsWhatOthersDo: a person's input stays, with the focus, while the list around it changes.
func TestTheWorklistShowsWhatOthersDo(t *testing.T) {
	t.Parallel()
	newTab(t)
	s := openConsole(t)
	s.waiting(t, 4)
	ids := column[string](t, s.rig, `SELECT discrepancy_id::text FROM discrepancies ORDER BY opened_at`)
	pat := client{base: s.base, token: token("pat", "support")}
	does := func(id, what, body string) {
		pat.send(t.Context(), http.MethodPost, "/v1/support/discrepancies/"+id+what, body)
	}
	b := newTab(t)
	b.signIn(s.base, token("sam", "support"))
	b.open(s.base + "/support/discrepancies")
	b.until(`document.querySelectorAll("#cards article").length === 4`)
	require.Equal(t, "4", eval[string](b, `document.getElementById("waiting").innerText`))
	text := "#d-" + ids[1] + " textarea"
	b.click("#d-" + ids[1] + " summary")
	b.fill(text, "The customer calls ba")

	does(ids[0], "/resolve", `{"reason":"case 1","resolution":"accepted"}`)
	does(ids[1], "/assign", `{}`)
	does(ids[2], "/comments", `{"text":"<b>I</b> look at this"}`)
	b.until(`!document.getElementById("d-` + ids[0] + `")`)
	b.until(`document.querySelector("#d-` + ids[2] + ` summary").innerText.trim() === "1 comment"`)
	b.until(`document.querySelector("#d-` + ids[1] + ` .meanwhile")?.innerText.includes("assigned to pat")`)
	b.until(`document.getElementById("waiting").innerText === "3"`)
	b.paste("ck on Friday.")
	require.Equal(t, "The customer calls back on Friday.", eval[string](b, `document.querySelector("`+text+`").value`))
	b.accessible("worklist, changed meanwhile")
	b.picture("worklist-meanwhile-phone-dark")

	does(ids[1], "/resolve", `{"reason":"case 2","resolution":"accepted"}`)
	b.until(`document.querySelector("#d-` + ids[1] + ` .meanwhile")?.innerText.includes("not on the list any more")`)
	b.click("#d-" + ids[1] + " .say button")
	b.until(`document.querySelector(".outcome")?.innerText === "Your comment is stored."`)
	require.Equal(t, []string{"The customer calls back on Friday."}, column[string](t, s.rig, `SELECT text FROM worklist_comments WHERE author = 'sam'`))

	b.click("#d-" + ids[2] + " .assign button")
	b.until(`document.querySelector(".outcome")?.innerText.startsWith("This case is now assigned to you")`)
	b.until(`document.querySelector("#d-` + ids[2] + ` .assign button").innerText.startsWith("Unassign")`)
	b.click("#d-" + ids[2] + " summary")
	b.picture("worklist-phone-dark")
	require.LessOrEqual(t, b.width(), 360, "nothing sticks out")
	b.open(s.base + "/support/discrepancies/" + ids[2])
	b.accessible("one")
	b.picture("one-phone-dark")
	b.do(chromedp.EmulateViewport(1280, 900))
	b.dark(false)
	b.open(s.base + "/support/discrepancies?assignee=me")
	b.accessible("worklist, wide")
	b.picture("worklist-wide")

	require.Equal(t, 4, one[int](t, s.rig, `SELECT count(*)::int FROM staff_audit WHERE actor = 'sam' AND action = 'discrepancies.view'`), "a page is one entry, however often it has looked again")
}

// TestWhatAPageAsksByItself: a page's background requests do not extend the session, and are served to the viewer of the page.
func TestWhatAPageAsksByItself(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	s.waiting(t, 2)
	views := func() int {
		return one[int](t, s.rig, `SELECT count(*)::int FROM staff_audit WHERE action = 'discrepancies.view'`)
	}
	newPerson(t, s.base).get("/support/discrepancies/changes").is(t, http.StatusUnauthorized)
	sam := signedIn(t, s.base, "sam", "support")
	for want := range 2 {
		sam.get("/support/discrepancies/changes").is(t, http.StatusOK)
		require.Equal(t, want+1, views(), "without a page before it, it is a view like others")
	}
	page := sam.get("/support/discrepancies")
	seen, _, _ := strings.Cut(strings.SplitN(string(page.text), `data-digest="`, 2)[1], `"`)
	before := one[string](t, s.rig, `SELECT max(expiry)::text FROM sessions`)
	for range 3 {
		same := sam.get("/support/discrepancies/changes?seen=" + seen)
		same.is(t, http.StatusNoContent)
		require.Empty(t, same.text)
	}
	require.Equal(t, 3, views())
	require.Equal(t, before, one[string](t, s.rig, `SELECT max(expiry)::text FROM sessions`), "the idle time goes on")
	id := column[string](t, s.rig, `SELECT discrepancy_id::text FROM discrepancies LIMIT 1`)[0]
	taken := sam.post("/support/discrepancies/"+id+"/assign", "key", uuid.NewString(), "expected", "pat")
	taken.is(t, http.StatusConflict)
	require.Contains(t, taken.page(), "This case is no longer assigned")
	sam.post("/support/discrepancies/"+id+"/assign", "key", uuid.NewString(), "expected", "").is(t, http.StatusSeeOther)
	fresh := sam.get("/support/discrepancies/changes?seen=" + seen)
	fresh.is(t, http.StatusOK)
	require.NotContains(t, string(fresh.text), "<html")
	require.Contains(t, fresh.page(), "Assigned to you")
	pat := signedIn(t, s.base, "pat", "support")
	other := pat.post("/support/discrepancies/"+id+"/resolve", "key", uuid.NewString(), "expected", "", "resolution", "accepted", "reason", "case 1")
	other.is(t, http.StatusConflict)
	require.Contains(t, other.page(), "sam now has this case, so nothing was changed.")
	require.Equal(t, "sam", other.hidden(t, "expected"))
	pat.post("/support/discrepancies/"+id+"/resolve", "key", uuid.NewString(), "expected", "sam", "resolution", "accepted", "reason", "case 1").is(t, http.StatusSeeOther)
	again := sam.post("/support/discrepancies/"+id+"/resolve", "key", uuid.NewString(), "expected", "sam", "resolution", "refunded_elsewhere", "reason", "case 1")
	again.is(t, http.StatusConflict)
	require.Contains(t, again.page(), "already resolved in another way")
	same := sam.post("/support/discrepancies/"+id+"/resolve", "key", uuid.NewString(), "expected", "sam", "resolution", "accepted", "reason", "case 1")
	require.Contains(t, sam.followed(same).page(), "pat has already resolved this case in the same way")
}

// TestALateSuccessClosesItself once the shop has refunded it.
func TestALateSuccessClosesItself(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	a := s.late(t)
	how := func() string {
		return one[string](t, s.rig, `SELECT resolution || ' ' || resolved_by || ' ' || reason FROM discrepancies WHERE attempt_id = $1`, a.ID)
	}
	client{base: s.base, token: token("shop-backend", "service")}.send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+a.ID+"/refunds",
		`{"amount":1000}`, "Idempotency-Key: "+unique("refund"), "On-Behalf-Of: u1").is(t, http.StatusCreated)
	turn := one[int](t, s.rig, `SELECT fence::int FROM worklist_turns`)
	eventually(t, "two turns", func() bool { return one[int](t, s.rig, `SELECT fence::int FROM worklist_turns`) > turn+2 })
	require.Equal(t, "  ", how(), "9.99 EUR are held")
	client{base: s.base, token: token("shop-backend", "service")}.send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+a.ID+"/refunds",
		`{}`, "Idempotency-Key: "+unique("refund"), "On-Behalf-Of: u1").is(t, http.StatusCreated)
	eventually(t, "the end of it", func() bool { return how() == "settled paylatch All captured money has been refunded: 19.99 EUR." })
	page := signedIn(t, s.base, "sam", "support").get("/support/attempts/" + a.ID).page()
	require.Contains(t, page, "This needs no review any more. All captured money has been refunded: 19.99 EUR.")
}
