package e2e_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestACommentFormSentAgain makes one comment, however often and from where it is sent. With another text it is refused, and the
// typed text stays.
func TestACommentFormSentAgain(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	s.waiting(t, 1)
	path := "/support/discrepancies/" + column[string](t, s.rig, `SELECT discrepancy_id::text FROM discrepancies`)[0]
	sam, elsewhere := signedIn(t, s.base, "sam", "support"), signedIn(t, s.base, "sam", "support")
	comments := func() []string {
		return column[string](t, s.rig, `SELECT text FROM worklist_comments ORDER BY comment_id`)
	}
	form := sam.get(path).lastHidden(t, "key")
	var all sync.WaitGroup
	for range 5 {
		for _, p := range []*person{sam, elsewhere} {
			all.Go(func() {
				if got := p.post(path+"/comments", "key", form, "text", "The bank calls back."); got.status != http.StatusSeeOther {
					t.Errorf("%d %s", got.status, got.page())
				}
			})
		}
	}
	all.Wait()
	require.Equal(t, []string{"The bank calls back."}, comments())

	other := sam.post(path+"/comments", "key", form, "text", "The bank has called back.")
	other.is(t, http.StatusConflict)
	require.Contains(t, other.page(), "This form was already sent with other values.")
	require.Contains(t, other.page(), "The bank has called back.")
	require.Len(t, comments(), 1)
	sam.post(path+"/comments", "key", other.lastHidden(t, "key"), "text", "The bank has called back.").is(t, http.StatusSeeOther)
	require.Equal(t, []string{"The bank calls back.", "The bank has called back."}, comments())

	c := client{base: s.base, token: token("sam", "support")}
	call := func(text string, status int) answer {
		got := c.send(t.Context(), http.MethodPost, "/v1"+path+"/comments", `{"text":"`+text+`"}`, "Idempotency-Key: key-00000001")
		got.is(t, status)
		return got
	}
	require.Equal(t, "created", call("By the API.", http.StatusCreated).header.Get("Idempotency-Result"))
	require.Equal(t, "reused", call("By the API.", http.StatusCreated).header.Get("Idempotency-Result"))
	require.Contains(t, string(call("Else.", http.StatusConflict).text), `"idempotency-key-reused"`)
	require.Len(t, comments(), 3)
}
