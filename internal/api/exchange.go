package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// An Exchange is one request of the API while it is served: its sender, its idempotency key, its result, and the response
// to its error.
//
// Service makes the router that begins an exchange with each request and ends it with its line in the log. The checks and the
// handler find the exchange by Of or In and record their results in it.

// Exchange is one request while it is served. It belongs to the request's goroutine.
type Exchange struct {
	*AccessRecord

	// Actor is the caller, once authenticated; its zero value has no right.
	Actor authz.Actor
	// Head is set where nothing but headers may be sent.
	Head bool
	// Body is the request's, as it was sent.
	Body []byte

	service *ExchangeOptions
	context echo.Context
	// span is that of the request; nil where traces are off.
	span *tracing.Span
	// waits is set where the request is logged after its wait.
	waits bool
	// refused is set when a refusal was rendered to be kept with the key, shared
	// when another request's response is this one's, too.
	refused, shared bool
}

type exchangeKey struct{}

// ExchangeOf returns the exchange of a request's context, nil outside of one.
func ExchangeOf(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

// ExchangeIn returns the exchange of echo's context.
func ExchangeIn(c echo.Context) *Exchange { return ExchangeOf(c.Request().Context()) }

// Header returns the headers of the response.
func (x *Exchange) Header() http.Header { return x.context.Response().Header() }

// Query returns the parameters of the request's address.
func (x *Exchange) Query() url.Values { return x.context.QueryParams() }

// Accept returns the forms that the caller accepts, as the header has them.
func (x *Exchange) Accept() string {
	return strings.Join(x.context.Request().Header.Values(echo.HeaderAccept), ", ")
}

// Staff is the caller, and the address of the call.
func (x *Exchange) Staff() support.Staff {
	return support.Staff{Actor: x.Actor, Address: x.Peer, RequestID: x.RequestID}
}

// SetReply sets the headers of a command that came to a reply.
func (x *Exchange) SetReply(r commands.Reply) {
	x.SetResult(r.Result)
	x.TookOver = r.TookOver
}

// SetResult sets the headers that show whether the command was executed now or before.
func (x *Exchange) SetResult(result idempotency.Result) {
	x.Result = result
	x.Header().Set(idempotency.HeaderResult, string(result))
	if result == idempotency.Reused {
		x.Header().Set(idempotency.HeaderReplayed, "true")
	}
}

// Failed records for the error handler whether the refusal was another request's, and returns the error.
func (x *Exchange) Failed(result idempotency.Result, err error) error {
	x.shared = result == idempotency.Reused
	return err
}

// Leave releases everything that the exchange uses of its request, since the request goes on as a wait. The returned function
// logs the request.
func (x *Exchange) Leave() (done func(status int)) {
	route, service := x.context.Path(), x.service
	x.waits, x.context, x.Actor = true, nil, authz.Actor{}
	return func(status int) { service.ended(x, route, status) }
}
