package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConsoleDoesManyAtOnce(t *testing.T) {
	t.Parallel()
	shop := openConsole(t)
	for _, order := range []string{"M-1", "M-2", "M-3"} {
		shop.bought(t, order, "tok_success")
	}
	eventually(t, "the webhooks", func() bool {
		return one[int](t, shop.rig, `SELECT count(*)::int FROM provider_events WHERE verdict IN ('applied', 'repeat')`) >= 3
	})
	// Webhooks that came before the answers of their charges were applied, and replayed they are repeats.
	verdict := one[string](t, shop.rig, `SELECT verdict FROM provider_events WHERE verdict IN ('applied', 'repeat') GROUP BY verdict ORDER BY count(*) DESC LIMIT 1`)
	sam, ada := signedIn(t, shop.base, "sam", "support"), signedIn(t, shop.base, "ada", "admin")

	require.Contains(t, sam.get("/support/jobs").page(), "No bulk jobs yet.")
	require.NotContains(t, string(sam.get("/support/jobs").text), "/support/discrepancies/resolve")
	sam.get("/support/discrepancies/resolve").is(t, http.StatusForbidden)
	sam.post("/support/discrepancies/resolve", "kind", "disputed", "resolution", "accepted", "reason", "r").is(t, http.StatusForbidden)

	form := sam.get("/support/events/replay")
	form.is(t, http.StatusOK)
	key := form.hidden(t, "key")
	none := sam.post("/support/events/replay", "key", key, "reason", "case 4711")
	none.is(t, http.StatusUnprocessableEntity)
	require.Contains(t, none.page(), "must have at least one member")
	counted := sam.post("/support/events/replay", "key", key, "account", "sandbox", "verdict", verdict, "since", "2026-01-01T00:00", "reason", "case 4711")
	counted.is(t, http.StatusOK)
	require.Contains(t, counted.page(), " webhooks match.")
	require.Zero(t, one[int](t, shop.rig, `SELECT count(*)::int FROM support_jobs`))
	sure := []string{"sure", "yes"}
	for _, name := range []string{"key", "account", "verdict", "type", "kind", "since", "until", "resolution", "reason"} {
		sure = append(sure, name, counted.hidden(t, name))
	}
	begun := sam.post("/support/events/replay", sure...)
	page := sam.followed(sam.followed(begun))
	page.is(t, http.StatusOK)
	require.Contains(t, page.page(), "The job has started")
	sam.post("/support/events/replay", sure...).is(t, http.StatusSeeOther)
	require.Equal(t, 1, one[int](t, shop.rig, `SELECT count(*)::int FROM support_jobs`), "a form is done once")

	id := one[string](t, shop.rig, `SELECT job_id::text FROM support_jobs`)
	eventually(t, "the job", func() bool { return strings.Contains(sam.get("/support/jobs/"+id).page(), "are done.") })
	last := sam.get("/support/jobs/" + id)
	require.Empty(t, last.header.Get("Refresh"))
	require.Contains(t, last.page(), "repeat")
	require.Contains(t, last.page(), "case 4711")
	stopped := ada.post("/support/jobs/"+id+"/stop", "key", ada.get("/support/jobs/"+id+"/stop").hidden(t, "key"), "reason", "too late")
	require.Contains(t, ada.followed(stopped).page(), "The job had already ended.")
	sam.get("/support/jobs/none").is(t, http.StatusNotFound)

	resolve := ada.get("/support/discrepancies/resolve").hidden(t, "key")
	require.Contains(t, ada.post("/support/discrepancies/resolve", "key", resolve, "kind", "disputed", "resolution", "accepted", "reason", "r").page(),
		"0 cases of the worklist match.")
	require.Contains(t, ada.post("/support/discrepancies/resolve", "key", resolve, "kind", "disputed", "resolution", "paid", "reason", "r").page(),
		"resolve these cases one by one")
}
