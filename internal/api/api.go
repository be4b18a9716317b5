package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api/access"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/problem"
	"github.com/paylatch/paylatch/internal/api/render"
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
	// unsigned are deliveries that nobody signed of payments that are known here, by
	// account and network; lookups, all that nobody signed, by network.
	unsigned, lookups *throttle.KeyedLimiter
	lanes             lanes
	render            render.Renderer
	waiting           waiting.Service
	uploads           uploads
}

// New returns the API. It panics when the contract that is built in can't be
// read: that is a broken build.
func New(o Options) http.Handler {
	doc, err := contract.Load(contractfile.Document)
	if err != nil {
		panic(err)
	}
	o = o.withDefaults()
	renderer := render.New(o.Now, o.PollAfter)
	s := &server{Options: o, doc: doc, problems: problem.New(renderer), access: access.Log{Log: o.Log, Observe: o.Observe, Now: o.Now}, commands: make(map[string]string), render: renderer}
	s.waiting = waiting.Service{Hub: o.Hub, Read: s.readAttempt, Renderer: s.render}
	s.searches = throttle.New(searchesEach, searchesAtOnce)
	s.unsigned = throttle.New(unsignedEach, unsignedAtOnce)
	s.lookups = throttle.New(lookupsEach, lookupsAtOnce)
	routes := s.routes()
	waiters := waiting.Handler(routes)
	return headAsGet(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v1/payment-attempts/") {
			waiters.ServeHTTP(w, r)
			return
		}
		routes.ServeHTTP(w, r)
	}))
}

// newEcho makes an echo without routes.
func (s *server) newEcho() *echo.Echo {
	e := echo.New()
	e.HTTPErrorHandler = s.fail
	e.IPExtractor = realIP(s.TrustedProxies)
	e.Use(s.identify, s.logged, recovered)
	return e
}

func (s *server) routes() *echo.Echo {
	e := s.newEcho()
	e.Binder = newBinder(s.doc, s.readBody)
	gen.RegisterHandlersWithOptions(e, gen.NewStrictHandler(s, nil), gen.RegisterHandlersOptions{
		OperationMiddlewares: s.guards(),
	})
	s.routeWebhooks(e)
	s.routeOperations(e)
	s.routePages(e)
	s.routeSDK(e)
	s.routeConsole(e)
	s.routePreflights(e)
	allowHead(e)
	return e
}

// allowHead has echo name HEAD in Allow where it names GET (RFC 9110, 10.2.1); the
// request itself never comes so far, see headAsGet.
func allowHead(e *echo.Echo) {
	for _, r := range e.Routes() {
		if r.Method == http.MethodGet && !strings.HasPrefix(r.Path, webhookPath) {
			e.HEAD(r.Path, echo.MethodNotAllowedHandler)
		}
	}
}

// guards puts before each operation what the contract asks for, so that a new
// one can't be left open by forgetting it here.
func (s *server) guards() map[string][]echo.MiddlewareFunc {
	guards := make(map[string][]echo.MiddlewareFunc)
	for _, op := range s.doc.Operations() {
		keyed := op.Has("header", keyHeader)
		if op.Accepts(statusToken) {
			guards[op.ID] = append(guards[op.ID], s.shareWithPages)
		}
		if keyed {
			s.commands[op.Method+" "+echoPath(op.Path)] = op.ID
			guards[op.ID] = append(guards[op.ID], echoKey)
		}
		if s.doc.Secured(op) {
			guards[op.ID] = append(guards[op.ID], s.authenticate)
		}
		if !op.Accepts(statusToken) {
			guards[op.ID] = append(guards[op.ID], s.refuseStatusToken)
		}
		if keyed {
			guards[op.ID] = append(guards[op.ID], requireKey)
		}
		guards[op.ID] = append(guards[op.ID], refuseCardNumbers)
		switch {
		case isSupport(op):
			guards[op.ID] = append(guards[op.ID], s.staffOnly)
		case s.doc.Secured(op):
			guards[op.ID] = append(guards[op.ID], s.watched(op))
		}
	}
	return guards
}

// echoPath is a path of the contract as echo writes it.
func echoPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}
