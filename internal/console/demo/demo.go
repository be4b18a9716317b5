package demo

import (
	"context"
	"embed"
	"net/http"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/platform/page"
)

//go:embed assets
var assets embed.FS

// Options configure the shop. All but Course are required.
type Options struct {
	// PublicURL is where browsers find the shop, and where it finds paylatch.
	PublicURL string
	// ProviderURL is the sandbox provider's page of its charges.
	ProviderURL string
	// Token is a token with the role service.
	Token string
	// Client makes the shop's calls.
	Client *http.Client
	// Course shows the course of an attempt beside the proof, in a few lines of HTML; nil shows none.
	Course func(ctx context.Context, attempt string) templ.Component
}

// user is the shop's only customer; a real shop has them from its session.
const user = "u-1"

type shop struct {
	Options
	backend backend
	tally   *tally
}

// New returns the shop, to be mounted at /demo and /demo/.
func New(o Options) http.Handler {
	s := &shop{Options: o, backend: backend(o), tally: newTally()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /demo", s.showShop)
	mux.Handle("GET /demo/{$}", http.RedirectHandler("/demo", http.StatusMovedPermanently))
	mux.HandleFunc("POST /demo/orders", s.createOrder)
	mux.HandleFunc("GET /demo/orders/{order}", s.showCheckout(false))
	mux.HandleFunc("GET /demo/orders/{order}/form", s.showCheckout(true))
	mux.HandleFunc("POST /demo/orders/{order}/form", s.counted(s.openForm))
	mux.HandleFunc("POST /demo/orders/{order}/give-up", s.giveUp)
	mux.HandleFunc("POST /demo/orders/{order}/pay", s.counted(s.pay))
	mux.HandleFunc("POST /demo/orders/{order}/complete", s.complete)
	mux.HandleFunc("GET /demo/orders/{order}/status", s.status)
	mux.HandleFunc("GET /demo/orders/{order}/charges", s.showCharges)
	mux.Handle("GET /demo/assets/", http.StripPrefix("/demo/assets", page.Files(assets)))
	return page.Secured(http.NewCrossOriginProtection().Handler(mux))
}

func (s *shop) render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	// A page out of the history would be stale. The back/forward cache, from which the script recovers, is left alone.
	w.Header().Set("Cache-Control", "no-cache")
	page.Render(w, r, status, c)
}
