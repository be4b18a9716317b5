package api

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/paylatch/paylatch/docs"
	"github.com/paylatch/paylatch/internal/platform/page"
)

const (
	// source is where pages link to files of the repository outside docs/.
	source    = "https://github.com/paylatch/paylatch/blob/main/"
	guideHome = "index.html"
)

// markdown renders no raw HTML.
func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Linkify),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
}

// guidePage is one page of docs/. Its links are relative, so they work in a folder and under any path.
type guidePage struct {
	Name, Title string
	Up          string // leads from the page to the folder of all pages
	Served      bool   // by the program, beside the page of the API
	Head, Body  template.HTML
	Menu        []guideGroup
}

type guideGroup struct {
	Title string
	Links []guideLink
}

type guideLink struct{ Name, Title string }

// guideName returns the path of the page that is made of a Markdown file.
func guideName(file string) string {
	if dir, base := path.Split(file); base == "README.md" {
		return dir + guideHome
	}
	return strings.TrimSuffix(file, ".md") + ".html"
}

// guides renders docs/, by the paths of the pages.
func guides(served bool) (map[string][]byte, error) {
	layout, err := template.ParseFS(pageFiles, "pages/guide.html")
	if err != nil {
		return nil, fmt.Errorf("read the template of the documentation: %w", err)
	}
	home, err := fs.ReadFile(docs.Files, "README.md")
	if err != nil {
		return nil, fmt.Errorf("read the list of the documentation pages: %w", err)
	}
	format := markdown()
	menu := guideMenu(format, home)
	pages := make(map[string][]byte)
	return pages, fs.WalkDir(docs.Files, ".", func(file string, d fs.DirEntry, err error) error { //nolint:wrapcheck // wrapped below
		if err != nil || d.IsDir() {
			return err
		}
		page, err := newGuide(format, file)
		if err != nil {
			return fmt.Errorf("render %s: %w", file, err)
		}
		page.Served, page.Menu = served, menu
		var out bytes.Buffer
		if err := layout.Execute(&out, page); err != nil {
			return fmt.Errorf("render %s: %w", file, err)
		}
		pages[page.Name] = out.Bytes()
		return nil
	})
}

// newGuide renders a file without the parts that all pages have.
func newGuide(format goldmark.Markdown, file string) (guidePage, error) {
	content, err := fs.ReadFile(docs.Files, file)
	if err != nil {
		return guidePage{}, err //nolint:wrapcheck // the caller names the file
	}
	tree := parseGuide(format, content)
	for _, l := range linksIn(tree) {
		l.Destination = []byte(guideTarget(file, string(l.Destination)))
	}
	var body bytes.Buffer
	if err := format.Renderer().Render(&body, content, tree); err != nil {
		return guidePage{}, err
	}
	up := strings.Repeat("../", strings.Count(file, "/"))
	title, _, _ := strings.Cut(strings.TrimPrefix(string(content), "# "), "\n")
	// Wide tables and code scroll by keyboard, too. The text itself has no tags: it is escaped.
	// A column without a title has no header.
	accessible := strings.NewReplacer("<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>",
		"<pre>", `<pre tabindex="0">`, "<th></th>", "<td></td>")
	return guidePage{
		Name: guideName(file), Title: strings.ReplaceAll(title, "`", ""), Up: up,
		Head: template.HTML(page.StyleHead(up+"assets/", "site.css")), //nolint:gosec // of constants
		Body: template.HTML(accessible.Replace(body.String())),        //nolint:gosec // of files that are part of the program
	}, nil
}

func parseGuide(format goldmark.Markdown, content []byte) ast.Node {
	return format.Parser().Parse(text.NewReader(content), parser.WithContext(parser.NewContext(parser.WithIDs(headings{}))))
}

func linksIn(tree ast.Node) (links []*ast.Link) {
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering {
			links = append(links, l)
		}
		return ast.WalkContinue, nil
	})
	return links
}

// guideTarget returns the address on a page for a link in its file: a page for a file of docs/, the repository for others.
func guideTarget(file, to string) string {
	if strings.Contains(to, ":") || strings.HasPrefix(to, "#") {
		return to
	}
	name, anchor, found := strings.Cut(to, "#")
	if found {
		anchor = "#" + anchor
	}
	if whole := path.Join("docs", path.Dir(file), name); !strings.HasPrefix(whole, "docs/") || path.Ext(whole) != ".md" {
		return source + whole + anchor
	}
	return guideName(name) + anchor
}

// guideMenu makes the menu of all pages of their list: a bold word begins a group, and the links of the lists follow.
func guideMenu(format goldmark.Markdown, home []byte) (menu []guideGroup) {
	for n := parseGuide(format, home).FirstChild(); n != nil; n = n.NextSibling() {
		if strong, ok := n.FirstChild().(*ast.Emphasis); ok {
			menu = append(menu, guideGroup{Title: string(strong.Text(home))}) //nolint:staticcheck // a word without marks
		}
		for _, l := range linksIn(n) {
			if to := string(l.Destination); len(menu) > 0 && path.Ext(to) == ".md" && !strings.HasPrefix(to, "../") {
				last := &menu[len(menu)-1]
				last.Links = append(last.Links, guideLink{Name: guideName(to), Title: string(l.Text(home))}) //nolint:staticcheck // the same
			}
		}
	}
	return menu
}

// headings gives a heading the anchor that it has on GitHub, so that links work in both places.
type headings struct{}

var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

func (headings) Generate(heading []byte, _ ast.NodeKind) []byte {
	return bytes.ReplaceAll(notInAnchors.ReplaceAll(bytes.ToLower(util.TrimLeftSpace(heading)), nil), []byte(" "), []byte("-"))
}

func (headings) Put([]byte) {}

// routeGuides serves docs/ beside the page of the API. The pages are rendered at the first request.
func routeGuides(e *echo.Echo) {
	pages := sync.OnceValues(func() (map[string][]byte, error) { return guides(true) })
	e.GET("/docs/*", func(c echo.Context) error {
		all, err := pages()
		if err != nil {
			return err
		}
		name := c.Param("*")
		if name == "" {
			name = guideHome
		}
		page, ok := all[name]
		if !ok {
			return echo.ErrNotFound
		}
		c.Response().Header().Set(echo.HeaderContentSecurityPolicy, policy)
		return c.HTMLBlob(http.StatusOK, page)
	})
}

// WriteGuides writes docs/ as pages into a folder, with their stylesheets.
func WriteGuides(folder string) error {
	all, err := guides(false)
	if err != nil {
		return err
	}
	files, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		return fmt.Errorf("read the assets: %w", err)
	}
	shared := page.StyleFS(files)
	for _, name := range page.StyleNames("site.css") {
		content, err := fs.ReadFile(shared, name)
		if err != nil {
			return fmt.Errorf("read an asset: %w", err)
		}
		all["assets/"+name] = content
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		to := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
			return fmt.Errorf("make the folder of a page: %w", err)
		}
		if err := os.WriteFile(to, all[name], 0o600); err != nil {
			return fmt.Errorf("write a page: %w", err)
		}
	}
	return nil
}
