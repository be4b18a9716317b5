package e2e_test

import (
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOperationsListen: a client of the API can't reach the operator's addresses.
func TestOperationsListen(t *testing.T) {
	t.Parallel()
	s := newRig(t).serve("PAYLATCH_OPERATIONS_LISTEN=127.0.0.1:0")
	apart := client{base: "http://" + s.says(t, "serving operations").Listen, blunt: true}
	eventually(t, "ready", func() bool { return apart.send(t.Context(), http.MethodGet, "/readyz", "").status == http.StatusOK })
	apart.blunt = false
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		s.bluntly("").send(t.Context(), http.MethodGet, path, "").problem(t, http.StatusNotFound, "not-found")
		apart.send(t.Context(), http.MethodGet, path, "").is(t, http.StatusOK)
		apart.send(t.Context(), http.MethodHead, path, "").is(t, http.StatusOK)
	}
	s.bluntly("").send(t.Context(), http.MethodGet, "/openapi.yaml", "").is(t, http.StatusOK)
	for _, path := range []string{"/v1/orders/x", "/openapi.yaml", "/support"} {
		apart.send(t.Context(), http.MethodGet, path, "").problem(t, http.StatusNotFound, "not-found")
	}
	apart.send(t.Context(), http.MethodPost, "/healthz", "").problem(t, http.StatusMethodNotAllowed, "method-not-allowed")
	code, _ := s.stop(t, syscall.SIGTERM)
	require.Zero(t, code)

	beside := newRig(t).serve()
	beside.bluntly("").send(t.Context(), http.MethodGet, "/metrics", "").is(t, http.StatusOK)
}
