// Package echoidempotency gives the commands of an echo server idempotency keys. However often a request is sent, its
// handler's effect happens once, and each copy gets the same response.
//
//	e.POST("/reservations", reserve, echoidempotency.New(echoidempotency.Options{Guard: guard, User: user}))
//
//	no key, or one of a wrong form ──────────► 400 idempotency-key-missing, -invalid, -in-query
//	new key ─────────────────────────────────► the handler's response, Idempotency-Result: created
//	same user, route, key and request ───────► the first response, Idempotency-Result: reused
//	the same with another request ───────────► 409 idempotency-key-reused
//	the first is still under way after Wait ─► 409 request-in-progress, Retry-After
//
// The handler writes by the transaction in its request's context (pgxstore.TxOf), so that its
// effect and its response are on disk together. If a handler answers with 4xx or 5xx, its writes
// are undone. See [idempotency.Response.UsesKey] for the refusals that use up a key.
//
// A response is sent once the handler has returned: it is no place for a stream. Of a response
// over [idempotency.MaxBody] copies get the status and the headers only; name the entity in Location.
package echoidempotency

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/idempotency"
)

// Options configure the middleware.
type Options struct {
	// Guard keeps the keys.
	Guard *idempotency.Guard
	// User returns the caller. Keys of different users are different keys.
	User func(c echo.Context) (string, error)
	// Keep is how long the response of a command that was carried out is replayed; 0 means
	// [idempotency.KeepOther].
	Keep time.Duration
	// Calls is set for handlers that call other services. They run between two transactions of
	// the keys, without a transaction in their context. If the process dies, the handler is run
	// again, with [TakenOver].
	Calls bool
	// MaxRequest is the largest body of a request, in bytes; 0 means 1 MiB.
	MaxRequest int64
	// Fail renders the errors of the contract; nil means [Problem].
	Fail func(c echo.Context, err error) error
}

const maxRequest = 1 << 20

// New returns the middleware. It panics without a Guard or a User.
func New(o Options) echo.MiddlewareFunc {
	if o.Guard == nil || o.User == nil {
		panic("echoidempotency: Guard and User must be set")
	}
	if o.Keep == 0 {
		o.Keep = idempotency.KeepOther
	}
	if o.MaxRequest == 0 {
		o.MaxRequest = maxRequest
	}
	if o.Fail == nil {
		o.Fail = Problem
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error { return o.serve(c, next) }
	}
}

func (o Options) serve(c echo.Context, next echo.HandlerFunc) error {
	req, body, err := o.request(c)
	if err != nil {
		return o.Fail(c, err)
	}
	c.Response().Header().Set(idempotency.HeaderKey, string(req.Key))
	response, result, err := o.run(c, req, func(ctx context.Context) (idempotency.Response, error) {
		return record(ctx, c, body, next), nil
	})
	if err != nil {
		return o.Fail(c, err)
	}
	return send(c, response, result)
}

// request is the command as it is recognised when it comes again, and its body.
func (o Options) request(c echo.Context) (req idempotency.Request, body []byte, err error) {
	r := c.Request()
	if req.Key, err = idempotency.KeyOf(r); err != nil {
		return req, nil, err
	}
	if req.User, err = o.User(c); err != nil {
		return req, nil, err
	}
	if body, err = io.ReadAll(http.MaxBytesReader(c.Response(), r.Body, o.MaxRequest)); err != nil {
		if errors.As(err, new(*http.MaxBytesError)) {
			return req, nil, echo.ErrStatusRequestEntityTooLarge
		}
		return req, nil, fmt.Errorf("read the request: %w", err)
	}
	req.Endpoint = r.Method + " " + r.URL.Path
	req.Hash = idempotency.HashRequest(r.Method, c.Path(), c.ParamValues(), r.URL.Query(), body)
	return req, body, nil
}

// takenOver is the key of echo's context for [TakenOver].
const takenOver = "github.com/paylatch/paylatch/idempotency: taken over"

// TakenOver reports whether an earlier run of the same command, in a process that died, may have
// done some of it. It is always false without [Options.Calls]: such a run was undone.
func TakenOver(c echo.Context) bool {
	over, _ := c.Get(takenOver).(bool)
	return over
}

func (o Options) run(c echo.Context, req idempotency.Request, handle idempotency.Effect) (idempotency.Response, idempotency.Result, error) {
	if !o.Calls {
		return o.Guard.InTx(c.Request().Context(), req, o.Keep, handle)
	}
	return o.Guard.Do(c.Request().Context(), req, o.Keep, func(ctx context.Context, over bool) (idempotency.Response, error) {
		c.Set(takenOver, over)
		return handle(ctx)
	})
}

// record runs the handler and returns its response instead of sending it.
func record(ctx context.Context, c echo.Context, body []byte, next echo.HandlerFunc) idempotency.Response {
	request, response := c.Request(), c.Response()
	defer func() {
		c.SetRequest(request)
		c.SetResponse(response)
	}()
	w := &recorder{header: http.Header{}}
	again := request.WithContext(ctx)
	again.Body = io.NopCloser(bytes.NewReader(body))
	c.SetRequest(again)
	c.SetResponse(echo.NewResponse(w, c.Echo()))
	if err := next(c); err != nil {
		c.Error(err)
	}
	return w.response()
}

// send sends a response as a handler's own.
func send(c echo.Context, response idempotency.Response, result idempotency.Result) error {
	h := c.Response().Header()
	for name, value := range response.Headers {
		h.Set(name, value)
	}
	switch {
	case result == idempotency.Reused:
		h.Set(idempotency.HeaderResult, string(result))
		h.Set(idempotency.HeaderReplayed, "true")
	case response.Status < http.StatusBadRequest:
		h.Set(idempotency.HeaderResult, string(result))
	}
	c.Response().WriteHeader(response.Status)
	if _, err := c.Response().Write(response.Body); err != nil {
		return fmt.Errorf("send the response: %w", err)
	}
	return nil
}
