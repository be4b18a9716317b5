package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed assets
var assets embed.FS

const icon = "icon.svg"

// StyleHead returns the lines of HTML that every page has in its head: the stylesheets and the icon at the address of its
// files, which ends in a slash, and after them the site's own stylesheets.
func StyleHead(files string, own ...string) string {
	var b strings.Builder
	b.WriteString(`<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
		`<meta name="color-scheme" content="light dark">`)
	b.WriteString(`<link rel="icon" href="` + html.EscapeString(files+icon) + `" type="image/svg+xml">`)
	for _, name := range StyleNames(own...)[1:] {
		b.WriteString(`<link rel="stylesheet" href="` + html.EscapeString(files+name) + `">`)
	}
	return b.String()
}

// StyleNames returns the files that Head names: the icon, then the stylesheets.
func StyleNames(own ...string) []string {
	return append([]string{icon, "pico.min.css", "base.css"}, own...)
}

// StyleFS has the files of own, and behind them the files that all pages share.
func StyleFS(own ...fs.FS) fs.FS { return layers(append(own, under(assets, "assets"))) }

// StyleFiles hands out the files that all pages share, and before them those of own. A browser revalidates them each time,
// since they change with the program. A folder is not listed.
func StyleFiles(own ...fs.FS) http.Handler {
	all := layers(append(own, under(assets, "assets")))
	tags := make(map[string]string)
	for _, layer := range all {
		tag(layer, tags)
	}
	files := http.FileServerFS(all)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tags[r.URL.Path] == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("ETag", tags[r.URL.Path])
		files.ServeHTTP(w, r)
	})
}

// tag adds the entity tags of a layer's files, by their paths.
func tag(layer fs.FS, tags map[string]string) {
	names, err := fs.Glob(layer, "*")
	if err != nil {
		panic(err) // the pattern is wrong
	}
	for _, name := range names {
		text, err := fs.ReadFile(layer, name)
		if err != nil {
			panic(err) // it is part of the program
		}
		if tags["/"+name] == "" {
			sum := sha256.Sum256(text)
			tags["/"+name] = `"` + hex.EncodeToString(sum[:8]) + `"`
		}
	}
}

func under(files fs.FS, folder string) fs.FS {
	sub, err := fs.Sub(files, folder)
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
