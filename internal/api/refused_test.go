package api_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/backoffice/support"
)

// Refused callers with a token are recorded with the call and the peer. Calls without a token and other failures are not recorded.
func TestRefusedTokensAreWritten(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var noted []string
	b := newBench(t, func(o *api.Options) {
		o.Support = &desk{}
		o.Refused = func(r support.Refusal) {
			mu.Lock()
			defer mu.Unlock()
			noted = append(noted, string(r.Action)+" "+r.Subject+" "+r.Call+" "+r.Address+": "+r.Reason)
		}
	})
	for _, bearer := range []string{"Bearer nobody", "Basic abc", "Bearer status." + attemptID.String(), "Bearer broken", "Bearer u1", "Bearer support"} {
		b.send(http.MethodGet, "/v1/support/audit", "", "Authorization: "+bearer)
	}
	b.send(http.MethodGet, "/v1/support/audit", "", "Authorization: ")
	require.Equal(t, []string{
		"token.refused  GET /v1/support/audit 127.0.0.1: it takes the role service: no",
		"token.refused  GET /v1/support/audit 127.0.0.1: the Authorization header must be: Bearer <token>",
		"token.refused  GET /v1/support/audit 127.0.0.1: a status token reads only its own attempt",
		"access.refused u1 GET /v1/support/audit 127.0.0.1: it takes the role support or admin",
	}, noted)
}
