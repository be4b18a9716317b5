package api

import (
	"maps"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/api/waiting"
	"github.com/paylatch/paylatch/internal/platform/throttle"
)

type server struct {
	Options
	doc       *contract.Document
	exchanges ExchangeOptions
	searches  *throttle.KeyedLimiter
	bodies    Bodies
	render    render.Renderer
	waiting   waiting.Service
}

const (
	// searchesEach a second, and as many at once, are more than a person types.
	searchesEach   = 5
	searchesAtOnce = 50
)

// New returns the API. It panics if the contract can't be read: the build is broken then.
func New(o Options) http.Handler {
	doc, err := contract.Load(contractfile.Document)
	if err != nil {
		panic(err)
	}
	s := newServer(o)
	s.doc, s.exchanges.Commands, s.searches = doc, CommandNames(doc), throttle.New(searchesEach, searchesAtOnce)
	if o.Commands != nil {
		o.Commands(slices.Sorted(maps.Values(s.exchanges.Commands)))
	}
	s.waiting = waiting.Service{Hub: o.Hub, Read: s.readAttempt, Renderer: s.render}
	return WithoutSlash(HeadAsGet(waiting.Handler(s.routes())))
}

func newServer(o Options) *server {
	o = o.withDefaults()
	renderer := render.New(o.Now, o.PollAfter)
	return &server{Options: o, render: renderer, exchanges: ExchangeOptions{
		Problems: render.NewCatalogue(renderer, o.ReusedStatus), Access: AccessLog{Log: o.Log, Refusals: o.Refusals, Observe: o.Observe, Now: o.Now},
		TrustedProxies: o.TrustedProxies, Now: o.Now,
	}}
}

func (s *server) routeWebhooks(e *echo.Echo) {
	ops := s.doc.Tagged("webhooks")
	var most int64
	for _, op := range ops {
		if op.RequestBody != nil {
			most = max(most, op.RequestBody.MaxBytes)
		}
	}
	receiver := NewReceiver(ReceiverOptions{
		Payments: s.Deliveries, Accounts: s.Accounts, Rejected: s.Rejected, TrustedProxies: s.TrustedProxies, Bodies: &s.bodies, MaxBytes: most, Now: s.Now,
	})
	for _, op := range ops {
		e.Add(op.Method, RouteOf(op.Path), receiver.Receive)
	}
}

func (s *server) routes() *echo.Echo {
	e := s.exchanges.NewEcho()
	before := Gate{
		Contract: s.doc, Auth: s.Auth, Audit: s.Support, Refused: s.Refused, CustomersMay: s.CustomersMay, Origins: s.Origins,
		Quota: s.Quota, Now: s.Now,
	}
	e.Binder = NewBinder(BinderOptions{
		Contract: s.doc, Bodies: &s.bodies, Decided: before.Decided,
		Keep: func(c echo.Context, body []byte) { ExchangeIn(c).Body = body },
	})
	gen.RegisterHandlersWithOptions(e, gen.NewStrictHandler(s, nil), gen.RegisterHandlersOptions{
		OperationMiddlewares: before.Middlewares(),
	})
	s.routeWebhooks(e)
	s.routeOperations(e)
	RouteSite(e, SiteOptions{
		Contract: s.doc, Version: s.Version, Problems: s.exchanges.Problems.Pages(), Demo: s.Demo, Console: s.Console != nil,
	})
	s.routeConsole(e)
	before.RoutePreflights(e)
	AllowHead(e)
	return e
}
