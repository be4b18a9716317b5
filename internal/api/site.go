package api

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/platform/page"
)

// RouteSite serves the pages without a token: the start page, the contract and its page, the pages of problems, the browser
// client.

//go:embed pages/*
var pageFiles embed.FS

//go:embed assets/*
var assetFiles embed.FS

// assetsPath is where the pages' stylesheets and scripts are.
const assetsPath = "/docs/assets/"

// policy allows the files of this server and nothing inline. Pico draws its icons with data: addresses.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pages are rendered once, at start: they only depend on the program.
type pages struct{ sets *template.Template }

func newPages(d *contract.Document) pages {
	head := template.HTML(page.StyleHead(assetsPath, "site.css")) //nolint:gosec // escaped, and of constants
	return pages{template.Must(template.New("").Funcs(template.FuncMap{
		"head": func() template.HTML { return head }, "prose": prose,
		"samples":  func(op *contract.Operation) []Sample { return SamplesOf(d, op) },
		"response": func(op *contract.Operation) string { return SampleResponse(d, op) },
	}).ParseFS(pageFiles, "pages/*.html"))}
}

func assets() http.Handler {
	files, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		panic(err) // the directive that embeds them is wrong
	}
	return http.StripPrefix(strings.TrimSuffix(assetsPath, "/"), page.StyleFiles(files))
}

// SiteOptions are the contents of the pages.
type SiteOptions struct {
	Contract *contract.Document
	Version  string
	Problems []render.ProblemPage
	// Demo and Console are linked from the start page.
	Demo, Console bool
}

// RouteSite serves the pages, the contract and the browser client.
func RouteSite(e *echo.Echo, o SiteOptions) {
	p := newPages(o.Contract)
	e.GET(assetsPath+":file", echo.WrapHandler(assets()))
	e.GET("/", p.serve("start.html", startPage{Demo: o.Demo, Console: o.Console}))
	e.GET("/docs", p.serve("docs.html", docsPage{Document: o.Contract, Version: o.Version}))
	routeGuides(e)
	e.GET("/problems", p.serve("problems.html", o.Problems))
	e.GET("/openapi.yaml", func(c echo.Context) error {
		return c.Blob(http.StatusOK, "application/yaml", contractfile.Document)
	})
	routeSDK(e)
	all := make(map[string]echo.HandlerFunc)
	for _, k := range o.Problems {
		all[k.Code] = p.serve("problem.html", k)
	}
	e.GET("/problems/:code", func(c echo.Context) error {
		if page, ok := all[PathParam(c, "code")]; ok {
			return page(c)
		}
		return echo.ErrNotFound
	})
}

// serve renders a page once and returns its handler.
func (p pages) serve(name string, data any) echo.HandlerFunc {
	var text bytes.Buffer
	err := p.sets.ExecuteTemplate(&text, name, struct{ Data any }{data})
	if err != nil {
		panic(err)
	}
	return func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderContentSecurityPolicy, policy)
		return c.HTMLBlob(http.StatusOK, text.Bytes())
	}
}

// startPage has the links of the start page.
type startPage struct{ Demo, Console bool }

type docsPage struct {
	*contract.Document
	Version string
}

// prose makes paragraphs of a description, and code of the text in backticks.
func prose(text string) template.HTML {
	if text == "" {
		return ""
	}
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		b.WriteString("<p>")
		for i, part := range strings.Split(template.HTMLEscapeString(paragraph), "`") {
			if i%2 == 1 {
				part = "<code>" + part + "</code>"
			}
			b.WriteString(part)
		}
		b.WriteString("</p>")
	}
	return template.HTML(b.String()) //nolint:gosec // escaped above
}
