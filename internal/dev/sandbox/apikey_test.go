package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
)

// TestAPIKey: a sandbox with a key refuses calls without it, unless they are for pages or the drop-in, which browsers call.
func TestAPIKey(t *testing.T) {
	t.Parallel()
	s, err := sandbox.New(sandbox.Options{APIKey: "key"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	status := func(path, authorization string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	for _, path := range []string{"/v1/charges?reference=x", "/v1/ledger", "/v1/events", "/v1/charges/ch_1"} {
		for _, wrong := range []string{"", "key", "Bearer ", "Bearer kex", "Bearer keys", "bearer key"} {
			require.Equal(t, http.StatusUnauthorized, status(path, wrong), "%s %q", path, wrong)
		}
		require.NotEqual(t, http.StatusUnauthorized, status(path, "Bearer key"), path)
	}
	require.Equal(t, http.StatusOK, status("/v1/dropin.js", ""))
	require.Equal(t, http.StatusNotFound, status("/pay/ch_1", ""))
}
