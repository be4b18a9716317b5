package server_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/server"
)

// TestAlive: the probe of a service dials the address that URL returns.
func TestAlive(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"127.0.0.1", "0.0.0.0", "", "::", "::1", "localhost"} {
		t.Run("at "+host, func(t *testing.T) {
			t.Parallel()
			l, err := server.Listen(t.Context(), net.JoinHostPort(host, "0"))
			if err != nil {
				t.Skip(err) // the machine has no such address
			}
			dialed := ""
			s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { dialed = r.Host })}}
			s.Start()
			t.Cleanup(s.Close)
			_, port, err := net.SplitHostPort(l.Addr().String())
			require.NoError(t, err)
			listen := net.JoinHostPort(host, port)
			require.NoError(t, server.Alive(t.Context(), listen, false))
			require.Equal(t, server.URL(listen), "http://"+dialed)
		})
	}
}
