package api

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"
)

// preflightLife is how long a browser may keep a preflight's response, in seconds.
const preflightLife = "600"

// shareWithPages lets pages of configured origins read the response, refusals included. It stands only before the calls
// that a status token opens.
func (g *Gate) shareWithPages(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		g.share(c)
		return next(c)
	}
}

// share reports whether the page's origin is a configured one.
func (g *Gate) share(c echo.Context) bool {
	if len(g.Origins) == 0 {
		return false
	}
	h, origin := c.Response().Header(), c.Request().Header.Get(echo.HeaderOrigin)
	h.Add(echo.HeaderVary, echo.HeaderOrigin)
	if !slices.Contains(g.Origins, origin) {
		return false
	}
	h.Set(echo.HeaderAccessControlAllowOrigin, origin)
	h.Set(echo.HeaderAccessControlExposeHeaders, "ETag, Retry-After, Preference-Applied, X-Request-Id")
	return true
}

// RoutePreflights serves the preflights of the calls that a status token opens.
func (g *Gate) RoutePreflights(e *echo.Echo) {
	if len(g.Origins) == 0 {
		return
	}
	for _, op := range g.Contract.Operations() {
		if op.Accepts(statusToken) {
			e.OPTIONS(RouteOf(op.Path), g.preflight(op.Method))
		}
	}
}

func (g *Gate) preflight(method string) echo.HandlerFunc {
	allow := "OPTIONS, " + method
	if method == http.MethodGet {
		allow += ", " + http.MethodHead
	}
	return func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderAllow, allow)
		if g.share(c) {
			h := c.Response().Header()
			h.Set(echo.HeaderAccessControlAllowMethods, method)
			h.Set(echo.HeaderAccessControlAllowHeaders, "Authorization, If-None-Match, Last-Event-ID, Prefer, X-Request-Id")
			h.Set(echo.HeaderAccessControlMaxAge, preflightLife)
		}
		return c.NoContent(http.StatusNoContent)
	}
}
