package api

import (
	"context"
	"errors"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/idempotency"
)

// statusPeerClosed is the status in the log if the peer closed the connection before the response.
const statusPeerClosed = 499

// fail is echo's error handler: all errors become responses here.
func (s *ExchangeOptions) fail(err error, c echo.Context) {
	x := ExchangeIn(c)
	x.Cause = err
	if c.Response().Committed {
		return
	}
	if errors.Is(err, context.Canceled) && c.Request().Context().Err() != nil {
		c.Response().WriteHeader(statusPeerClosed)
		return
	}
	if replay, ok := errors.AsType[*idempotency.ReplayError](err); ok {
		x.SetResult(idempotency.Reused)
		s.write(x, replay.Response)
		return
	}
	p := s.Problems.Document(x.RequestID, err)
	x.Code = p.Code
	if s.Problems.Executed(p.Code) {
		x.refusedBefore()
	}
	s.write(x, s.Problems.Response(p))
}

// refusedBefore marks the refusal of an executed command: it is kept with the key, or it is the response to a copy of the
// command that was under way.
func (x *Exchange) refusedBefore() {
	switch {
	case x.refused:
		x.SetResult(idempotency.Created)
	case x.shared:
		x.SetResult(idempotency.Reused)
	}
}

// write sends a stored response. An error of it means that the caller has gone.
func (s *ExchangeOptions) write(x *Exchange, a idempotency.Response) {
	for name, value := range a.Headers {
		x.Header().Set(name, value)
	}
	w := x.context.Response()
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body)
}
