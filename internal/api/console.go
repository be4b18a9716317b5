package api

import (
	"github.com/labstack/echo/v4"
)

// routeConsole hands on what is under /support. The log and the metrics name all
// of it by one route, so that no id is in them.
func (s *server) routeConsole(e *echo.Echo) {
	if s.Console == nil {
		return
	}
	serve := func(c echo.Context) error {
		r := *c.Request()
		r.RemoteAddr = c.RealIP()
		s.Console.ServeHTTP(c.Response(), &r)
		return nil
	}
	e.Any("/support", serve)
	e.Any("/support/*", serve)
}
