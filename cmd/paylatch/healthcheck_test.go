package main_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	var status atomic.Int32
	status.Store(http.StatusOK)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			t.Error(r.URL)
		}
		w.WriteHeader(int(status.Load()))
	}))
	address := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := strings.Cut(address, ":")

	for _, listen := range []string{address, ":" + port, "0.0.0.0:" + port} {
		code, _, stderr := run(t, []string{"PAYLATCH_LISTEN=" + listen, "HTTP_PROXY=http://127.0.0.1:1"}, "healthcheck")
		require.Equal(t, 0, code, stderr)
	}

	code, _, stderr := run(t, []string{"PAYLATCH_LISTEN=127.0.0.1:1", "PAYLATCH_OPERATIONS_LISTEN=" + address}, "healthcheck")
	require.Equal(t, 0, code, stderr)

	status.Store(http.StatusServiceUnavailable)
	code, _, stderr = run(t, []string{"PAYLATCH_LISTEN=" + address}, "healthcheck")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "503")

	server.Close()
	code, _, _ = run(t, []string{"PAYLATCH_LISTEN=" + address}, "healthcheck")
	require.Equal(t, 1, code)
}
