package api

import (
	"context"
	"errors"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/idempotency"
)

// statusPeerClosed is what the log has where the peer closed the connection before the response.
const statusPeerClosed = 499

// fail is echo's error handler: all errors become responses here.
func (s *server) fail(err error, c echo.Context) {
	x := exchangeIn(c)
	x.Cause = err
	if c.Response().Committed {
		return
	}
	if errors.Is(err, context.Canceled) && c.Request().Context().Err() != nil {
		c.Response().WriteHeader(statusPeerClosed)
		return
	}
	if replay, ok := errors.AsType[*idempotency.ReplayError](err); ok {
		x.setResult(idempotency.Reused)
		s.write(x, replay.Response)
		return
	}
	p := s.problems.Document(x.RequestID, err)
	x.Code = p.Code
	if s.problems.Executed(p.Code) {
		x.refusedBefore()
	}
	s.write(x, s.problems.Response(p))
}

// refusedBefore marks the refusal of an executed command that is the response to a
// copy of it which was under way. The first one has no mark: it created nothing.
func (x *exchange) refusedBefore() {
	switch {
	case x.refused:
		x.Result = idempotency.Created // for the metrics
	case x.shared:
		x.setResult(idempotency.Reused)
	}
}

// write sends a stored response. An error of it means that the caller has gone.
func (s *server) write(x *exchange, a idempotency.Response) {
	for name, value := range a.Headers {
		x.header().Set(name, value)
	}
	w := x.context.Response()
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body)
}
