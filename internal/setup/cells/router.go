package cells

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/console"
	"github.com/paylatch/paylatch/internal/payment"
)

// Map returns the cell of a name in a request; *config.Config in the program. A name that is not configured belongs to cell 0.
type Map interface {
	CellOf(account string) payment.Cell
	CellOfOrder(id string) payment.Cell
	CellOfID(text string) payment.Cell
}

// Cell is the API of a cell.
type Cell struct {
	Number payment.Cell
	API    http.Handler
}

// Options configure a router. Cells, All and To are required.
type Options struct {
	Cells []Cell
	// All serves requests that name neither a cell nor an object in a cell.
	All http.Handler
	To  Map
	// Health makes the router serve /readyz and /metrics, for all cells; Metrics serves the latter.
	Health  bool
	Metrics http.Handler
	// Plain is as of session.Options.
	Plain bool
}

// Router serves the requests of all cells. It is safe for concurrent use.
type Router struct {
	Options

	problems *render.Catalogue
}

// New returns a router.
func New(o Options) *Router {
	return &Router{o, render.NewCatalogue(render.New(time.Now, 0), 0)} //nolint:forbidigo // of what the router refuses, which shows no attempt
}

// ServeHTTP implements http.Handler.
func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	api.WithRequestID(http.HandlerFunc(r.serve)).ServeHTTP(w, req)
}

func (r *Router) serve(w http.ResponseWriter, req *http.Request) {
	reads := req.Method == http.MethodGet || req.Method == http.MethodHead
	switch path := req.URL.Path; {
	case r.Health && path == "/readyz":
		r.ready(w, req)
	case r.Health && path == "/metrics" && r.Metrics != nil:
		r.Metrics.ServeHTTP(w, req)
	case path == "/v1/events" && reads && !req.URL.Query().Has(parameter):
		r.feed(w, req)
	case path == "/v1/events" && reads:
		r.feedOf(w, req)
	default:
		r.lead(w, req)
	}
}

// lead lets the cell of the named object serve a request, and lets the API of all cells serve a request that names no object.
func (r *Router) lead(w http.ResponseWriter, req *http.Request) {
	query := req.URL.Query()
	n, named := r.named(req)
	switch {
	case named:
		r.cell(n).ServeHTTP(w, req)
	case isSignIn(req):
		r.keep(w, "") // a new session begins with all
		r.All.ServeHTTP(w, withoutCell(req))
	case !query.Has(parameter):
		r.chosen(req).ServeHTTP(w, req)
	case isConsole(req) && query.Get(parameter) == console.AllCells:
		r.choose(w, req, "")
	default:
		r.leadTo(w, req, query.Get(parameter))
	}
}

// leadTo lets the cell of a number serve a request, and in the console all later requests.
func (r *Router) leadTo(w http.ResponseWriter, req *http.Request, number string) {
	n, found := r.number(number)
	switch {
	case !found:
		r.refuse(w, req, payment.Invalid(parameter, "must be the number of a cell: "+strings.Join(r.numbers(), ", ")))
	case isConsole(req):
		r.choose(w, req, number)
	default:
		r.cell(n).ServeHTTP(w, withoutCell(req))
	}
}

// named returns the cell of the object in the address of a request.
func (r *Router) named(req *http.Request) (payment.Cell, bool) {
	parts := strings.Split(strings.TrimPrefix(req.URL.EscapedPath(), "/"), "/")
	for i, part := range parts {
		parts[i], _ = url.PathUnescape(part)
	}
	switch {
	case len(parts) >= 2 && parts[0] == "webhooks":
		return r.To.CellOf(parts[1]), true
	case len(parts) >= 3 && parts[0] == "v1" && parts[1] == "orders":
		return r.To.CellOfOrder(parts[2]), true
	case req.URL.Path == "/support/orders" && req.URL.Query().Has("id"):
		return r.To.CellOfOrder(req.URL.Query().Get("id")), true
	}
	i := slices.IndexFunc(parts, func(part string) bool { return uuid.Validate(part) == nil })
	if i < 0 {
		return payment.OnlyCell, false
	}
	return r.To.CellOfID(parts[i]), true
}

// parameter chooses a cell in a request that names no object, and in the console for all later requests.
const parameter = "cell"

// chosen returns the cell that the console's cookie has, or all.
func (r *Router) chosen(req *http.Request) http.Handler {
	if kept, err := req.Cookie(console.CellCookie(r.Plain).Name); err == nil && isConsole(req) {
		if n, found := r.number(kept.Value); found {
			return r.cell(n)
		}
	}
	return r.All
}

func (r *Router) number(text string) (payment.Cell, bool) {
	for _, c := range r.Cells {
		if strconv.Itoa(int(c.Number)) == text {
			return c.Number, true
		}
	}
	return 0, false
}

func (r *Router) numbers() []string {
	all := make([]string, 0, len(r.Cells))
	for _, c := range r.Cells {
		all = append(all, strconv.Itoa(int(c.Number)))
	}
	return all
}

func (r *Router) cell(n payment.Cell) http.Handler {
	for _, c := range r.Cells {
		if c.Number == n {
			return c.API
		}
	}
	return r.Cells[0].API
}

// isSignIn reports whether a request begins or ends a session.
func isSignIn(req *http.Request) bool { return strings.HasPrefix(req.URL.Path, "/support/sign-") }

func isConsole(req *http.Request) bool {
	return req.Method == http.MethodGet && (req.URL.Path == "/support" || strings.HasPrefix(req.URL.Path, "/support/")) ||
		req.Method == http.MethodPost && strings.HasPrefix(req.URL.Path, "/support/")
}

// choose keeps the cell, and leads to the same page without the parameter.
func (r *Router) choose(w http.ResponseWriter, req *http.Request, number string) {
	r.keep(w, number)
	http.Redirect(w, req, withoutCell(req).URL.RequestURI(), http.StatusSeeOther) //nolint:gosec // the path begins with /support
}

// keep stores the choice of a cell in the browser; an empty number chooses all cells.
func (r *Router) keep(w http.ResponseWriter, number string) {
	kept := console.CellCookie(r.Plain) //nolint:gosec // secure unless in dev
	kept.Value = number
	if number == "" {
		kept.MaxAge = -1
	}
	http.SetCookie(w, &kept)
}

// withoutCell is a request that names no cell.
func withoutCell(req *http.Request) *http.Request {
	query := req.URL.Query()
	if !query.Has(parameter) {
		return req
	}
	query.Del(parameter)
	other := req.Clone(req.Context())
	other.URL.RawQuery = query.Encode()
	return other
}

// refuse responds with a problem. A call of the API without a token gets the API's refusal instead.
func (r *Router) refuse(w http.ResponseWriter, req *http.Request, err error) {
	if req.Header.Get("Authorization") == "" && strings.HasPrefix(req.URL.Path, "/v1/") {
		r.Cells[0].API.ServeHTTP(w, withoutCell(req))
		return
	}
	d := r.problems.Document(req.Header.Get("X-Request-Id"), err)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	write(w, d.Status, d)
}
