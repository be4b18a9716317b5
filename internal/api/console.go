package api

import (
	"bytes"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"
)

// maxForm is the largest console form that is read, in bytes. It exceeds the console's own limit, so that the console shows its own error page.
const maxForm = 128 << 10

// routeConsole forwards requests under /support to the console. The log and the metrics name a single route for all
// of them, so that no id is in them. A form is read before, as every body.
func (s *server) routeConsole(e *echo.Echo) {
	if s.Console == nil {
		return
	}
	serve := func(c echo.Context) error {
		r := *c.Request()
		r.RemoteAddr = c.RealIP()
		if r.Method != http.MethodGet {
			body, err := s.bodies.Read(c, maxForm)
			if err != nil {
				return err
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		s.Console.ServeHTTP(c.Response(), &r)
		return nil
	}
	e.Any("/support", serve)
	e.Any("/support/*", serve)
}
