package api

import (
	"context"
	"net/http"
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
