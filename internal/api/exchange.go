package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api/access"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/commands"
)

// exchange is one request while it is served. It belongs to the request's goroutine.
type exchange struct {
	*access.Record
	context echo.Context
	// head is set where nothing but headers may be sent.
	head bool
	// waits is set where the request is logged after its wait.
	waits bool

	actor authz.Actor
	body  []byte
	// refused is set when a refusal was rendered to be kept with the key, shared
	// when another request's response is this one's, too.
	refused, shared bool
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

func exchangeIn(c echo.Context) *exchange { return exchangeOf(c.Request().Context()) }

func (x *exchange) header() http.Header { return x.context.Response().Header() }

// command is the request as it is recognized when it comes again. The ids are
// those in the path, decoded and in their canonical form.
func (s *server) command(x *exchange, ids ...string) idempotency.Request {
	r, route := x.context.Request(), x.context.Path()
	x.Operation, x.Commanded = s.commands[r.Method+" "+route], s.Now()
	return idempotency.Request{
		User:     string(x.actor.User()),
		Endpoint: r.Method + " " + addressed(route, ids),
		Key:      x.Key,
		Hash:     idempotency.HashRequest(r.Method, route, ids, r.URL.Query(), x.body),
		Refusal: func(err error) idempotency.Response {
			x.refused = true
			return s.problems.Response(s.problems.Document(x.RequestID, err))
		},
	}
}

// addressed is a route with its ids: however a path was written, it is the same.
func addressed(route string, ids []string) string {
	segments := strings.Split(route, "/")
	for i, s := range segments {
		if strings.HasPrefix(s, ":") {
			segments[i], ids = ids[0], ids[1:]
		}
	}
	return strings.Join(segments, "/")
}

func (x *exchange) setReply(r commands.Reply) {
	x.setResult(r.Result)
	x.TookOver = r.TookOver
}

// setResult sets the headers that show whether the command was executed now or before.
func (x *exchange) setResult(result idempotency.Result) {
	x.Result = result
	x.header().Set(idempotency.HeaderResult, string(result))
	if result == idempotency.Reused {
		x.header().Set(idempotency.HeaderReplayed, "true")
	}
}

// failed records for the error handler whether the refusal was another request's.
func (x *exchange) failed(result idempotency.Result, err error) error {
	x.shared = result == idempotency.Reused
	return err
}
