package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/payment"
)

// opened is a discrepancy of a cell.
func (c *twoCells) opened(t *testing.T, i int) string {
	t.Helper()
	id := payment.Cell(i).NewID()
	_, err := c.rigs[i].db.Exec(t.Context(), `INSERT INTO discrepancies (discrepancy_id, kind, about, about_id, account, text, opened_at)
		VALUES ($1, 'needs_review', '', '', 'x', 'Look at this.', now())`, id)
	require.NoError(t, err)
	return id.String()
}

// staffReadsAll: staff reads both cells, or the cell in the query; a command on all matching items needs a cell.
func (c *twoCells) staffReadsAll(t *testing.T, attempt string) {
	t.Helper()
	staff := c.as(token("ada", "admin"))
	read := func(path string) string {
		var a answer
		eventually(t, "a response with both cells", func() bool { // a busy machine may miss the time limit of a cell
			a = staff.send(t.Context(), http.MethodGet, path, "")
			a.is(t, http.StatusOK)
			return a.header.Get("Incomplete") == ""
		})
		return string(a.text)
	}
	cases := [2]string{c.opened(t, 0), c.opened(t, 1)}
	both := read("/v1/support/discrepancies")
	for i, n := range []string{"0", "1"} {
		require.Contains(t, both, cases[i])
		one := read("/v1/support/discrepancies?cell=" + n)
		require.Contains(t, one, cases[i])
		require.NotContains(t, one, cases[1-i])
	}
	eventually(t, "the attempts of both cells in one sum", func() bool {
		var o struct {
			Hours []struct {
				Succeeded int `json:"succeeded"`
			} `json:"hours"`
			Discrepancies []struct {
				Count int `json:"count"`
			} `json:"discrepancies"`
		}
		require.NoError(t, json.Unmarshal([]byte(read("/v1/support/overview")), &o))
		n := 0
		for _, h := range o.Hours {
			n += h.Succeeded
		}
		return n == 7 && len(o.Discrepancies) == 1 && o.Discrepancies[0].Count == 2
	})
	staff.send(t.Context(), http.MethodPost, "/v1/support/refund-requests", `{"payment_attempt_id":"`+attempt+`","amount":1,"reason":"case 4711"}`).is(t, http.StatusCreated)
	require.Contains(t, read("/v1/support/refund-requests"), attempt)
	require.NotContains(t, read("/v1/support/refund-requests?cell=0"), attempt)
	for path, order := range map[string]string{
		"/v1/support/discrepancies/resolve": `{"filter":{"kind":"needs_review"},"resolution":"accepted","reason":"case 4711"}`,
		"/v1/support/events/replay":         `{"filter":{"account":"sandbox-eu"},"reason":"case 4711"}`,
	} {
		refused := staff.send(t.Context(), http.MethodPost, path, order)
		refused.is(t, http.StatusUnprocessableEntity)
		require.Contains(t, string(refused.text), `{"field":"cell","message":"must be in the query: this command acts in one cell, and there are 0, 1`)
		begun := staff.send(t.Context(), http.MethodPost, path+"?cell=1", order)
		begun.is(t, http.StatusAccepted)
		job := begun.header.Get("Location")
		eventually(t, "the end of "+job, func() bool { return strings.Contains(read(job), `"status":"done"`) })
		require.Contains(t, read("/v1/support/jobs"), strings.TrimPrefix(job, "/v1/support/jobs/"))
	}
	require.Contains(t, read("/v1/support/discrepancies?status=open"), cases[0])
	require.NotContains(t, read("/v1/support/discrepancies?status=open"), cases[1])
	log := read("/v1/support/audit?limit=100")
	require.Contains(t, log, `"cell":0`)
	require.Contains(t, log, `"cell":1`)
	require.NotContains(t, read("/v1/support/audit?cell=1"), `"cell":`)
	require.JSONEq(t, `{"items":[]}`, read("/v1/endpoints"))
}

// TestStaffReadsWithoutACell: while a server is away, staff sees the other cell and the name of the missing cell. A list of the
// shop is refused.
func TestStaffReadsWithoutACell(t *testing.T) {
	t.Parallel()
	c := newTwoCells(t)
	staff := c.as(token("ada", "admin"))
	staff.send(t.Context(), http.MethodPost, "/v1/support/events/replay?cell=0", `{"filter":{"account":"sandbox"},"reason":"case 4711"}`).is(t, http.StatusAccepted)
	here, there := c.opened(t, 0), c.opened(t, 1)
	crash(t, c.servers[1])
	for path, has := range map[string]string{
		"/v1/support/discrepancies": here, "/v1/support/overview": `"kind":"needs_review"`, "/v1/support/jobs": `"kind":"replay"`,
		"/v1/support/refund-requests": `"items":[]`, "/v1/support/audit": `"cell":0`, "/v1/endpoints": `"items":[]`,
	} {
		var a answer
		eventually(t, path+" without cell 1, and with cell 0", func() bool { // which may miss its time limit, too, on a busy machine
			a = staff.send(t.Context(), http.MethodGet, path, "")
			require.NotEmpty(t, a.header.Get("Incomplete")+a.peekProblem().Code, path)
			return a.header.Get("Incomplete") == "without cell 1: no response from there"
		})
		a.is(t, http.StatusOK)
		require.Contains(t, string(a.text), has)
	}
	blunt := client{base: c.base, token: token("ada", "admin"), blunt: true}
	for _, path := range []string{"/v1/payment-attempts", "/v1/support/discrepancies?cell=1", "/v1/support/discrepancies/" + there} {
		blunt.send(t.Context(), http.MethodGet, path, "").is(t, http.StatusServiceUnavailable)
	}
	revive(t, c.servers[1])
	c.rigs[1].db.Reset()
	eventually(t, "both cells again", func() bool {
		a := staff.send(t.Context(), http.MethodGet, "/v1/support/discrepancies", "")
		return a.header.Get("Incomplete") == "" && strings.Contains(string(a.text), there)
	})
}

// TestCellsInTheConsole: a person sees all cells, or the cell that was chosen beside the menu last. For a page of one cell
// alone, the person must choose a cell first.
func TestCellsInTheConsole(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	server := testdb.Private(t)
	second := &rig{t: t, dsn: server.DSN("postgres")}
	var err error
	second.db, err = pgxpool.New(t.Context(), second.dsn)
	require.NoError(t, err)
	t.Cleanup(second.db.Close)
	s := openConsole(t, fmt.Sprintf("PAYLATCH_CELLS=[{number: 1, database_url: %q, order_prefixes: [eu-]}]", second.dsn),
		`PAYLATCH_ENDPOINTS=[{"name":"shop","url":"http://127.0.0.1:1/","secrets":["`+partnerSecret+`"],"allow_private":true}]`)
	c := &twoCells{rigs: [2]*rig{s.rig, second}}
	b.signIn(s.base, token("ada", "admin"))
	b.open(s.base + "/support")
	shown := `document.querySelector('nav[aria-label="Cells"] [aria-current]')?.innerText`
	b.until(shown + ` === "All cells"`)
	b.accessible("with cells")
	require.LessOrEqual(t, b.width(), 360)
	b.picture("cells")
	cases := []string{c.opened(t, 0), c.opened(t, 1)}
	for _, id := range cases {
		b.openUntil(s.base+"/support/discrepancies", `document.getElementById("d-`+id+`") !== null`)
	}
	eventually(t, "the count of both cells", func() bool { // which is used again for a second
		b.open(s.base + "/support/discrepancies")
		return eval[string](b, `document.getElementById("waiting").innerText`) == "2"
	})
	b.open(s.base + "/support/discrepancies/" + cases[1])
	b.until(shown + ` === "All cells"`) // also on a page of an object in a cell
	for _, page := range []string{"discrepancies", "jobs", "refund-requests", "endpoints", "audit", "events/replay", "discrepancies/resolve"} {
		b.open(s.base + "/support/" + page)
		b.until(shown + ` === "All cells"`)
		b.accessible("all cells: " + page)
		require.LessOrEqual(t, b.width(), 360, page)
		b.picture("all-" + strings.ReplaceAll(page, "/", "-"))
	}
	b.open(s.base + "/support/events/replay?account=sandbox-eu")
	b.click(`#choose a[href="/support/events/replay?account=sandbox-eu&cell=1"]`)
	b.until(shown + ` === "Cell 1"`)
	require.Equal(t, "sandbox-eu", eval[string](b, `document.getElementById("account").value`))
	b.open(s.base + "/support/discrepancies")
	require.True(t, eval[bool](b, `document.getElementById("d-`+cases[0]+`") === null`))
	b.open(s.base + "/support?cell=all")
	b.until(shown + ` === "All cells"`)
	b.openUntil(s.base+"/support/endpoints", `[...document.querySelectorAll(".endpoint h2 a")].map((a) => a.innerText).join("|") === "shop, cell 0|shop, cell 1"`)
	b.open(s.base + "/support/endpoints/shop/redeliver?after=0")
	b.until(`document.getElementById("choose") !== null`)
	b.open(s.base + "/support/endpoints")
	b.click(`.endpoint a[href="/support/endpoints/shop?cell=1"]`)
	b.until(`document.querySelector("main h1")?.innerText.startsWith("Endpoint shop")`)
	b.until(shown + ` === "Cell 1"`)
	b.open(s.base + "/support?cell=all")
	b.until(shown + ` === "All cells"`)
	b.click(`nav[aria-label="Cells"] a[href="/support?cell=1"]`)
	b.until(shown + ` === "Cell 1"`)
	require.Empty(t, eval[string](b, "location.search"))
	b.click(`nav a[href="/support/audit"]`)
	b.until(`location.pathname === "/support/audit"`)
	b.until(shown + ` === "Cell 1"`)
	require.Positive(t, strings.Count(eval[string](b, `document.getElementById("main").innerText`), "overview.view"), "of what was looked at in all cells, too")
	b.open(s.base + "/support/payments")
	b.until(shown + ` === "Cell 1"`)
	b.open(s.base + "/support?cell=all")
	crash(t, server)
	for _, page := range []string{"", "/discrepancies", "/jobs", "/refund-requests", "/endpoints", "/audit"} {
		b.openUntil(s.base+"/support"+page, `document.querySelector("main .warning")?.innerText === "Some data is missing, without cell 1: no response from there."`)
		require.True(t, eval[bool](b, `document.querySelectorAll("main .warning").length === 1`), page)
		b.accessible("without a cell: " + page)
		b.picture("without" + strings.ReplaceAll(page, "/", "-"))
	}
	b.openUntil(s.base+"/support/discrepancies", `document.getElementById("d-`+cases[0]+`") !== null`)
	require.True(t, eval[bool](b, `document.getElementById("d-`+cases[1]+`") === null`))
}

// TestAJobIsOfTheCellThatWasCounted: a page on which entries of a cell were counted begins nothing in another one, which a second window of the
// same browser has chosen since.
func TestAJobIsOfTheCellThatWasCounted(t *testing.T) {
	t.Parallel()
	second := newRig(t)
	s := openConsole(t, fmt.Sprintf("PAYLATCH_CELLS=[{number: 1, database_url: %q, order_prefixes: [eu-]}]", second.dsn))
	c := &twoCells{rigs: [2]*rig{s.rig, second}}
	c.opened(t, 0)
	c.opened(t, 1)
	const path = "/support/discrepancies/resolve"
	ada := signedIn(t, s.base, "ada", "admin")
	begin := func(then string) answer {
		ada.get("/support?cell=0")
		counted := ada.post(path, "key", ada.get(path).hidden(t, "key"), "kind", "needs_review", "resolution", "accepted", "reason", "case 4711")
		counted.is(t, http.StatusOK)
		sure := []string{"sure", "yes"}
		for _, name := range []string{"key", "kind", "since", "until", "resolution", "reason", "cell"} {
			sure = append(sure, name, counted.hidden(t, name))
		}
		ada.get("/support?cell=" + then)
		return ada.post(path, sure...)
	}
	jobs := func(r *rig) int { return one[int](t, r, `SELECT count(*)::int FROM support_jobs`) }
	refused := begin("1")
	refused.is(t, http.StatusConflict)
	require.Contains(t, refused.page(), "The chosen cell has changed since the dry run.")
	require.Equal(t, [2]int{0, 0}, [2]int{jobs(s.rig), jobs(second)})
	begin("0").is(t, http.StatusSeeOther)
	require.Equal(t, [2]int{1, 0}, [2]int{jobs(s.rig), jobs(second)})
}
