package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
)

// exchange is what is known of one request while it is served. It belongs to the
// request's goroutine.
type exchange struct {
	requestID string
	begun     time.Time
	method    string
	context   echo.Context
	// peer is the caller's address, origin the page's that a browser names; subject and onBehalfOf are who it is. They are for the log.
	peer, origin, subject, onBehalfOf string
	// head says that nothing but headers may be answered.
	head bool
	// waits says that the request is logged after its wait.
	waits bool

	actor payment.Actor
	key   idempotency.Key
	body  []byte
	// refused is set when a refusal was rendered to be kept with the key, shared
	// when another request's answer is this one's, too.
	refused, shared bool
	result          idempotency.Result
	tookOver        bool
	// operation is the command whose use case was called at commanded.
	operation string
	commanded time.Time

	order    payment.OrderID
	attempt  string
	refund   string
	account  string
	verdicts []fsm.Verdict
	code     string
	cause    error
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

func exchangeIn(c echo.Context) *exchange { return exchangeOf(c.Request().Context()) }

func (x *exchange) header() http.Header { return x.context.Response().Header() }

// command is the request as it is recognised when it comes again. The ids are
// those in the path, decoded and in their canonical form.
func (s *server) command(x *exchange, ids ...string) idempotency.Request {
	r, route := x.context.Request(), x.context.Path()
	x.operation, x.commanded = s.commands[r.Method+" "+route], s.Now()
	return idempotency.Request{
		User:     string(x.actor.User()),
		Endpoint: r.Method + " " + endpoint(route, ids),
		Key:      x.key,
		Hash:     idempotency.HashRequest(r.Method, route, ids, r.URL.Query(), x.body),
		Refusal: func(err error) idempotency.Answer {
			x.refused = true
			return s.problems.Response(s.problems.Document(x.requestID, err))
		},
	}
}

// endpoint is a route with its ids: however a path was written, it is the same.
func endpoint(route string, ids []string) string {
	segments := strings.Split(route, "/")
	for i, s := range segments {
		if strings.HasPrefix(s, ":") {
			segments[i], ids = ids[0], ids[1:]
		}
	}
	return strings.Join(segments, "/")
}

// about notes whom the request is about, for the log.
func (x *exchange) about(a payment.Attempt) {
	x.order, x.attempt, x.account = a.OrderID, a.ID.String(), a.Account
}

func (x *exchange) aboutRefund(r payment.Refund) {
	x.order, x.attempt, x.account, x.refund = r.OrderID, r.AttemptID.String(), r.Account, r.ID.String()
}

func (x *exchange) replied(r payment.Reply) {
	x.answered(r.Result)
	x.tookOver = r.TookOver
}

// answered tells the caller whether the command was executed now or before.
func (x *exchange) answered(result idempotency.Result) {
	x.result = result
	x.header().Set(resultHeader, string(result))
	if result == idempotency.Reused {
		x.header().Set(replayedHeader, "true")
	}
}

// failed notes, for the error handler, whether the refusal was another request's.
func (x *exchange) failed(result idempotency.Result, err error) error {
	x.shared = result == idempotency.Reused
	return err
}
