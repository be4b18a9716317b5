package dev_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev"
	"github.com/paylatch/paylatch/internal/setup/config"
)

func TestShopRequestID(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{Auth: config.Auth{HS256Secret: "0123456789abcdef0123456789abcdef"}}
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	shop, err := dev.New("http://127.0.0.1:9090").Shop(cfg, at, http.NotFoundHandler(), nil)
	require.NoError(t, err)
	for _, path := range []string{"/demo", "/demo/", "/demo/assets/demo.js", "/demo/nothing"} {
		for _, id := range []string{"", "r-1"} {
			r, w := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
			r.Header.Set("X-Request-Id", id)
			shop.ServeHTTP(w, r)
			if id != "" {
				require.Equal(t, id, w.Header().Get("X-Request-Id"), path)
			}
			require.NotEmpty(t, w.Header().Get("X-Request-Id"), path)
			require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"), path)
		}
	}
}
