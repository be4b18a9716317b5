package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api/access"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/api/delivery"
	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/problem"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/api/request"
	"github.com/paylatch/paylatch/internal/api/site"
	"github.com/paylatch/paylatch/internal/api/waiting"
	"github.com/paylatch/paylatch/internal/throttle"
)

type server struct {
	Options
	doc      *contract.Document
	problems *problem.Catalogue
	access   access.Log
	// commands are the operations that take a key, by method and route.
	commands map[string]string
	searches *throttle.KeyedLimiter
	bodies   request.Bodies
	render   render.Renderer
	waiting  waiting.Service
}

// New returns the API. It panics if the contract can't be read: the build is broken then.
func New(o Options) http.Handler {
	doc, err := contract.Load(contractfile.Document)
	if err != nil {
		panic(err)
	}
	s := newServer(o)
	s.doc, s.commands, s.searches = doc, make(map[string]string), throttle.New(searchesEach, searchesAtOnce)
	s.waiting = waiting.Service{Hub: o.Hub, Read: s.readAttempt, Renderer: s.render}
	return headAsGet(waiting.Handler(s.routes()))
}

func newServer(o Options) *server {
	o = o.withDefaults()
	renderer := render.New(o.Now, o.PollAfter)
	return &server{
		Options: o, problems: problem.New(renderer), render: renderer, access: access.Log{Log: o.Log, Observe: o.Observe, Now: o.Now},
	}
}

// newEcho makes an echo without routes.
func (s *server) newEcho() *echo.Echo {
	e := echo.New()
	e.HTTPErrorHandler = s.fail
	e.IPExtractor = realIP(s.TrustedProxies)
	e.Use(s.identify, s.logged, recovered)
	return e
}

// webhookPath is where providers deliver to.
const webhookPath = "/webhooks/"

func (s *server) routeWebhooks(e *echo.Echo) {
	receiver := delivery.New(delivery.Options{
		Payments: s.Deliveries, Accounts: s.Accounts, TrustedProxies: s.TrustedProxies, Bodies: &s.bodies, Now: s.Now,
	})
	for _, op := range s.doc.Tagged("webhooks") {
		e.Add(op.Method, request.Route(op.Path), receiver.Receive)
	}
}

func (s *server) routes() *echo.Echo {
	e := s.newEcho()
	e.Binder = request.NewBinder(s.doc, &s.bodies, func(c echo.Context, body []byte) { exchangeIn(c).body = body })
	gen.RegisterHandlersWithOptions(e, gen.NewStrictHandler(s, nil), gen.RegisterHandlersOptions{
		OperationMiddlewares: s.middlewares(),
	})
	s.routeWebhooks(e)
	s.routeOperations(e)
	site.Route(e, site.Options{
		Contract: s.doc, Version: s.Version, Problems: s.problems.Pages(), Demo: s.Demo, Console: s.Console != nil,
	})
	s.routeConsole(e)
	s.routePreflights(e)
	allowHead(e)
	return e
}

// allowHead has echo name HEAD in Allow where it names GET (RFC 9110, 10.2.1); no HEAD gets here, see headAsGet.
func allowHead(e *echo.Echo) {
	for _, r := range e.Routes() {
		if r.Method == http.MethodGet && !strings.HasPrefix(r.Path, webhookPath) {
			e.HEAD(r.Path, echo.MethodNotAllowedHandler)
		}
	}
}

// middlewares puts before each operation what the contract requires, so that no operation is open by an omission here.
func (s *server) middlewares() map[string][]echo.MiddlewareFunc {
	chains := make(map[string][]echo.MiddlewareFunc)
	for _, op := range s.doc.Operations() {
		keyed := op.Has("header", idempotency.HeaderKey)
		if op.Accepts(statusToken) {
			chains[op.ID] = append(chains[op.ID], s.shareWithPages)
		}
		if keyed {
			s.commands[op.Method+" "+request.Route(op.Path)] = op.ID
			chains[op.ID] = append(chains[op.ID], echoKey)
		}
		if s.doc.Secured(op) {
			chains[op.ID] = append(chains[op.ID], s.authenticate)
		}
		if !op.Accepts(statusToken) {
			chains[op.ID] = append(chains[op.ID], s.refuseStatusToken)
		}
		if keyed {
			chains[op.ID] = append(chains[op.ID], requireKey)
		}
		chains[op.ID] = append(chains[op.ID], request.RefuseCardNumbers)
		switch {
		case isSupport(op):
			chains[op.ID] = append(chains[op.ID], s.staffOnly)
		case s.doc.Secured(op):
			chains[op.ID] = append(chains[op.ID], s.audited(op))
		}
	}
	return chains
}
