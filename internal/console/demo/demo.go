package demo

import (
	"embed"
	"io/fs"
	"net/http"

	"github.com/a-h/templ"
)

//go:embed assets
var assets embed.FS

// Options configure the shop. All are required.
type Options struct {
	// PublicURL is where browsers find the shop, and where it finds paylatch.
	PublicURL string
	// ProviderURL is where the sandbox provider shows what it charged.
	ProviderURL string
	// Token is a token with the role service.
	Token string
	// Client makes the shop's calls.
	Client *http.Client
}

// user is the shop's only customer; a real shop knows them by their session.
const user = "u-1"

// policy allows what the page needs and nothing inline. Pico draws its icons with
// data: addresses.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

type shop struct {
	Options
	backend backend
}

// New returns the shop, to be mounted at /demo and /demo/.
func New(o Options) http.Handler {
	s := &shop{Options: o, backend: backend(o)}
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the directive above is wrong
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /demo", s.showShop)
	mux.Handle("GET /demo/{$}", http.RedirectHandler("/demo", http.StatusMovedPermanently))
	mux.HandleFunc("POST /demo/orders", s.createOrder)
	mux.HandleFunc("GET /demo/orders/{order}", s.showCheckout)
	mux.HandleFunc("POST /demo/orders/{order}/pay", s.pay)
	mux.HandleFunc("GET /demo/orders/{order}/status", s.status)
	mux.HandleFunc("GET /demo/orders/{order}/charges", s.showCharges)
	mux.Handle("GET /demo/assets/", http.StripPrefix("/demo/assets/", cached(http.FileServerFS(files))))
	return secured(http.NewCrossOriginProtection().Handler(mux))
}

func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

// cached lets a browser ask anew each time: the files change with the program.
func cached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		next.ServeHTTP(w, r)
	})
}

func (s *shop) render(w http.ResponseWriter, r *http.Request, status int, page templ.Component) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// A page out of the history would tell of the past. The back/forward cache, which the script knows how to come back from, is left alone.
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(status)
	_ = page.Render(r.Context(), w) // an error means that the browser has gone
}
