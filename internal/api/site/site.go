package site

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/api/problem"
	"github.com/paylatch/paylatch/internal/api/request"
)

//go:embed pages/*
var pageFiles embed.FS

// pages are rendered once, at start: they only depend on the program.
type pages struct {
	policy string
	sets   *template.Template
	style  template.CSS
}

func newPages() pages {
	style, err := pageFiles.ReadFile("pages/style.css")
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(style)
	return pages{
		policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		sets:  template.Must(template.New("").Funcs(template.FuncMap{"prose": prose}).ParseFS(pageFiles, "pages/*.html")),
		style: template.CSS(style), //nolint:gosec // our own file
	}
}

// Options are what the pages show.
type Options struct {
	Contract *contract.Document
	Version  string
	Problems []problem.Page
	// Demo and Console are linked from the start page.
	Demo, Console bool
}

// Route serves the pages, the contract and the browser client.
func Route(e *echo.Echo, o Options) {
	p := newPages()
	e.GET("/", p.serve("start.html", startPage{Demo: o.Demo, Console: o.Console}))
	e.GET("/docs", p.serve("docs.html", docsPage{Document: o.Contract, Version: o.Version}))
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
		if page, ok := all[request.PathParam(c, "code")]; ok {
			return page(c)
		}
		return echo.ErrNotFound
	})
}

// serve renders a page and returns what hands it out.
func (p pages) serve(name string, data any) echo.HandlerFunc {
	var text bytes.Buffer
	err := p.sets.ExecuteTemplate(&text, name, struct {
		Style template.CSS
		Data  any
	}{p.style, data})
	if err != nil {
		panic(err)
	}
	return func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderContentSecurityPolicy, p.policy)
		return c.HTMLBlob(http.StatusOK, text.Bytes())
	}
}

// startPage leads to what there is to see.
type startPage struct{ Demo, Console bool }

type docsPage struct {
	*contract.Document
	Version string
}

// prose makes paragraphs of a description, and code of what stands in backticks.
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
