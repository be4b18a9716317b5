package api_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	contract "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/platform/metrics"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := b.send(http.MethodGet, "/healthz", "", "Authorization: -")
	require.JSONEq(t, `{"status":"ok"}`, string(got.text))
	got = b.send(http.MethodHead, "/healthz", "")
	require.Equal(t, 200, got.StatusCode)
	require.Empty(t, got.text)
}

func TestReadyNamesWhatIsNot(t *testing.T) {
	t.Parallel()
	var broken error
	b := newBench(t, func(o *api.Options) {
		o.Ready = []api.Check{
			{Name: "database", Run: func(context.Context) error { return broken }},
			{Name: "workers", Run: func(context.Context) error { return nil }},
		}
	})
	got := b.send(http.MethodGet, "/readyz", "", "Authorization: -")
	require.Equal(t, 200, got.StatusCode)
	require.JSONEq(t, `{"status":"ok","checks":{"database":"ok","workers":"ok"}}`, string(got.text))
	broken = errors.New("password of postgres is wrong")
	got = b.sendUnready("/readyz")
	require.Equal(t, 503, got.StatusCode)
	require.JSONEq(t, `{"status":"unavailable","checks":{"database":"failed","workers":"ok"}}`, string(got.text))
	require.Contains(t, b.log.String(), "password of postgres")
}

// sendUnready is send for the one answer above 399 that is no problem document.
func (b *bench) sendUnready(path string) answer {
	b.t.Helper()
	resp, err := http.Get(b.server.URL + path)
	require.NoError(b.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(b.t, err)
	return answer{resp, text}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := b.send(http.MethodGet, "/openapi.yaml", "", "Authorization: -")
	require.Equal(t, contract.Document, got.text)
	require.Equal(t, "application/yaml", got.Header.Get("Content-Type"))
	page := b.send(http.MethodGet, "/docs", "", "Authorization: -")
	policy := page.Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'; script-src 'self'; style-src 'self'")
	require.NotContains(t, policy, "unsafe")
	for _, text := range []string{"/v1/orders/{order_id}/pay", "Idempotency-Key", `id="schema-Attempt"`, "<code>outcome_unknown</code>", "version test"} {
		require.Contains(t, string(page.text), text)
	}
	require.NotRegexp(t, `<script(?:[^>]*)>[^<]|<style|\sstyle=|\son[a-z]+=|javascript:`, string(page.text))
	own := regexp.MustCompile(`(?:src|<link[^>]* href)="([^"]*)"`).FindAllStringSubmatch(string(page.text), -1)
	require.Len(t, own, 5)
	for _, file := range own {
		require.True(t, strings.HasPrefix(file[1], "/docs/assets/"), file[1])
		require.Equal(t, http.StatusOK, b.send(http.MethodGet, file[1], "", "Authorization: -").StatusCode, file[1])
	}
}

// TestTheStartPage links to existing pages only.
func TestTheStartPage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*api.Options)
		links  []string
	}{
		"serve": {func(*api.Options) {}, []string{"/docs", "/openapi.yaml", "/docs/index.html", "/problems", "/docs#operations"}},
		"dev": {
			func(o *api.Options) { o.Demo, o.Console = true, http.NotFoundHandler() },
			[]string{"/docs", "/openapi.yaml", "/docs/index.html", "/problems", "/demo", "/support", "/docs#operations"},
		},
	} {
		page := newBench(t, c.change).send(http.MethodGet, "/", "", "Authorization: -")
		require.Equal(t, http.StatusOK, page.StatusCode, name)
		require.NotEmpty(t, page.Header.Get("Content-Security-Policy"))
		var links []string
		for _, link := range regexp.MustCompile(`<a href="([^"]*)"`).FindAllStringSubmatch(string(page.text), -1) {
			links = append(links, link[1])
		}
		require.Equal(t, c.links, links, name)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	var served []metrics.Request
	b := newBench(t, func(o *api.Options) {
		o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") })
		o.Observe = func(s metrics.Request) { served = append(served, s) }
	})
	require.Equal(t, "up 1\n", string(b.send(http.MethodGet, "/metrics", "").text))
	b.send(http.MethodGet, "/v1/orders/A%20B", "")
	b.send(http.MethodGet, "/private/path", "")
	require.Equal(t, "/metrics", served[0].Route)
	require.Equal(t, metrics.Request{Method: "GET", Route: "/v1/orders/:order_id", Status: 403, Code: "forbidden"}, served[1])
	require.NotContains(t, served[2].Route, "private")
}

func TestEveryOperationIsRouted(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *api.Options) { o.Metrics = http.NotFoundHandler() })
	for path := range pathsOf(t) {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			concrete := strings.NewReplacer("{", "", "}", "").Replace(path)
			resp, err := http.NewRequestWithContext(t.Context(), method, b.server.URL+concrete, nil)
			require.NoError(t, err)
			got, err := http.DefaultTransport.RoundTrip(resp)
			require.NoError(t, err)
			require.NoError(t, got.Body.Close())
			require.Equal(t, serves(pathsOf(t), concrete, method), got.StatusCode != http.StatusMethodNotAllowed, "%s %s", method, path)
		}
	}
}

// serves reports whether a path, or one with parameters that it fits, has a method.
func serves(paths map[string]map[string]bool, concrete, method string) bool {
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	for path, methods := range paths {
		if methods[method] && regexp.MustCompile("^"+parameter.ReplaceAllString(path, "[^/]+")+"$").MatchString(concrete) {
			return true
		}
	}
	return false
}

func pathsOf(t *testing.T) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{}
	path := ""
	_, paths, _ := strings.Cut(string(contract.Document), "\npaths:\n")
	paths, _, _ = strings.Cut(paths, "\ncomponents:\n")
	for line := range strings.SplitSeq(paths, "\n") {
		switch {
		case strings.HasPrefix(line, "  /"):
			path = strings.TrimSuffix(strings.TrimSpace(line), ":")
			all[path] = map[string]bool{}
		case strings.HasPrefix(line, "    get:"):
			all[path][http.MethodGet] = true
		case strings.HasPrefix(line, "    post:"):
			all[path][http.MethodPost] = true
		}
	}
	return all
}
