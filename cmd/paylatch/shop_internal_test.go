package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/config"
)

func TestOpenShopRequestID(t *testing.T) {
	t.Parallel()
	in := &instance{handler: http.NotFoundHandler()}
	cfg := &config.Config{Auth: config.Auth{HS256Secret: "0123456789abcdef0123456789abcdef"}}
	require.NoError(t, openShop(in, cfg, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}, "http://127.0.0.1:9090"))
	for _, path := range []string{"/demo", "/demo/", "/demo/assets/demo.js", "/demo/nothing"} {
		for _, id := range []string{"", "r-1"} {
			r, w := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
			r.Header.Set("X-Request-Id", id)
			in.handler.ServeHTTP(w, r)
			if id != "" {
				require.Equal(t, id, w.Header().Get("X-Request-Id"), path)
			}
			require.NotEmpty(t, w.Header().Get("X-Request-Id"), path)
			require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"), path)
		}
	}
}
