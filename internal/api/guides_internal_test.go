package api

import (
	"bytes"
	"html"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/docs"
	"github.com/paylatch/paylatch/internal/api/contract"
)

var (
	reference = regexp.MustCompile(`<(?:a|link|img|script)\s[^>]*(?:href|src)="([^"]*)"`)
	anchor    = regexp.MustCompile(`\sid="([^"]*)"`)
)

func served(t *testing.T) *echo.Echo {
	t.Helper()
	d, err := contract.Load(contractfile.Document)
	require.NoError(t, err)
	e := echo.New()
	RouteSite(e, SiteOptions{Contract: d})
	return e
}

func get(e *echo.Echo, target string) *httptest.ResponseRecorder {
	got := httptest.NewRecorder()
	e.ServeHTTP(got, httptest.NewRequest(http.MethodGet, target, nil))
	return got
}

// TestGuides walks all links of all pages as the program serves them.
func TestGuides(t *testing.T) {
	t.Parallel()
	e := served(t)
	count := 0
	require.NoError(t, fs.WalkDir(docs.Files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		count++
		here := "/docs/" + guideName(file)
		page := get(e, here)
		require.Equal(t, http.StatusOK, page.Code, here)
		require.Equal(t, policy, page.Header().Get("Content-Security-Policy"))
		require.NotRegexp(t, `<script|<style|\sstyle=|\son[a-z]+=|javascript:`, page.Body.String(), here)
		for _, m := range reference.FindAllStringSubmatch(page.Body.String(), -1) {
			assert.NoError(t, follow(e, here, html.UnescapeString(m[1])), "%s: %s", here, m[1])
		}
		return nil
	}))
	require.Greater(t, count, 60)
	require.Equal(t, get(e, "/docs/index.html").Body.String(), get(e, "/docs/").Body.String())
	require.Equal(t, http.StatusNotFound, get(e, "/docs/nothing.html").Code)
}

// follow returns an error for a link of a page that leads nowhere. Links to other sites are not followed.
func follow(e *echo.Echo, page, to string) error {
	if file, ok := strings.CutPrefix(to, source); ok {
		file, _, _ = strings.Cut(file, "#")
		_, err := os.Stat(filepath.Join("../..", filepath.FromSlash(file)))
		return err
	}
	if strings.Contains(to, ":") {
		return nil
	}
	name, id, _ := strings.Cut(to, "#")
	switch {
	case name == "":
		name = page
	case !strings.HasPrefix(name, "/"):
		name = path.Join(path.Dir(page), name)
	}
	got := get(e, name)
	if got.Code != http.StatusOK {
		return fs.ErrNotExist
	}
	for _, m := range anchor.FindAllStringSubmatch(got.Body.String(), -1) {
		if id == "" || m[1] == id {
			return nil
		}
	}
	if id == "" {
		return nil
	}
	return fs.ErrNotExist
}

// TestGuideMenu leads from each page to all pages of the list, and marks the page itself.
func TestGuideMenu(t *testing.T) {
	t.Parallel()
	home, err := fs.ReadFile(docs.Files, "README.md")
	require.NoError(t, err)
	menu := guideMenu(markdown(), home)
	var titles []string
	for _, group := range menu {
		titles = append(titles, group.Title)
		require.NotEmpty(t, group.Links, group.Title)
	}
	require.Equal(t, []string{"Tutorials", "How-to guides", "Reference", "Explanation"}, titles)
	page := get(served(t), "/docs/how-to/operate.html").Body.String()
	require.Contains(t, page, `<a href="../how-to/operate.html" aria-current="page">`)
	require.Contains(t, page, `<a href="../tutorials/first-payment.html">`)
}

// TestWriteGuides compares the written pages with the served ones.
func TestWriteGuides(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, WriteGuides(dir))
	e := served(t)
	for _, file := range []string{"index.html", "how-to/operate.html", "reference/providers/stripe.html"} {
		written, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		require.NoError(t, err)
		_, want, _ := strings.Cut(get(e, "/docs/"+file).Body.String(), "</header>")
		require.True(t, bytes.HasSuffix(written, []byte(want)), file)
		require.NotContains(t, string(written), `"/`, file)
		for _, m := range reference.FindAllStringSubmatch(string(written), -1) {
			if name, _, _ := strings.Cut(m[1], "#"); name != "" && !strings.Contains(name, ":") {
				require.FileExists(t, filepath.Join(dir, filepath.FromSlash(path.Dir(file)), filepath.FromSlash(name)), file)
			}
		}
	}
}
