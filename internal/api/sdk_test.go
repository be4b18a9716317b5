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
