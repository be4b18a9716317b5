package api

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/api/waiting"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/throttle"
)

// ListAttempts handles GET /v1/orders/{order_id}/attempts.
func (s *server) ListAttempts(ctx context.Context, r gen.ListAttemptsRequestObject) (gen.ListAttemptsResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := x.OrderID(r.OrderID)
	if err != nil {
		return nil, err
	}
	request, err := requestFilter(r.Params.ClientRequestID)
	if err != nil {
		return nil, err
	}
	views, err := s.Reads.Attempts(ctx, x.Actor, id, request)
	if err != nil {
		return nil, err
	}
	list := gen.AttemptList{Items: make([]gen.Attempt, len(views))}
	for i, v := range views {
		list.Items[i] = s.renderOf(ctx, v.UserID).Attempt(v)
	}
	return response{http.StatusOK, list}, nil
}

const longestRequest = 200

// requestFilter refuses an empty filter: more likely an id was lost than all attempts are wanted.
func requestFilter(id *string) (payment.RequestID, error) {
	switch {
	case id == nil:
		return "", nil
	case *id == "" || len(*id) > longestRequest || !utf8.ValidString(*id) || strings.ContainsRune(*id, 0):
		return "", &payment.ValidationError{Fields: []payment.FieldError{
			{Field: "client_request_id", Message: "must have 1 to 200 characters"},
		}}
	}
	return payment.RequestID(*id), nil
}

// ReadAttempt handles GET /v1/payment-attempts/{payment_attempt_id}.
func (s *server) ReadAttempt(ctx context.Context, r gen.ReadAttemptRequestObject) (gen.ReadAttemptResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := x.AttemptID(r.PaymentAttemptID)
	if err != nil {
		return nil, err
	}
	poll := waiting.Poll{Actor: x.Actor, ID: id, Network: network(x), Tags: valueOf(r.Params.IfNoneMatch)}
	wait, applied, err := waiting.ParseWait(r.Params.Wait, r.Params.Prefer)
	if err != nil {
		return nil, err
	}
	if r.Params.IfNoneMatch != nil && !x.Head {
		poll.Wait, poll.Applied = wait, applied
	}
	return writes(func(w http.ResponseWriter) error {
		wait, err := s.waiting.Poll(ctx, w, poll)
		leave(ctx, wait)
		return err
	}), nil
}

// CheckAttempt handles POST /v1/payment-attempts/{payment_attempt_id}/check.
func (s *server) CheckAttempt(ctx context.Context, r gen.CheckAttemptRequestObject) (gen.CheckAttemptResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := x.AttemptID(r.PaymentAttemptID)
	if err != nil {
		return nil, err
	}
	v, err := s.Payments.Check(ctx, x.Actor, id)
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, s.shown(x, v)}, nil
}

// StreamAttempt handles GET /v1/payment-attempts/{payment_attempt_id}/stream.
func (s *server) StreamAttempt(ctx context.Context, r gen.StreamAttemptRequestObject) (gen.StreamAttemptResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := x.AttemptID(r.PaymentAttemptID)
	if err != nil {
		return nil, err
	}
	events := waiting.Stream{Actor: x.Actor, ID: id, Network: network(x), LastEventID: valueOf(r.Params.LastEventID), Head: x.Head}
	return writes(func(w http.ResponseWriter) error {
		wait, err := s.waiting.Stream(ctx, w, events)
		leave(ctx, wait)
		return err
	}), nil
}

// network is the network that a request comes from.
func network(x *Exchange) string {
	address, _ := netip.ParseAddr(x.Peer)
	return throttle.Network(address)
}

// leave has a wait, if there is one, run when the request's handlers have returned, and the request logged then.
func leave(ctx context.Context, wait *waiting.Wait) {
	if wait == nil {
		return
	}
	waiting.Leave(ctx, wait, ExchangeOf(ctx).Leave())
}

// readAttempt reads for a waiter.
func (s *server) readAttempt(ctx context.Context, actor authz.Actor, id payment.AttemptID) (payment.View, error) {
	v, err := s.Reads.Attempt(ctx, actor, id)
	if err == nil {
		ExchangeOf(ctx).About(v.Attempt)
	}
	return v, err
}

// renderOf returns the renderer of a user's objects for the caller.
func (s *server) renderOf(ctx context.Context, user payment.UserID) render.Renderer {
	return s.render.For(ExchangeOf(ctx).Actor, user)
}

// shown renders an attempt and sets the headers for polling it.
func (s *server) shown(x *Exchange, v payment.View) gen.Attempt {
	x.About(v.Attempt)
	x.Header().Set("ETag", render.ETag(v.Version))
	if wait := s.render.RetryAfter(v); wait != "" {
		x.Header().Set(echo.HeaderRetryAfter, wait)
	}
	return s.render.Attempt(v)
}
