// Package page is what all pages share: the head, the files, and what a page may
// load.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"

	"github.com/a-h/templ"
)

//go:embed assets
var assets embed.FS

// policy allows what a page needs and nothing inline. Pico draws its icons with
// data: addresses.
func policy(scripts string) string {
	return "default-src 'none'; script-src " + scripts + "; style-src 'self'; connect-src " + scripts + "; img-src 'self' data:; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// Secured limits what a page may load, and forbids to frame it.
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
// share. A browser revalidates them each time, since they change with the program.
func Files(own fs.FS) http.Handler {
	all := layers{under(own), under(assets)}
	tags := make(map[string]string)
	for _, layer := range all {
		names, err := fs.Glob(layer, "*")
		if err != nil {
			panic(err) // the pattern is wrong
		}
		for _, name := range names {
			text, err := fs.ReadFile(layer, name)
			if err != nil {
				panic(err) // it is part of the program
			}
			sum := sha256.Sum256(text)
			tags["/"+name] = `"` + hex.EncodeToString(sum[:8]) + `"`
		}
	}
	files := http.FileServerFS(all)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tags[r.URL.Path] == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", tags[r.URL.Path])
		files.ServeHTTP(w, r)
	})
}

func under(files fs.FS) fs.FS {
	sub, err := fs.Sub(files, "assets")
	if err != nil {
		panic(err) // the directive that embeds them is wrong
	}
	return sub
}

// layers are folders of which the first that has a file counts.
type layers []fs.FS

// Open implements fs.FS.
func (l layers) Open(name string) (file fs.File, err error) {
	for _, layer := range l {
		if file, err = layer.Open(name); err == nil {
			return file, nil
		}
	}
	return nil, err //nolint:wrapcheck // an fs.FS returns the error as it is
}
