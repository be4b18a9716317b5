package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// everyPage is each address of the console that is for staff; some of the named objects do not exist.
func everyPage() []string {
	id := uuid.NewString()
	return []string{
		"/support", "/support?q=A-1", "/support/today", "/support/", "/support/attempts/" + id, "/support/attempts/" + id + "/recheck", "/support/attempts/" + id + "/refund",
		"/support/orders?id=A-1", "/support/events/" + id, "/support/events/" + id + "/reveal", "/support/events/" + id + "/replay",
		"/support/discrepancies", "/support/discrepancies/" + id + "/resolve", "/support/audit", "/support/disputes", "/support/month", "/support/entries", "/support/no/such/page",
		"/support/endpoints", "/support/endpoints/shop", "/support/endpoints/shop/test", "/support/endpoints/shop/redeliver",
	}
}

func TestTheConsoleIsForThoseWhoSignedIn(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	t.Run("without a session", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s.base)
		for _, path := range everyPage() {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				a := p.send(method, path, "")
				if a.status == http.StatusMethodNotAllowed {
					continue
				}
				if path == "/support/today" && method == http.MethodGet { // a page's background request follows no redirect
					a.is(t, http.StatusUnauthorized)
					continue
				}
				a.is(t, http.StatusSeeOther)
				require.True(t, strings.HasPrefix(a.header.Get("Location"), "/support/sign-in"), "%s %s", path, a.header.Get("Location"))
			}
		}
		typed := p.get("/support?q=A-1", "HX-Request: true")
		typed.is(t, http.StatusUnauthorized)
		require.Equal(t, "/support/sign-in?to=%2Fsupport%3Fq%3DA-1", typed.header.Get("HX-Redirect"))
	})
	t.Run("with a token", func(t *testing.T) {
		t.Parallel()
		customer := client{base: s.base, token: token("u1", "customer"), blunt: true}
		status := s.bought(t, unique("o"), "tok_never").StatusToken
		for _, bearer := range []string{customer.token, token("shop", "service"), status, token("sam", "support"), "nonsense"} {
			for _, path := range append(everyPage(), "/support/sign-in", "/support/sign-in/begin", "/support/sign-in/callback") {
				for _, method := range []string{http.MethodGet, http.MethodPost} {
					a := client{base: s.base, token: bearer, blunt: true}.send(t.Context(), method, path, "")
					a.is(t, http.StatusForbidden)
					require.Empty(t, a.header.Values("Set-Cookie"))
				}
			}
		}
		for pasted, want := range map[string]int{
			customer.token: 403, token("shop", "service"): 403, status: 403, "nonsense": 401, "": 401, token("sam", "support") + "x": 401,
		} {
			p := newPerson(t, s.base)
			a := p.post("/support/sign-in", "token", pasted)
			a.is(t, want)
			p.get("/support").is(t, http.StatusSeeOther)
		}
	})
	t.Run("comes back to where it was", func(t *testing.T) {
		t.Parallel()
		for to, want := range map[string]string{
			"/support/discrepancies?status=resolved": "/support/discrepancies?status=resolved", "": "/support", "//evil.example": "/support",
			"https://evil.example/support": "/support", `/\evil.example`: "/support", `/support/\evil.example`: "/support", "/supportive": "/support",
			"/support/sign-in": "/support", "javascript:alert(1)": "/support", "/demo": "/support", "/support/..//evil.example": "/support", "/support/attempts/../../v1": "/support",
		} {
			p := newPerson(t, s.base)
			require.Equal(t, want, p.get("/support/sign-in?to="+formOf("", to)[1:]).hidden(t, "to"), to)
			a := p.post("/support/sign-in", "token", token("sam", "support"), "to", to)
			a.is(t, http.StatusSeeOther)
			require.Equal(t, want, a.header.Get("Location"), to)
		}
	})
	require.Zero(t, one[int](t, s.rig, `SELECT count(*) FROM staff_audit WHERE actor NOT IN ('sam')`))
}

func TestASessionEnds(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	p := newPerson(t, s.base)
	began := time.Now()
	a := p.post("/support/sign-in", "token", token("sam", "support"))
	a.is(t, http.StatusSeeOther)
	cookie := a.header.Get("Set-Cookie")
	for _, want := range []string{"paylatch_support=", "Path=/support", "HttpOnly", "SameSite=Lax"} {
		require.Contains(t, cookie, want)
	}
	value := strings.TrimPrefix(strings.Split(cookie, ";")[0], "paylatch_support=")
	as := func(value string) answer {
		return newPerson(t, s.base).get("/support", "Cookie: paylatch_support="+value)
	}
	as(value).is(t, http.StatusOK)
	require.Empty(t, column[string](t, s.rig, `SELECT token FROM sessions WHERE token = $1 OR encode(data, 'escape') LIKE '%' || $1 || '%'`, value), "the store can't sign anybody in")
	left := one[float64](t, s.rig, `SELECT extract(epoch FROM expiry - now())::float8 FROM sessions`)
	require.LessOrEqual(t, left, (30*time.Minute).Seconds()+1, "a session that is not used ends")
	require.GreaterOrEqual(t, left, (30*time.Minute-time.Since(began)).Seconds()-1)

	again := p.post("/support/sign-in", "token", token("sam", "support"))
	require.NotContains(t, again.header.Get("Set-Cookie"), value, "a sign-in has a new session")
	as(value).is(t, http.StatusSeeOther)
	fixed := newPerson(t, s.base).send(http.MethodPost, "/support/sign-in", formOf("token", token("sam", "support")), "Cookie: paylatch_support=chosen-by-another")
	require.NotContains(t, fixed.header.Get("Set-Cookie"), "chosen-by-another")

	value = strings.TrimPrefix(strings.Split(again.header.Get("Set-Cookie"), ";")[0], "paylatch_support=")
	out := p.post("/support/sign-out")
	out.is(t, http.StatusSeeOther)
	require.Contains(t, out.header.Get("Set-Cookie"), "Max-Age=0")
	as(value).is(t, http.StatusSeeOther)
	require.Contains(t, p.followed(out).page(), "You are signed out.")

	other := signedIn(t, s.base, "sam", "support")
	other.get("/support").is(t, http.StatusOK)
	_, err := s.db.Exec(t.Context(), "UPDATE sessions SET expiry = now() - interval '1 second'")
	require.NoError(t, err)
	other.get("/support").is(t, http.StatusSeeOther)
}

// TestASignOutEndsTheSessionOfAPageUnderWay: a page that was requested in another tab, and arrives after the sign-out, does not
// restore the session.
func TestASignOutEndsTheSessionOfAPageUnderWay(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	eventually(t, "a page that arrives", func() bool { // on a busy machine its statement may reach its time limit before the sign-out
		p := signedIn(t, s.base, "ada", "admin")
		p.blunt = true
		tx, err := s.db.Begin(t.Context())
		require.NoError(t, err)
		defer func() { _ = tx.Rollback(t.Context()) }()
		_, err = tx.Exec(t.Context(), "LOCK TABLE staff_audit")
		require.NoError(t, err)
		page := make(chan answer, 1)
		go func() { page <- p.get("/support/audit") }()
		eventually(t, "the page", func() bool {
			return len(page) > 0 || one[int](t, s.rig, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
		})
		out := p.post("/support/sign-out")
		require.NoError(t, tx.Rollback(t.Context()))
		got := <-page
		if out.status == http.StatusServiceUnavailable || got.status == http.StatusServiceUnavailable {
			return false
		}
		out.is(t, http.StatusSeeOther)
		got.is(t, http.StatusOK)
		p.blunt = false
		p.get("/support").is(t, http.StatusSeeOther)
		return true
	})
}

// TestASessionThatCantBeWrittenIsToldOnce: a finished command stays done, and its page must not deny it.
func TestASessionThatCantBeWrittenIsToldOnce(t *testing.T) {
	t.Parallel()
	s := openConsole(t, leftAlone)
	path := "/support/attempts/" + s.bought(t, unique("o"), "tok_never").ID
	p := signedIn(t, s.base, "sam", "support")
	key := p.get(path+"/recheck").hidden(t, "key")
	p.blunt = true
	_, err := s.db.Exec(t.Context(), "ALTER TABLE sessions ADD CONSTRAINT closed CHECK (false) NOT VALID")
	require.NoError(t, err)
	page, done := p.get(path), p.post(path+"/recheck", "key", key, "reason", "case 1")
	require.Contains(t, s.deeds(t, "sam"), "attempt.recheck "+strings.TrimPrefix(path, "/support/attempts/")+" done case 1")
	page.is(t, http.StatusInternalServerError)
	done.is(t, http.StatusServiceUnavailable)
	require.Equal(t, "2", done.header.Get("Retry-After"))
	for _, a := range []answer{page, done} {
		require.Equal(t, 1, strings.Count(strings.ToLower(string(a.text)), "<!doctype html>"), "%s", a.text)
		require.Empty(t, a.header.Get("Location"))
		require.Empty(t, a.header.Values("Set-Cookie"))
	}
	require.Contains(t, done.page(), "Your last command may have been executed: check that before you repeat it.")
	require.NotContains(t, done.page(), "was not executed")
	require.Contains(t, page.page(), "An error occurred in paylatch.")

	_, err = s.db.Exec(t.Context(), "ALTER TABLE sessions RENAME TO hidden")
	require.NoError(t, err)
	unread := p.post(path+"/recheck", "key", key, "reason", "case 2")
	unread.is(t, http.StatusInternalServerError)
	require.NotContains(t, unread.page(), "may have been executed")
	require.NotContains(t, strings.Join(s.deeds(t, "sam"), "\n"), "case 2")
}

// After any number of commands in a session, the page shows the result of the last.
func TestWhatCameOfTheLastFormIsShown(t *testing.T) {
	t.Parallel()
	s := openConsole(t, leftAlone)
	path := "/support/attempts/" + s.bought(t, unique("o"), "tok_never").ID
	p := signedIn(t, s.base, "sam", "support")
	for range 22 {
		key := uuid.NewString()
		page := p.followed(p.post(path+"/recheck", "key", key, "reason", "case 1"))
		require.Contains(t, page.page(), "The status was re-checked.")
	}
}

func TestFormsOfOtherSitesAreNotDone(t *testing.T) {
	t.Parallel()
	s := openConsole(t, leftAlone)
	a := s.bought(t, unique("o"), "tok_never")
	p := signedIn(t, s.base, "sam", "support")
	path, form := "/support/attempts/"+a.ID+"/recheck", formOf("reason", "r", "key", uuid.NewString())
	for _, header := range []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"} {
		p.send(http.MethodPost, path, form, header).is(t, http.StatusForbidden)
		p.send(http.MethodPost, "/support/sign-out", "", header).is(t, http.StatusForbidden)
		p.send(http.MethodPost, "/support/sign-in", formOf("token", token("eve", "admin")), header).is(t, http.StatusForbidden)
	}
	p.send(http.MethodPost, path, form, "Sec-Fetch-Site: ", "Origin: https://evil.example").is(t, http.StatusForbidden)
	require.Empty(t, s.deeds(t, "sam"))
	p.send(http.MethodPost, path, form).is(t, http.StatusSeeOther)
}

func TestAFormThatIsTooLongIsNotTakenForAnEmptyOne(t *testing.T) {
	t.Parallel()
	s := openConsole(t, leftAlone)
	a := s.bought(t, unique("o"), "tok_never")
	p := signedIn(t, s.base, "sam", "support")
	long := p.post("/support/attempts/"+a.ID+"/recheck", "reason", strings.Repeat("a", 64<<10), "key", uuid.NewString())
	long.is(t, http.StatusRequestEntityTooLarge)
	require.Contains(t, long.page(), "The form is too large.")
	p.get("/support").is(t, http.StatusOK)
}

func TestPagesOfTheConsoleRunNothingInline(t *testing.T) {
	t.Parallel()
	s := openConsole(t, newReceiver(t).configured())
	a := s.undelivered(t)
	p := signedIn(t, s.base, "ada", "admin")
	for _, path := range []string{
		"/support/sign-in", "/support", "/support?q=u1", "/support/attempts/" + a.ID, "/support/attempts/" + a.ID + "/refund",
		"/support/orders?id=" + a.OrderID, "/support/discrepancies", "/support/audit", "/support/no/such/page",
		"/support/endpoints", "/support/endpoints/shop", "/support/endpoints/shop/test", "/support/endpoints/shop/redeliver?after=0",
	} {
		page := p.get(path)
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		} {
			require.Contains(t, page.header.Get(name), want, path)
		}
		policy := page.header.Get("Content-Security-Policy")
		require.Contains(t, policy, "frame-ancestors 'none'")
		require.Contains(t, policy, "default-src 'none'")
		require.NotContains(t, policy, "unsafe")
		require.NotRegexp(t, `<script(?:[^>]*)>[^<]|<style|\sstyle=|\son[a-z]+=|javascript:|https?://`, string(page.text), path)
	}
	for _, name := range []string{"console.js", "console.css", "strip.css", "htmx.min.js", "pico.min.css", "base.css", "icon.svg"} {
		file := p.get("/support/assets/" + name)
		file.is(t, http.StatusOK)
		p.get("/support/assets/"+name, "If-None-Match: "+file.header.Get("ETag")).is(t, http.StatusNotModified)
	}
	p.get("/support/assets/").is(t, http.StatusNotFound)
}

func TestEveryPageWithATimeSaysWhichClock(t *testing.T) {
	t.Parallel()
	s := openConsole(t, newReceiver(t).configured())
	a, late := s.undelivered(t), s.late(t)
	id := one[string](t, s.rig, `SELECT discrepancy_id::text FROM discrepancies WHERE attempt_id = $1`, late.ID)
	event := one[string](t, s.rig, `SELECT event_id::text FROM provider_events WHERE attempt_id = $1 LIMIT 1`, late.ID)
	p := signedIn(t, s.base, "ada", "admin")
	p.get("/support/attempts/"+a.ID).is(t, http.StatusOK) // the audit log begins with it, whatever the case below is
	for path, want := range map[string]bool{
		"/support": true, "/support?q=u1": true, "/support?q=none-of-it": false, "/support/attempts/" + a.ID: true, "/support/orders?id=" + a.OrderID: true,
		"/support/events/" + event: true, "/support/discrepancies": false, "/support/audit": true, "/support/audit?actor=none": false,
		"/support/endpoints": true, "/support/endpoints/shop": true, "/support/endpoints/shop?cursor=1": true, "/support/endpoints/shop/test": false,
	} {
		page := p.get(path)
		page.is(t, http.StatusOK)
		require.Equal(t, want, strings.Contains(string(page.text), "<time"), path)
		require.Equal(t, map[bool]int{true: 1}[want], strings.Count(page.page(), "Times are in UTC."), path)
	}
	require.Regexp(t, `(?s)<section id="found".*Times are in UTC\..*</section>`, string(p.get("/support?q=u1").text), "what is typed replaces this part alone")
	p.post("/support/discrepancies/"+id+"/resolve", "reason", "case 1", "resolution", "accepted").is(t, http.StatusSeeOther)
	resolved := p.get("/support/discrepancies?status=resolved")
	require.Contains(t, string(resolved.text), "<time")
	require.Equal(t, 1, strings.Count(resolved.page(), "Times are in UTC."))
}

func TestSearchesAndSignInsAreLimited(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	p := signedIn(t, s.base, "sam", "support")
	limited := func(what string, again func() answer) {
		var last answer
		eventually(t, what+": a refusal", func() bool { // a busy machine may answer many at once slower than the limit
			for _, a := range atOnce(200, func(int) answer { return again() }) {
				if a.status == http.StatusTooManyRequests {
					last = a
				}
			}
			return last.status == http.StatusTooManyRequests
		})
		require.Regexp(t, `^[1-9][0-9]?$`, last.header.Get("Retry-After"), what)
		require.Contains(t, last.page(), "too many requests")
	}
	limited("search", func() answer { return p.get("/support?q=nothing-like-it") })
	p.get("/support/discrepancies").is(t, http.StatusOK)
	signedIn(t, s.base, "pat", "support").get("/support?q=nothing-like-it").is(t, http.StatusOK)
	limited("sign-in", func() answer { return newPerson(t, s.base).post("/support/sign-in", "token", "guess") })
}

// `paylatch serve` takes no token, and its cookie goes over TLS only.
func TestTheConsoleOfAServiceTakesNoToken(t *testing.T) {
	t.Parallel()
	s := newRig(t).serve()
	p := newPerson(t, s.base)
	page := p.get("/support/sign-in")
	page.is(t, http.StatusOK)
	require.Contains(t, page.page(), "Nobody can sign in here yet")
	require.NotContains(t, string(page.text), `name="token"`)
	p.post("/support/sign-in", "token", token("ada", "admin")).is(t, http.StatusNotFound)
	p.get("/support/sign-in/begin").is(t, http.StatusNotFound)
	p.get("/support").is(t, http.StatusSeeOther)
}
