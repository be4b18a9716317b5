package page_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/page"
)

func get(h http.Handler, path, tag string) *httptest.ResponseRecorder {
	r, w := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
	r.Header.Set("If-None-Match", tag)
	h.ServeHTTP(w, r)
	return w
}

func TestFiles(t *testing.T) {
	t.Parallel()
	own := fstest.MapFS{"own.css": {Data: []byte("a {}")}, "base.css": {Data: []byte("b {}")}}
	h := page.StyleFiles(own)
	for path, want := range map[string]string{"/own.css": "a {}", "/base.css": "b {}"} {
		got := get(h, path, "")
		require.Equal(t, http.StatusOK, got.Code, path)
		require.Equal(t, want, got.Body.String(), "the site's own counts first")
		require.Equal(t, "text/css; charset=utf-8", got.Header().Get("Content-Type"))
		require.Equal(t, "no-cache", got.Header().Get("Cache-Control"))
		require.Equal(t, http.StatusNotModified, get(h, path, got.Header().Get("ETag")).Code, path)
	}
	require.NotEqual(t, get(h, "/base.css", "").Header().Get("ETag"), get(page.StyleFiles(), "/base.css", "").Header().Get("ETag"))
	for _, path := range []string{"/", "/none.css", "/assets/base.css", "/../style.go"} {
		require.Equal(t, http.StatusNotFound, get(h, path, "").Code, path)
	}
}

// Each file that the head names is there, and nothing in it comes from elsewhere.
func TestHead(t *testing.T) {
	t.Parallel()
	h := page.StyleFiles(fstest.MapFS{"own.css": {Data: []byte("a {}")}})
	links := regexp.MustCompile(`href="/x/([^"]+)"`).FindAllStringSubmatch(page.StyleHead("/x/", "own.css"), -1)
	require.Len(t, links, 4)
	require.Equal(t, "own.css", links[3][1], "after what all share")
	for _, link := range links {
		got := get(h, "/"+link[1], "")
		require.Equal(t, http.StatusOK, got.Code, link[1])
		require.NotRegexp(t, `url\(["']?https?:|@import`, got.Body.String(), link[1])
	}
	require.NotContains(t, page.StyleHead(`"><script>`), "<script>")
}
