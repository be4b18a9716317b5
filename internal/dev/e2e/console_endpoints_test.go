package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// receiver is a merchant's endpoint. It refuses all events until it works.
type receiver struct {
	*httptest.Server

	mu    sync.Mutex
	works bool
	ids   []string
	tests int
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	v := &receiver{}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var event struct {
			ID   string `json:"id"`
			Type string `json:"type"`
		}
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			return // the sender was cut off
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		switch {
		case event.Type == "endpoint.test":
			v.tests++
		case v.works:
			v.ids = append(v.ids, event.ID)
		}
		if !v.works {
			http.Error(w, "<script>document.title='taken'</script>\u202e"+strings.Repeat("x", 300), http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(v.Close)
	return v
}

func (v *receiver) repair() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.works = true
}

// got lists the events that were accepted, and counts the tests.
func (v *receiver) got() (ids []string, tests int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.ids), v.tests
}

// configured is the configuration of an endpoint "shop", which takes all types and tries again after an hour, and of an endpoint that
// takes other types.
func (v *receiver) configured() string {
	const common = `"secrets":["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],"allow_private":true,"schedule":["1h"]`
	return fmt.Sprintf(`PAYLATCH_ENDPOINTS=[{"name":"shop","url":%q,"types":["*"],%s},{"name":"quiet","url":%q,"types":["dispute.won"],%s}]`, v.URL, common, v.URL, common)
}

// undelivered is an order with two events that the receiver refused.
func (s *demoShop) undelivered(t *testing.T) attempt {
	t.Helper()
	a := s.bought(t, unique("o"), "tok_success")
	eventually(t, "the events are refused", func() bool {
		return one[int](t, s.rig, `SELECT count(*) FROM endpoint_deliveries WHERE order_id = $1 AND error <> ''`, a.OrderID) == 2
	})
	return a
}

// eventOf is an event of an order.
func (s *demoShop) eventOf(t *testing.T, order, kind string) string {
	t.Helper()
	return one[string](t, s.rig, `SELECT message_id::text FROM outbox WHERE order_id = $1 AND type = $2`, order, kind)
}

//nolint:paralleltest,tparallel // one after the other: what was refused is delivered then
func TestStaffLooksAfterEndpoints(t *testing.T) {
	t.Parallel()
	v := newReceiver(t)
	s := openConsole(t, v.configured())
	a := s.undelivered(t)
	paid, succeeded := s.eventOf(t, a.OrderID, "order.paid"), s.eventOf(t, a.OrderID, "payment_attempt.succeeded")
	sam := signedIn(t, s.base, "sam", "support")
	const shop = "/support/endpoints/shop"

	t.Run("sees what failed", func(t *testing.T) {
		list := sam.get("/support/endpoints")
		require.Contains(t, string(list.text), `href="/support/endpoints" aria-current="page"`)
		require.Contains(t, list.page(), "Retries waiting 2 Dead letters 0 Last success none Last failure 2", "of the shop")
		require.Contains(t, list.page(), "quiet active")
		require.Regexp(t, `The oldest undelivered event is (less than a minute|[0-9]+ minutes?) old\.`, list.page())
		log := sam.get(shop)
		require.Regexp(t, "(order.paid "+paid+"|payment_attempt.succeeded "+succeeded+") of order "+a.OrderID+" 503 Service Unavailable: <script>", log.page())
		require.NotContains(t, string(log.text), "<script>document")
		for _, event := range []string{paid, succeeded} {
			require.Contains(t, string(log.text), shop+"/redeliver?event="+event)
		}
		require.Contains(t, sam.get("/support/attempts/"+a.ID).page(),
			"paylatch queued a notification for the shop that the payment succeeded. The delivery to the endpoint shop failed and is tried again. Details", "and nothing of the other one")
		require.Equal(t, []string{"listEndpoints.view  done ", "listDeliveries.view shop done ", "attempt.view " + a.ID + " done "}, s.deeds(t, "sam"))
	})
	t.Run("tests it", func(t *testing.T) {
		pat := signedIn(t, s.base, "pat", "admin")
		key := pat.get(shop+"/test").hidden(t, "key")
		pat.post(shop+"/test", "key", key, "reason", " ").is(t, http.StatusUnprocessableEntity)
		_, tests := v.got()
		require.Zero(t, tests, "without a reason")
		test := func() answer { return pat.post(shop+"/test", "key", key, "reason", "case 1") }
		require.Regexp(t, `The endpoint did not accept the test event \(\d+ ms\): 503 Service Unavailable: <script>`, pat.followed(test()).page())
		require.Regexp(t, `The endpoint did not accept the test event`, pat.followed(test()).page())
		_, tests = v.got()
		require.Equal(t, 1, tests, "the same form is done once")
		v.repair()
		again := pat.post(shop+"/test", "key", uuid.NewString(), "reason", "case 2")
		require.Regexp(t, `The endpoint accepted the test event \(status 200, \d+ ms\)\.`, pat.followed(again).page())
		require.Equal(t, []string{
			"endpoint.test shop begun case 1", "endpoint.test shop done case 1", "endpoint.test shop begun case 2", "endpoint.test shop done case 2",
		}, slices.DeleteFunc(s.deeds(t, "pat"), func(d string) bool { return strings.Contains(d, ".view") }))
	})
	t.Run("sends one event again", func(t *testing.T) {
		form := sam.get(shop + "/redeliver?event=" + paid)
		require.Contains(t, form.page(), "This command sends the event "+paid+" to shop again")
		send := func(reason string) answer {
			return sam.post(shop+"/redeliver", "key", form.hidden(t, "key"), "event", form.hidden(t, "event"), "reason", reason)
		}
		send("").is(t, http.StatusUnprocessableEntity)
		require.Contains(t, sam.followed(send("case 3")).page(), "paylatch will send the event again; the list below will show the attempt.")
		eventually(t, "it arrives", func() bool { ids, _ := v.got(); return slices.Equal(ids, []string{paid}) })
		eventually(t, "the log has it", func() bool {
			return regexp.MustCompile(`\d+ ms order.paid ` + paid + ` of order ` + a.OrderID + ` Send again`).MatchString(sam.get(shop).page())
		})
		failed := sam.get(shop + "?failed=true").page()
		require.Equal(t, 2, strings.Count(failed, "503 Service Unavailable:")-1, "beside the last failure")
		require.Equal(t, 3, strings.Count(sam.get(shop).page(), " of order "))
	})
	t.Run("sends all behind a cursor again", func(t *testing.T) {
		first := sam.get(shop + "?failed=true")
		at := one[int](t, s.rig, `SELECT min(position)::int - 1 FROM endpoint_deliveries WHERE endpoint = 'shop'`)
		address := fmt.Sprintf("%s/redeliver?after=%d", shop, at)
		require.Contains(t, string(first.text), address)
		form := sam.get(address)
		require.Contains(t, string(form.text), fmt.Sprintf(`name="after" value="%d"`, at))
		sure := sam.post(shop+"/redeliver", "key", form.hidden(t, "key"), "after", strconv.Itoa(at), "reason", "case 4")
		sure.is(t, http.StatusOK)
		require.Contains(t, sure.page(), "after the cursor")
		before, _ := v.got()
		require.Len(t, before, 1, "nothing is sent before it is confirmed")
		done := sam.post(shop+"/redeliver", "key", sure.hidden(t, "key"), "after", sure.hidden(t, "after"), "reason", sure.hidden(t, "reason"), "sure", sure.hidden(t, "sure"))
		require.Contains(t, sam.followed(done).page(), "paylatch will send the events again; the list below will show the attempts.")
		eventually(t, "what does not wait for its next try arrives", func() bool { ids, _ := v.got(); return slices.Equal(ids, []string{paid, paid}) })
		eventually(t, "one waits", func() bool { return strings.Contains(sam.get(shop).page(), "Retries waiting 1 Dead letters 0") })
		sam.post(shop+"/redeliver", "key", uuid.NewString(), "event", succeeded, "reason", "case 5").is(t, http.StatusSeeOther)
		eventually(t, "the payment says where", func() bool {
			return regexp.MustCompile(`that the payment succeeded\. It was delivered to the endpoint shop on 2\d{3}-\S+ \S+ UTC\. Details`).MatchString(sam.get("/support/attempts/" + a.ID).page())
		})
		eventually(t, "none waits", func() bool { return strings.Contains(sam.get(shop).page(), "Retries waiting 0 Dead letters 0") })

		oldest := sam.post(shop+"/redeliver", "key", uuid.NewString(), "from", "oldest", "reason", "case 6")
		require.Contains(t, oldest.page(), "paylatch will send shop all stored events of its types, in their order.")
		require.Equal(t, "oldest", oldest.hidden(t, "from"))
		sam.post(shop+"/redeliver", "key", oldest.hidden(t, "key"), "from", "oldest", "reason", "case 6", "sure", "yes").is(t, http.StatusSeeOther)
		eventually(t, "both arrive", func() bool { ids, _ := v.got(); return len(ids) == 5 })
		require.Equal(t, []string{"begun case 3", "done case 3", "begun case 4", "done case 4", "begun case 5", "done case 5", "begun case 6", "done case 6"},
			column[string](t, s.rig, `SELECT outcome || ' ' || reason FROM staff_audit WHERE actor = 'sam' AND action = 'endpoint.redeliver' AND target = 'shop' ORDER BY entry_id`))
	})
	t.Run("by the API", func(t *testing.T) {
		api := client{base: s.base, token: token("kim", "support")}
		api.send(t.Context(), http.MethodPost, "/v1/endpoints/shop/test", "").is(t, http.StatusOK)
		api.send(t.Context(), http.MethodPost, "/v1/endpoints/shop/redeliver", `{"ids":["`+paid+`"]}`).is(t, http.StatusOK)
		client{base: s.base, token: token("backend", "service")}.send(t.Context(), http.MethodPost, "/v1/endpoints/shop/test", "").is(t, http.StatusOK)
		require.Equal(t, []string{"endpoint.test shop begun ", "endpoint.test shop done ", "endpoint.redeliver shop begun ", "endpoint.redeliver shop done "}, s.deeds(t, "kim"))
		require.Empty(t, s.deeds(t, "backend"), "which is no staff")
	})
}

func TestEndpointsOfTheConsoleRefuse(t *testing.T) {
	t.Parallel()
	v := newReceiver(t)
	s := openConsole(t, v.configured())
	s.undelivered(t)
	sam := signedIn(t, s.base, "sam", "support")
	const path = "/support/endpoints/shop/redeliver"
	for _, c := range []struct {
		status int
		text   string
		fields []string
	}{
		{422, "Enter a cursor, or choose all stored events.", nil},
		{422, "Enter a cursor of the feed", []string{"after", "x"}},
		{422, "Enter a cursor of the feed", []string{"after", "-1"}},
		{422, "The endpoint has not reached this cursor yet.", []string{"after", "99"}},
		{422, "This is not the id of an event.", []string{"event", "x"}},
		{422, "The endpoint was not sent this event", []string{"event", uuid.NewString()}},
		{422, "reason: give a reason", []string{"after", "0", "reason", " "}},
	} {
		got := sam.post(path, append([]string{"key", uuid.NewString(), "reason", "case 1"}, c.fields...)...)
		got.is(t, c.status)
		require.Contains(t, got.page(), c.text)
		require.NotEmpty(t, got.hidden(t, "key"), "the form is there again")
	}
	sam.get("/support/endpoints/shop?cursor=x").is(t, http.StatusUnprocessableEntity)
	for _, name := range []string{"other", "Shop", "%00", strings.Repeat("x", 600)} {
		for _, page := range []string{"", "/test", "/redeliver"} {
			got := sam.get("/support/endpoints/" + name + page)
			got.is(t, http.StatusNotFound)
			require.Contains(t, got.page(), "No endpoint with this name is configured.")
			if page != "" {
				sam.post("/support/endpoints/"+name+page, "key", uuid.NewString(), "reason", "case 1", "after", "0").is(t, http.StatusNotFound)
			}
		}
	}
	sam.send(http.MethodPost, "/support/endpoints/shop/test", formOf("reason", "case 1"), "Sec-Fetch-Site: cross-site").is(t, http.StatusForbidden)
	_, tests := v.got()
	require.Zero(t, tests)
	require.Equal(t, []string{"endpoint.redeliver|begun", "endpoint.redeliver|failed", "endpoint.test|failed"},
		column[string](t, s.rig, `SELECT DISTINCT action || '|' || outcome FROM staff_audit WHERE action LIKE 'endpoint.%' ORDER BY 1`), "nothing was done")

	_, err := s.db.Exec(t.Context(), `DELETE FROM outbox_batches WHERE last = (SELECT min(last) FROM outbox_batches)`)
	require.NoError(t, err)
	gone := sam.post(path, "key", uuid.NewString(), "after", "0", "reason", "case 2", "sure", "yes")
	gone.is(t, http.StatusGone)
	require.Contains(t, gone.page(), "Events after this cursor were deleted.")
}

// TestAnEndpointsLogHasPages walks through a log that is longer than a page.
func TestAnEndpointsLogHasPages(t *testing.T) {
	t.Parallel()
	s := openConsole(t, newReceiver(t).configured())
	_, err := s.db.Exec(t.Context(), `INSERT INTO endpoint_deliveries (endpoint, position, order_id, message_id, at, status, took_ms, error)
		SELECT 'quiet', i, '', gen_random_uuid(), now(), 0, i, CASE WHEN i % 2 = 0 THEN 'no response within 15s' ELSE '' END FROM generate_series(1, 60) i`)
	require.NoError(t, err)
	sam := signedIn(t, s.base, "sam", "support")
	for address, want := range map[string]int{"/support/endpoints/quiet": 60, "/support/endpoints/quiet?failed=true": 30} {
		var all []string
		for address != "" {
			page := sam.get(address)
			took := regexp.MustCompile(`<span>(\d+) ms</span>`).FindAllSubmatch(page.text, -1)
			require.LessOrEqual(t, len(took), 25)
			for _, found := range took {
				all = append(all, string(found[1]))
			}
			address = ""
			if found := regexp.MustCompile(`<a href="([^"]*)"[^>]*>Older ones`).FindSubmatch(page.text); found != nil {
				address = strings.ReplaceAll(string(found[1]), "&amp;", "&")
			}
			require.NotContains(t, string(page.text), "/redeliver?event=", "of what is not kept any more")
		}
		require.Len(t, all, want)
		require.Equal(t, "60", all[0], "the newest first")
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(all))), want, "each once")
	}
}

func TestEndpointsInABrowser(t *testing.T) {
	t.Parallel()
	newTab(t)
	v := newReceiver(t)
	s := openConsole(t, v.configured())
	s.undelivered(t)
	for name, b := range map[string]*tab{"with scripts": newTab(t), "without": scriptless(t)} {
		accessible := func(page string) {
			if name != "without" { // axe is a script
				b.accessible(page)
			}
		}
		b.signIn(s.base, token("sam", "support"))
		b.click(`nav a[href="/support/endpoints"]`)
		b.until(`document.querySelectorAll(".endpoint").length === 2`)
		accessible("endpoints")
		b.click(`.endpoint a[href="/support/endpoints/shop"]`)
		b.until(`document.querySelectorAll(".deliveries li").length === 2`)
		accessible("an endpoint")
		b.picture("endpoint")
		require.LessOrEqual(t, b.width(), 360, "%s: nothing sticks out", name)
		b.click(`#act a[href$="/test"]`)
		b.until(`document.getElementById("reason")`)
		require.Equal(t, name == "without", eval[bool](b, `location.pathname.endsWith("/test")`), "the form opens where it was asked for")
		accessible("a test")
		b.fill("#reason", "case 1")
		b.click("#form button")
		b.until(`document.querySelector(".outcome")?.innerText.startsWith("The endpoint did not accept the test event")`)
		require.LessOrEqual(t, b.width(), 360, "%s: nothing sticks out", name)
		require.NotEqual(t, "taken", eval[string](b, "document.title"))
		b.click(`.deliveries a[href*="after="]`)
		b.until(`document.getElementById("after")?.value !== ""`)
		accessible("a redelivery")
		b.fill("#reason", "case 2")
		b.click("#form button")
		b.until(`document.querySelector(".sure")`)
		b.click("#form button")
		b.until(`document.querySelector(".outcome")?.innerText === "paylatch will send the events again; the list below will show the attempts."`)
	}
	require.Len(t, slices.DeleteFunc(s.deeds(t, "sam"), func(d string) bool { return !strings.HasSuffix(d, " done case 2") }), 2)
}

// Events that were given up are red wherever the endpoint is shown, and counted in the menu of each page.
func TestDeadLettersAreRed(t *testing.T) {
	t.Parallel()
	v := newReceiver(t)
	s := openConsole(t, v.configured())
	a := s.undelivered(t)
	sam := signedIn(t, s.base, "sam", "support")
	const menu = `class="waiting failed"><span id="dead-letters">2</span>`
	require.NotContains(t, string(sam.get("/support/endpoints").text), "dead-letters")
	one[int](t, s.rig, `WITH dead AS (UPDATE endpoint_retries SET state = 'dead', dead_at = now() WHERE order_id = $1 RETURNING 1) SELECT count(*) FROM dead`, a.OrderID)
	for _, page := range []string{"/support", "/support/payments", "/support/endpoints", "/support/endpoints/shop", "/support/endpoints/quiet"} {
		eventually(t, page+" counts them; on a busy machine a page is shown before its menu is counted", func() bool {
			return strings.Contains(string(sam.get(page).text), menu)
		})
	}
	for _, page := range []string{"/support/endpoints", "/support/endpoints/shop"} {
		got := sam.get(page)
		require.Contains(t, string(got.text), `class="state failing"`, page)
		require.Contains(t, got.page(), "2 events were given up after the last try. The shop does not have these events; redeliver them.", page)
	}
	require.NotContains(t, string(sam.get("/support/endpoints/quiet").text), "failing")
	require.Contains(t, string(sam.get("/support").text), `<span class="state failed">Not delivered</span>`)
}
