package page

import (
	"io/fs"
	"net/http"

	"github.com/a-h/templ"
)

// Render and Secured are the common parts of all pages: the head, the files, and the content security policy.

// policy allows the resources of a page and nothing inline. Pico draws its icons with data: addresses.
func policy(scripts string) string {
	return "default-src 'none'; script-src " + scripts + "; style-src 'self'; connect-src " + scripts + "; img-src 'self' data:; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// Secured restricts the resources that a page may load, and forbids other sites to frame it.
func Secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy("'self'"))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// AllowScriptsOf lets a secured page, before it is rendered, load scripts of another
// origin, which may call that origin.
func AllowScriptsOf(w http.ResponseWriter, origin string) {
	w.Header().Set("Content-Security-Policy", policy("'self' "+origin))
}

// Render answers with a page.
func Render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = c.Render(r.Context(), w) // an error means that the browser has gone
}

// Files hands out the files of the folder assets of own and those that all pages
// share.
func Files(own fs.FS) http.Handler {
	sub, err := fs.Sub(own, "assets")
	if err != nil {
		panic(err) // the directive that embeds them is wrong
	}
	return StyleFiles(sub)
}
