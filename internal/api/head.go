package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"
)

// WebhookPath is where providers deliver to.
const WebhookPath = "/webhooks/"

// HeadAsGet handles HEAD as GET; net/http leaves the body out. It does not apply to webhooks. It must come before echo,
// since echo's router takes the request as it came.
func HeadAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead && !strings.HasPrefix(r.URL.Path, WebhookPath) {
			r = r.WithContext(context.WithValue(r.Context(), headKey{}, true))
			r.Method = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// WithoutSlash handles the webhook path /webhooks/x/ as /webhooks/x: a provider's dashboard may have the address with a slash. The address
// that was requested keeps it, since some providers sign it. It must come before echo, as HeadAsGet.
func WithoutSlash(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, is := strings.CutPrefix(r.URL.Path, WebhookPath); is && len(name) > 1 && strings.HasSuffix(name, "/") {
			address := *r.URL
			address.Path, address.RawPath = strings.TrimSuffix(address.Path, "/"), strings.TrimSuffix(address.RawPath, "/")
			r = r.WithContext(context.WithValue(r.Context(), slashKey{}, r.URL))
			r.URL = &address
		}
		next.ServeHTTP(w, r)
	})
}

type slashKey struct{}

// addressOf is the address of a request as it came.
func addressOf(r *http.Request) *url.URL {
	if came, ok := r.Context().Value(slashKey{}).(*url.URL); ok {
		return came
	}
	return r.URL
}

type headKey struct{}

// isHead reports whether a GET came as a HEAD.
func isHead(ctx context.Context) bool { return ctx.Value(headKey{}) != nil }

// AllowHead has echo name HEAD in Allow where it names GET (RFC 9110, 10.2.1); no HEAD gets here, see HeadAsGet.
func AllowHead(e *echo.Echo) {
	for _, r := range e.Routes() {
		if r.Method == http.MethodGet && !strings.HasPrefix(r.Path, WebhookPath) {
			e.HEAD(r.Path, echo.MethodNotAllowedHandler)
		}
	}
}
