package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// What a page of another origin may send and see. The credential is a bearer
// token that the page itself adds; a browser adds none, so every origin may ask.
const (
	corsMethods = "GET, POST"
	corsHeaders = "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Prefer, X-Request-Id"
	corsExposed = "ETag, Idempotency-Key, Idempotency-Replayed, Idempotency-Result, Retry-After, X-Request-Id"
	corsMaxAge  = "7200"
)

// crossOrigin lets pages of any origin use the calls under /v1/.
func crossOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, h := c.Request(), c.Response().Header()
		if r.Header.Get(echo.HeaderOrigin) == "" || !strings.HasPrefix(r.URL.Path, "/v1/") {
			return next(c)
		}
		h.Set(echo.HeaderAccessControlAllowOrigin, "*")
		h.Set(echo.HeaderAccessControlExposeHeaders, corsExposed)
		if r.Method != http.MethodOptions || r.Header.Get(echo.HeaderAccessControlRequestMethod) == "" {
			return next(c)
		}
		h.Set(echo.HeaderAccessControlAllowMethods, corsMethods)
		h.Set(echo.HeaderAccessControlAllowHeaders, corsHeaders)
		h.Set(echo.HeaderAccessControlMaxAge, corsMaxAge)
		return c.NoContent(http.StatusNoContent)
	}
}
