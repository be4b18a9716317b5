package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/idempotency"
)

const problemJSON = "application/problem+json"

// statusGone is what the log says when nobody was there to be answered.
const statusGone = 499

// fail is echo's error handler: whatever goes wrong is answered here.
func (s *server) fail(err error, c echo.Context) {
	x := exchangeIn(c)
	x.cause = err
	if c.Response().Committed {
		return
	}
	if errors.Is(err, context.Canceled) && c.Request().Context().Err() != nil {
		c.Response().WriteHeader(statusGone)
		return
	}
	if replay, ok := errors.AsType[*idempotency.ReplayError](err); ok {
		x.answered(idempotency.Reused)
		s.write(x, replay.Answer)
		return
	}
	p := s.problemOf(x, err)
	x.code = p.Code
	if s.problems.byCode[p.Code].executed {
		x.refusedBefore()
	}
	s.write(x, s.problems.answer(p))
}

// refusedBefore marks the refusal of an executed command that is the response to a
// copy of it which was under way. The first one has no mark: it created nothing.
func (x *exchange) refusedBefore() {
	switch {
	case x.refused:
		x.result = idempotency.Created // for the metrics
	case x.shared:
		x.answered(idempotency.Reused)
	}
}

// answer is a problem as it is sent and, for an executed command, kept.
func (c catalogue) answer(p gen.Problem) idempotency.Answer {
	a := idempotency.Answer{
		Status:  p.Status,
		Headers: map[string]string{echo.HeaderContentType: problemJSON},
		Body:    render.JSON(p),
	}
	if p.RetryAfterMs != nil {
		wait := time.Duration(*p.RetryAfterMs) * time.Millisecond
		a.Headers[echo.HeaderRetryAfter] = strconv.FormatInt(render.Seconds(wait), 10)
	}
	if p.Status == http.StatusUnauthorized && p.Code == "unauthenticated" {
		a.Headers[echo.HeaderWWWAuthenticate] = "Bearer"
	}
	return a
}

// write sends an answer. An error of it means that the caller has gone.
func (s *server) write(x *exchange, a idempotency.Answer) {
	for name, value := range a.Headers {
		x.header().Set(name, value)
	}
	w := x.context.Response()
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body)
}
