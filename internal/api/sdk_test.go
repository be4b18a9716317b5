package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/sdk"
)

func TestBrowserClient(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := b.send(http.MethodGet, "/sdk/paylatch.js", "", "Authorization: -", "Origin: https://shop.example")
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, sdk.Script, got.text)
	require.Equal(t, "text/javascript; charset=utf-8", got.Header.Get("Content-Type"))
	require.Equal(t, "public, max-age=300", got.Header.Get("Cache-Control"))
	require.Equal(t, "*", got.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "cross-origin", got.Header.Get("Cross-Origin-Resource-Policy"))
	tag := got.Header.Get("ETag")
	require.Regexp(t, `^"[0-9a-f]{32}"$`, tag)

	same := b.send(http.MethodGet, "/sdk/paylatch.js", "", "If-None-Match: "+tag)
	require.Equal(t, http.StatusNotModified, same.StatusCode)
	require.Empty(t, same.text)
	require.Equal(t, tag, same.Header.Get("ETag"))
	require.Equal(t, http.StatusOK, b.send(http.MethodGet, "/sdk/paylatch.js", "", `If-None-Match: "older"`).StatusCode)
}

// TestPagesOfOtherOrigins: a browser lets a shop's page use a status token or a
// customer's here, and see what the page needs.
func TestPagesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	asked := b.send(http.MethodOptions, attemptPath, "", "Authorization: -", "Origin: https://shop.example",
		"Access-Control-Request-Method: GET", "Access-Control-Request-Headers: authorization,prefer")
	require.Equal(t, http.StatusNoContent, asked.StatusCode)
	require.Equal(t, "*", asked.Header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, asked.Header.Get("Access-Control-Allow-Methods"), "GET")
	for _, name := range []string{"Authorization", "Content-Type", "Idempotency-Key", "If-None-Match", "Prefer"} {
		require.Contains(t, asked.Header.Get("Access-Control-Allow-Headers"), name)
	}
	require.Empty(t, asked.Header.Get("Access-Control-Allow-Credentials"))

	refused := b.send(http.MethodGet, attemptPath, "", "Authorization: -", "Origin: https://shop.example")
	require.Equal(t, http.StatusUnauthorized, refused.StatusCode)
	require.Equal(t, "*", refused.Header.Get("Access-Control-Allow-Origin"), "the page may read why")
	for _, name := range []string{"ETag", "Retry-After", "Idempotency-Result"} {
		require.Contains(t, refused.Header.Get("Access-Control-Expose-Headers"), name)
	}

	require.Empty(t, b.send(http.MethodGet, attemptPath, "").Header.Get("Access-Control-Allow-Origin"), "nobody else is told")
	for _, path := range []string{"/docs", "/webhooks/sandbox"} {
		got := b.send(http.MethodGet, path, "", "Origin: https://shop.example")
		require.Empty(t, got.Header.Get("Access-Control-Allow-Origin"), path)
	}
	plain := b.send(http.MethodOptions, attemptPath, "", "Origin: https://shop.example")
	require.Empty(t, plain.Header.Get("Access-Control-Allow-Methods"), "that was no preflight")
}
