package e2e_test

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every request of staff, by the API or on the pages, is in the audit log, including senseless requests and requests that the
// role does not allow.
func TestStaffThatIsRefusedIsWrittenDown(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	long := ""
	for len(long) < 6000 {
		long += rand.Text()
	}
	sam, c := signedIn(t, s.base, "sam", "support"), client{base: s.base, token: token("sam", "support"), blunt: true}
	read := func(path string) answer { return c.send(t.Context(), http.MethodGet, path, "") }
	open := func(path string) answer { return sam.get(path) }
	for _, look := range []struct {
		path   string
		ask    func(path string) answer
		status int
		deed   string
	}{
		{"/v1/orders/" + long, read, http.StatusNotFound, "readOrder.view " + long[:512] + "… done "},
		{"/support/orders?id=" + long, open, http.StatusNotFound, "readOrder.view " + long[:512] + "… done "},
		{"/support/orders?id=" + url.QueryEscape("\x00"), open, http.StatusNotFound, "readOrder.view \uFFFD done "},
		{"/v1/support/audit", read, http.StatusForbidden, "audit.view  refused "},
		{"/support/audit", open, http.StatusForbidden, "audit.view  refused "},
		{"/v1/support/attempts/none", read, http.StatusNotFound, "attempt.view none refused "},
		{"/support/attempts/none", open, http.StatusNotFound, "attempt.view none refused "},
		{"/support/attempts/none/refund", open, http.StatusForbidden, "createRefund none refused "},
		{"/support/events/none/replay", func(path string) answer { return sam.post(path, "sure", "yes") }, http.StatusNotFound, "event.replay none refused "},
		{"/support/discrepancies/none/resolve", func(path string) answer { return sam.post(path) }, http.StatusNotFound, "discrepancy.resolve none refused "},
	} {
		before := len(s.deeds(t, "sam"))
		look.ask(look.path).is(t, look.status)
		require.Equal(t, []string{look.deed}, s.deeds(t, "sam")[before:], look.path)
	}
	require.Zero(t, one[int](t, s.rig, `SELECT count(*) FROM staff_audit WHERE address = '' OR request_id = ''`), "from where, and by which request")
}
