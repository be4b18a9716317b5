package api

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/gen"
)

// checkTime is how long one check may take.
const checkTime = 2 * time.Second

// NewOperations returns the handler of the operator's endpoints, for an address of its own: /healthz, /readyz and /metrics.
func NewOperations(o Options) http.Handler {
	s := newServer(o)
	e := s.exchanges.NewEcho()
	s.routeHealth(e)
	AllowHead(e)
	return HeadAsGet(e)
}

func (s *server) routeOperations(e *echo.Echo) {
	if !s.OperationsApart {
		s.routeHealth(e)
	}
}

func (s *server) routeHealth(e *echo.Echo) {
	e.GET("/healthz", func(c echo.Context) error {
		return response{http.StatusOK, gen.Health{Status: gen.HealthStatusOk}}.send(c.Response())
	})
	e.GET("/readyz", s.readyz)
	if s.Metrics != nil {
		e.GET("/metrics", echo.WrapHandler(s.Metrics))
	}
}

// readyz makes all checks, so that one request shows all that is wrong. Why a check failed is for the log.
func (s *server) readyz(c echo.Context) error {
	status := http.StatusOK
	body := gen.Readiness{Status: gen.ReadinessStatusOk, Checks: make(map[string]gen.ReadinessChecks)}
	for _, check := range s.Ready {
		body.Checks[check.Name] = gen.ReadinessChecksOk
		if err := check.within(c.Request().Context(), checkTime); err != nil {
			body.Checks[check.Name] = gen.ReadinessChecksFailed
			body.Status, status = gen.ReadinessStatusUnavailable, http.StatusServiceUnavailable
			ExchangeIn(c).Cause = err
		}
	}
	return response{status, body}.send(c.Response())
}

func (check Check) within(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return check.Run(ctx)
}
