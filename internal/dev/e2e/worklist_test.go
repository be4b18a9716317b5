package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/postgres"
)

// waiting opens n discrepancies that nothing settles by itself.
func (s *demoShop) waiting(t *testing.T, n int) {
	t.Helper()
	_, err := s.db.Exec(t.Context(), `INSERT INTO discrepancies (discrepancy_id, kind, about_id, account, amount, currency, text, opened_at)
		SELECT gen_random_uuid(), 'unknown_here', 'ch_' || i, 'sandbox', 1000 + i, 'EUR', 'The provider has a payment that is not recorded here.', now() - make_interval(mins => i)
		FROM generate_series(1, $1) i`, n)
	require.NoError(t, err)
}

// worker is one of many people that work on one list, with that person's view of it.
type worker struct {
	name string
	person
	client

	resolved, took, conflicts, comments int
	wrong                               []string
}

// item is a discrepancy as the API has it.
type item struct {
	ID         string  `json:"discrepancy_id"`
	Status     string  `json:"status"`
	Assignee   *string `json:"assignee"`
	ResolvedBy *string `json:"resolved_by"`
	Resolution *string `json:"resolution"`
}

func (w *worker) fault(format string, args ...any) {
	w.wrong = append(w.wrong, w.name+": "+fmt.Sprintf(format, args...))
}

// list is the person's page: the open discrepancies, oldest first. Other people's pages have some of them, too.
func (w *worker) list(t *testing.T) []item {
	t.Helper()
	got := w.client.send(t.Context(), http.MethodGet, "/v1/support/discrepancies?status=open&order=oldest&limit=10", "")
	var page struct {
		Items []item `json:"items"`
	}
	if got.status != http.StatusOK || json.Unmarshal(got.text, &page) != nil {
		w.fault("the list: %d %s", got.status, got.text)
	}
	return page.Items
}

// code is the code of a problem.
func (a answer) code() string {
	var p struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(a.text, &p)
	return p.Code
}

// byAPI works on one by the API: takes it, comments on it, and resolves it.
func (w *worker) byAPI(t *testing.T, d item) {
	t.Helper()
	path := "/v1/support/discrepancies/" + d.ID
	switch got := w.client.send(t.Context(), http.MethodPost, path+"/assign", `{}`); {
	case got.status == http.StatusOK:
		w.took++
	case got.status == http.StatusConflict && (got.code() == "discrepancy-assigned" || got.code() == "discrepancy-already-resolved"):
		w.conflicts++
		if got.code() == "discrepancy-assigned" && rand.IntN(4) > 0 {
			return
		}
	default:
		w.fault("assign: %d %s", got.status, got.text)
	}
	if got := w.client.send(t.Context(), http.MethodPost, path+"/comments", `{"text":"`+w.name+` looks at this"}`); got.status == http.StatusCreated {
		w.comments++
	} else {
		w.fault("comment: %d %s", got.status, got.text)
	}
	how := []string{"accepted", "refunded_elsewhere"}[rand.IntN(2)]
	got := w.client.send(t.Context(), http.MethodPost, path+"/resolve", `{"reason":"of `+w.name+`","resolution":"`+how+`"}`)
	var now item
	switch {
	case got.status == http.StatusOK && json.Unmarshal(got.text, &now) == nil && *now.ResolvedBy == w.name:
		w.resolved++
	case got.status == http.StatusOK && *now.Resolution == how: // the same again
	case got.status == http.StatusConflict && got.code() == "discrepancy-already-resolved":
		w.conflicts++
	default:
		w.fault("resolve: %d %s", got.status, got.text)
	}
}

// byPage works on one by the console, as it was on the page that the person has.
func (w *worker) byPage(d item) {
	path, had := "/support/discrepancies/"+d.ID, ""
	if d.Assignee != nil {
		had = *d.Assignee
	}
	post := func(what string, fields ...string) (done, conflict bool) {
		fields = append(fields, "key", uuid.NewString(), "back", "status=open")
		got := w.post(path+what, fields...)
		// A busy machine may have no connection in time: the page shows that nothing was done, and a person presses again.
		for end := time.Now().Add(soon); got.status == http.StatusServiceUnavailable && time.Now().Before(end); {
			got = w.post(path+what, fields...)
		}
		switch got.status {
		case http.StatusSeeOther:
			return true, false
		case http.StatusConflict:
			if !strings.Contains(string(got.text), `role="alert"`) || !strings.Contains(got.page(), "now has this case") && !strings.Contains(got.page(), "This case is no longer assigned") && !strings.Contains(got.page(), "already resolved") {
				w.fault("%s: an unclear page: %s", what, got.page())
			}
			return false, true
		}
		w.fault("%s: %d %s", what, got.status, got.page())
		return false, false
	}
	done, conflict := post("/assign", "expected", had)
	switch {
	case done:
		w.took++
		had = w.name
	case conflict:
		w.conflicts++
	}
	if done, _ := post("/comments", "text", w.name+" looks at this"); done {
		w.comments++
	}
	how := []string{"accepted", "refunded_elsewhere"}[rand.IntN(2)]
	if _, conflict := post("/resolve", "expected", had, "resolution", how, "reason", "of "+w.name); conflict {
		w.conflicts++
	}
}

// TestTwentyPeopleWorkOnOneList: at once, by the API and by the console. Each discrepancy is resolved once, by one of them; no comment is
// lost, no assignment changes unseen, and the audit log has all of it.
func TestTwentyPeopleWorkOnOneList(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	const people, total = 20, 100
	s.waiting(t, total)
	var workers []*worker
	for i := range people {
		name := fmt.Sprintf("person-%d", i)
		w := &worker{name: name, client: client{base: s.base, token: token(name, "support")}}
		if i%2 == 1 {
			w.person = *signedIn(t, s.base, name, "support")
		}
		workers = append(workers, w)
	}
	var all sync.WaitGroup
	for i, w := range workers {
		all.Go(func() {
			for began := time.Now(); time.Since(began) < patience; {
				list := w.list(t)
				if len(list) == 0 {
					return
				}
				d := list[rand.IntN(len(list))]
				if i%2 == 0 {
					w.byAPI(t, d)
				} else {
					w.byPage(d)
				}
			}
			w.fault("the list is not empty after %s", patience)
		})
	}
	all.Wait()
	took, comments, conflicts, resolved := 0, 0, 0, 0
	for _, w := range workers {
		require.Empty(t, w.wrong)
		took, comments, conflicts, resolved = took+w.took, comments+w.comments, conflicts+w.conflicts, resolved+w.resolved
		if w.http == nil {
			require.Equal(t, w.resolved, one[int](t, s.rig, `SELECT count(*)::int FROM discrepancies WHERE resolved_by = $1`, w.name), w.name)
		}
	}
	t.Logf("%d taken, %d comments, %d conflicts", took, comments, conflicts)
	require.Positive(t, conflicts)
	require.Equal(t, total, one[int](t, s.rig, `SELECT count(*)::int FROM discrepancies WHERE resolved_at IS NOT NULL AND reason = 'of ' || resolved_by`))
	require.Equal(t, total, one[int](t, s.rig, `SELECT count(*)::int FROM outbox WHERE type = 'discrepancy.resolved'`))
	require.Equal(t, comments, one[int](t, s.rig, `SELECT count(*)::int FROM worklist_comments`))
	require.Equal(t, comments, one[int](t, s.rig, `SELECT count(*)::int FROM staff_audit WHERE action = 'discrepancy.comment' AND outcome = 'done'`))
	require.Equal(t, took, one[int](t, s.rig, `SELECT count(*)::int FROM staff_audit WHERE action = 'discrepancy.assign' AND outcome = 'done'`))
	require.Zero(t, one[int](t, s.rig, `SELECT count(*)::int FROM (
			SELECT detail->>'from' AS had, lag(detail->>'to', 1, '') OVER (PARTITION BY target ORDER BY position) AS before FROM staff_audit
			WHERE action = 'discrepancy.assign' AND outcome = 'done') steps WHERE had <> before`), "each assignment follows the one before it")
	require.Zero(t, one[int](t, s.rig, `SELECT count(*)::int FROM staff_audit a JOIN (SELECT discrepancy_id::text AS id, resolved_by FROM discrepancies) d ON d.id = a.target
		WHERE a.action = 'discrepancy.assign' AND a.outcome = 'done' AND a.detail->>'from' NOT IN ('', a.actor) AND a.actor !~ '[13579]$'`),
		"who names no expected assignee takes nothing from others")
	for _, kept := range []string{"accepted", "refunded_elsewhere"} {
		require.Positive(t, one[int](t, s.rig, `SELECT count(*)::int FROM discrepancies WHERE resolution = $1`, kept))
	}

	store, err := postgres.Open(t.Context(), s.dsn)
	require.NoError(t, err)
	defer store.Close()
	var chain support.Chain
	for more := true; more; {
		more, err = chain.Follow(t.Context(), store.Support(), 1000)
		require.NoError(t, err)
	}
	require.Nil(t, chain.Broken)
	require.EqualValues(t, chain.Entries, one[int](t, s.rig, `SELECT count(*)::int FROM staff_audit`))
}
