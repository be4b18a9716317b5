package house_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../../.."

var (
	// declaration is a link to a declaration in code: [`file.go: Name`](path).
	declaration = regexp.MustCompile("\\[`([^`:]+\\.go): ([^`]+)`\\]\\(([^)]+)\\)")
	link        = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// path is one of the repository in backticks; NAME in it stands for anything.
	path    = regexp.MustCompile("`((?:api|bench|cmd|deploy|docs|examples|fsm|internal|migrations|queries|scripts|sdk|tools|webhooks)/[A-Za-z0-9_./*-]*)`")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	outside = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

func TestTour(t *testing.T) {
	t.Parallel()
	text := page(t, "docs/explanation/tour.md")
	require.NotEmpty(t, declaration.FindString(text), "the tour names nothing")
	require.Empty(t, undeclared(filepath.Join(root, "docs", "explanation"), text))
}

// TestThreats holds the threat model to tests that exist.
func TestThreats(t *testing.T) {
	t.Parallel()
	text := page(t, "docs/explanation/security.md")
	require.NotEmpty(t, declaration.FindString(text), "the threat model names no test")
	require.Empty(t, undeclared(filepath.Join(root, "docs", "explanation"), text))
}

func TestUndeclared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code := "package a\n\ntype T[X any] struct{}\n\nfunc (t *T[X]) Do() {}\n\nfunc Do() {}\n\nvar v, w = 1, 2\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte(code), 0o600))
	for name, tt := range map[string]struct {
		link  string
		wrong bool
	}{
		"function":            {"[`a.go: Do`](a.go)", false},
		"method":              {"[`a.go: T.Do`](a.go)", false},
		"type":                {"[`a.go: T`](a.go)", false},
		"variable":            {"[`a.go: w`](a.go)", false},
		"no_such_function":    {"[`a.go: Undo`](a.go)", true},
		"no_such_method":      {"[`a.go: T.Undo`](a.go)", true},
		"of_another_receiver": {"[`a.go: U.Do`](a.go)", true},
		"no_such_file":        {"[`b.go: Do`](b.go)", true},
		"of_another_file":     {"[`b.go: Do`](a.go)", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.wrong, len(undeclared(dir, "See "+tt.link+".")) > 0)
		})
	}
}

func TestDocs(t *testing.T) {
	t.Parallel()
	for _, name := range pages(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, broken(root, name, page(t, name)))
		})
	}
}

func TestBroken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "docs"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docs", "b.md"), []byte("# B\n\n## What's here, now\n"), 0o600))
	for name, tt := range map[string]struct {
		text  string
		wrong bool
	}{
		"file":                 {"[b](b.md)", false},
		"heading":              {"[b](b.md#whats-here-now)", false},
		"own_heading":          {"# A\n[a](#a)", false},
		"address":              {"[b](https://example.com/b.md)", false},
		"path":                 {"`docs/b.md`", false},
		"pattern":              {"`docs/NAME.md`", false},
		"no_such_file":         {"[c](c.md)", true},
		"no_such_heading":      {"[b](b.md#there)", true},
		"no_such_own_heading":  {"# A\n[a](#b)", true},
		"no_such_path":         {"`docs/c.md`", true},
		"nothing_of_a_pattern": {"`docs/*.go`", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.wrong, len(broken(dir, "docs/a.md", tt.text)) > 0)
		})
	}
}

// TestKindsOfCases holds the page to the kinds of discrepancies, each of which it explains.
func TestKindsOfCases(t *testing.T) {
	t.Parallel()
	text := page(t, "docs/how-to/support.md")
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "internal/payment/discrepancy_kinds.go"), nil, 0)
	require.NoError(t, err)
	kinds := 0
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if ok && v.Type != nil && len(v.Values) == 1 {
			if of, ok := v.Type.(*ast.Ident); ok && of.Name == "DiscrepancyKind" {
				kind := strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`)
				assert.Contains(t, text, "`"+kind+"`")
				kinds++
			}
		}
		return true
	})
	require.Positive(t, kinds)
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	list := page(t, "docs/decisions/README.md")
	all, err := filepath.Glob(filepath.Join(root, "docs/decisions/[0-9]*.md"))
	require.NoError(t, err)
	for _, name := range all {
		first, _, _ := strings.Cut(page(t, "docs/decisions/"+filepath.Base(name)), "\n")
		_, title, _ := strings.Cut(first, ". ")
		number, _, _ := strings.Cut(filepath.Base(name), "-")
		assert.Contains(t, list, "- ["+number+"]("+filepath.Base(name)+"): "+title+"\n")
	}
}

// undeclared returns the links of a text to files that are missing, or that do not declare the named identifier.
func undeclared(dir, text string) (wrong []string) {
	for _, m := range declaration.FindAllStringSubmatch(text, -1) {
		whole, file, name, to := m[0], m[1], m[2], m[3]
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, to), nil, 0)
		if err != nil || filepath.Base(to) != file || !slices.Contains(declared(f), name) {
			wrong = append(wrong, whole)
		}
	}
	return wrong
}

// declared returns the names that a file declares, of a method Type.Method.
func declared(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d.Recv.List[0].Type) + "." + name
			}
			names = append(names, name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// broken returns the relative links and the paths of a page that lead nowhere.
func broken(root, name, text string) (wrong []string) {
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		to, anchor, _ := strings.Cut(m[1], "#")
		if strings.Contains(to, ":") {
			continue
		}
		target, body := filepath.Join(root, filepath.Dir(name), to), []byte(text)
		if to != "" {
			if _, err := os.Stat(target); err != nil {
				wrong = append(wrong, m[1])
				continue
			}
			body, _ = os.ReadFile(target) // a folder has no headings
		}
		if anchor != "" && !slices.Contains(anchors(body), anchor) {
			wrong = append(wrong, m[1])
		}
	}
	for _, m := range path.FindAllStringSubmatch(text, -1) {
		found, err := filepath.Glob(filepath.Join(root, strings.ReplaceAll(m[1], "NAME", "*")))
		if err != nil || len(found) == 0 {
			wrong = append(wrong, m[1])
		}
	}
	return wrong
}

// anchors returns the anchors of a page's headings.
func anchors(text []byte) (all []string) {
	for _, m := range heading.FindAllSubmatch(text, -1) {
		plain := outside.ReplaceAll(bytes.ToLower(m[1]), nil)
		all = append(all, strings.ReplaceAll(string(plain), " ", "-"))
	}
	return all
}

// pages returns the documents whose links are checked.
func pages(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md", "examples/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, name := range found {
			name, err := filepath.Rel(root, name)
			require.NoError(t, err)
			names = append(names, name)
		}
	}
	require.NotEmpty(t, names)
	return names
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(text)
}
