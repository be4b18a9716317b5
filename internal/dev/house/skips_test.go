package house_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/paylatch/paylatch"

// TestSkips: a test skips itself. A subtest that skips the test around it ends the program.
func TestSkips(t *testing.T) {
	t.Parallel()
	s := sources{}
	for dir := range folders(t) {
		s.add(t, dir)
	}
	require.Greater(t, len(s.skippers()), 5, "helpers that skip")
	require.Empty(t, s.astray())
}

// TestOutside: files outside of the repository are looked up in one place, which skips the test that needs them.
func TestOutside(t *testing.T) {
	t.Parallel()
	looks := map[string]bool{}
	for dir := range folders(t) {
		for _, f := range parsed(t, dir) {
			ast.Inspect(f.File, func(n ast.Node) bool {
				if c, ok := n.(*ast.CallExpr); ok && slices.ContainsFunc(c.Args, outsideOf) {
					looks[f.folder] = true
				}
				return true
			})
		}
	}
	require.Equal(t, []string{"internal/dev/published"}, slices.Sorted(maps.Keys(looks)))
}

// outsideOf reports whether an argument leads to the folder beside the checkout, or is the variable of its path.
func outsideOf(argument ast.Expr) bool {
	literal, ok := argument.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return false
	}
	text, err := strconv.Unquote(literal.Value)
	return err == nil && (text == "shared" || strings.Contains(text, ".."+"/shared") ||
		strings.Contains(" PAYLATCH_VECTORS PAYLATCH_PAYLOADS PAYLATCH_SPECS ", " "+text+" "))
}

func TestAstray(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		code  string
		wrong bool
	}{
		"itself":        {`func TestX(t *testing.T) { t.Skip() }`, false},
		"the_subtest":   {`func TestX(t *testing.T) { t.Run("", func(t *testing.T) { t.Skipf("x") }) }`, false},
		"by_a_helper":   {`func need(t *testing.T) { t.SkipNow() }; func TestX(t *testing.T) { t.Run("", func(t *testing.T) { need(t) }) }`, false},
		"before_it":     {`func need(t *testing.T) { t.Skip() }; func TestX(t *testing.T) { need(t); t.Run("", func(t *testing.T) {}) }`, false},
		"of_rapid":      {`func TestX(t *testing.T) { rapid.Check(t, func(rt *rapid.T) { rt.Skip() }) }`, false},
		"no_test":       {`func F(d *Decoder) { d.Skip() }`, false},
		"no_skipper":    {`func log(t *testing.T) { t.Log() }; func TestX(t *testing.T) { t.Run("", func(st *testing.T) { log(t) }) }`, false},
		"other_package": {`func TestX(t *testing.T) { t.Run("", func(t *testing.T) { helper.Need(t) }) }`, false},

		"the_outer":               {`func TestX(t *testing.T) { t.Run("", func(st *testing.T) { t.Skip() }) }`, true},
		"the_outer_deep":          {`func TestX(t *testing.T) { t.Run("", func(st *testing.T) { if true { func() { t.Skip() }() } }) }`, true},
		"a_callback":              {`func TestX(t *testing.T) { books(t, func(h Handler) Handler { t.Skip(); return h }) }`, true},
		"unnamed":                 {`func TestX(t *testing.T) { t.Run("", func(*testing.T) { t.Skipf("x") }) }`, true},
		"the_outer_by_a_helper":   {`func need(t *testing.T) { t.Skip() }; func TestX(t *testing.T) { t.Run("", func(st *testing.T) { need(t) }) }`, true},
		"by_a_helper_of_a_helper": {`func more(i int, t testing.TB) { need(t) }; func need(t testing.TB) { t.Skip() }; func TestX(t *testing.T) { t.Run("", func(st *testing.T) { more(1, t) }) }`, true},
		"by_a_method":             {`func (r *rig) need(t *testing.T) { t.Skip() }; func TestX(t *testing.T) { t.Run("", func(st *testing.T) { r.need(t) }) }`, true},
		"by_a_generic_helper":     {`func need[X any](t *testing.T) { t.Skip() }; func TestX(t *testing.T) { t.Run("", func(st *testing.T) { need[int](t) }) }`, true},
		"by_another_package":      {`func TestX(t *testing.T) { t.Run("", func(st *testing.T) { helper.Need(t) }) }`, true},
		"by_a_local_function":     {`func TestX(t *testing.T) { need := func(t *testing.T) { t.Skip() }; t.Run("", func(st *testing.T) { need(t) }) }`, true},
		"one_that_is_kept":        {`func (r *rig) need() { r.t.Skip() }`, true},
		"one_that_is_kept_given":  {`func need(t *testing.T) { t.Skip() }; func (r *rig) do() { need(r.t) }`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := sources{}, t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "helper"), 0o700))
			for file, code := range map[string]string{
				"x_test.go": "package x\nimport (\"testing\"; \"" + module + "/helper\"; \"pgregory.net/rapid\")\n" + tt.code, "helper/helper.go": "package helper\nimport \"testing\"\nfunc Need(t *testing.T) { t.Skip() }",
			} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(code), 0o600))
			}
			s.addAs(t, dir, "x")
			s.addAs(t, filepath.Join(dir, "helper"), "helper")
			require.Equal(t, tt.wrong, len(s.astray()) > 0, "%v", s.astray())
		})
	}
}

// source is a file with the folder that it is in, from the root of the module.
type source struct {
	*ast.File

	folder string
	files  *token.FileSet
}

// sources are the files of the module that have to do with tests.
type sources []source

// folders are all with code, those that Go leaves out excepted.
func folders(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && path != root && (strings.HasPrefix(e.Name(), ".") || slices.Contains([]string{"node_modules", "testdata"}, e.Name())) {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".go" {
			all[filepath.Dir(path)] = true
		}
		return err
	}))
	require.Greater(t, len(all), 50)
	return all
}

func parsed(t *testing.T, dir string) (all sources) {
	t.Helper()
	folder, err := filepath.Rel(root, dir)
	require.NoError(t, err)
	return parsedAs(t, dir, filepath.ToSlash(folder))
}

// parsedAs reads the tests of a folder, and all other files that import the package testing.
func parsedAs(t *testing.T, dir, folder string) (all sources) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, name := range names {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		if strings.HasSuffix(name, "_test.go") || slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` }) {
			all = append(all, source{f, folder, files})
		}
	}
	return all
}

func (s *sources) add(t *testing.T, dir string) {
	t.Helper()
	*s = append(*s, parsed(t, dir)...)
}

func (s *sources) addAs(t *testing.T, dir, folder string) {
	t.Helper()
	*s = append(*s, parsedAs(t, dir, folder)...)
}

// skip is a call that skips a test, with the function and the test.
type skip struct {
	// in is the innermost function around it, and of the name of the declared function that it is in.
	in  ast.Node
	of  string
	who ast.Expr
	at  string
}

// own reports whether who is a parameter of the innermost function, and which.
func (s skip) own() (int, bool) {
	name, ok := s.who.(*ast.Ident)
	if !ok {
		return 0, false
	}
	i := slices.Index(parameters(s.in), name.Name)
	return i, i >= 0
}

// astray returns the calls that skip a test which is not a parameter of the innermost function around the call. Then the test
// may be the parent of the subtest in that function.
func (s *sources) astray() (all []string) {
	known := s.skippers()
	for _, f := range *s {
		for _, k := range f.skips(known) {
			if _, ok := k.own(); !ok {
				all = append(all, k.at)
			}
		}
	}
	return all
}

// skippers are the functions that skip a parameter, by the name of their package and their own, with the parameter's number.
func (s *sources) skippers() map[string]int {
	known := map[string]int{}
	for grown := true; grown; {
		grown = false
		for _, f := range *s {
			for _, k := range f.skips(known) {
				i, own := k.own()
				if _, is := known[k.of]; k.of != "" && own && !is {
					known[k.of], grown = i, true
				}
			}
		}
	}
	return known
}

// skips are the places of a file where a test is skipped, or given to a function that skips.
func (f source) skips(known map[string]int) (all []skip) {
	for _, d := range f.Decls {
		f.walk(d, nil, "", known, func(k skip) { all = append(all, k) })
	}
	return all
}

// walk visits a node within a function: name is the one by which others call it.
func (f source) walk(n, in ast.Node, name string, known map[string]int, found func(skip)) {
	names := map[*ast.FuncLit]string{}
	ast.Inspect(n, func(inner ast.Node) bool {
		switch v := inner.(type) {
		case *ast.FuncDecl:
			if v != in {
				f.walk(v, v, f.declared(v), known, found)
				return false
			}
		case *ast.FuncLit:
			if v != in {
				f.walk(v, v, names[v], known, found)
				return false
			}
		case *ast.AssignStmt:
			for i, value := range v.Rhs {
				if lit, ok := value.(*ast.FuncLit); ok && len(v.Lhs) == len(v.Rhs) {
					if to, ok := v.Lhs[i].(*ast.Ident); ok {
						names[lit] = f.local(to.Name)
					}
				}
			}
		case *ast.CallExpr:
			if who := f.skipped(v, in, known); who != nil {
				found(skip{in, name, who, f.files.Position(v.Pos()).String()})
			}
		}
		return true
	})
}

// declared is the key of a function.
func (f source) declared(d *ast.FuncDecl) string {
	if d.Recv != nil {
		return f.method(d.Name.Name)
	}
	return f.folder + "." + d.Name.Name
}

// method returns the key of a method, of any type. Other packages call exported methods, too.
func (f source) method(name string) string {
	if ast.IsExported(name) {
		return "." + name
	}
	return f.folder + ".." + name
}

// local is the key of a function that a variable of the file holds.
func (f source) local(name string) string { return f.files.Position(f.Pos()).Filename + ": " + name }

// skipped returns which test a call skips, nil if none.
func (f source) skipped(c *ast.CallExpr, in ast.Node, known map[string]int) ast.Expr {
	called := c.Fun
	switch of := called.(type) {
	case *ast.IndexExpr:
		called = of.X
	case *ast.IndexListExpr:
		called = of.X
	}
	var keys []string
	switch v := called.(type) {
	case *ast.Ident:
		keys = []string{f.local(v.Name), f.folder + "." + v.Name}
	case *ast.SelectorExpr:
		if slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, v.Sel.Name) && f.isTest(v.X, in) {
			return v.X
		}
		keys = []string{f.method(v.Sel.Name)}
		if of, ok := v.X.(*ast.Ident); ok {
			if folder := f.imported(of.Name); folder != "" {
				keys = []string{folder + "." + v.Sel.Name}
			}
		}
	}
	for _, key := range keys {
		if i, ok := known[key]; ok && i < len(c.Args) && holdsTest(c.Args[i]) {
			return c.Args[i]
		}
	}
	return nil
}

// holdsTest reports whether an argument may be a test: methods of one name may take something else.
func holdsTest(argument ast.Expr) bool {
	switch argument.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		return true
	default:
		return false
	}
}

// isTest reports whether the receiver of a skip may be a test: each may be, except a parameter of another type.
func (f source) isTest(who ast.Expr, in ast.Node) bool {
	name, ok := who.(*ast.Ident)
	if !ok || in == nil {
		return true
	}
	for _, field := range function(in).Params.List {
		for _, p := range field.Names {
			if p.Name == name.Name {
				return isTesting(field.Type)
			}
		}
	}
	return true
}

// isTesting reports whether a type is one of the package testing. To skip one of rapid is to draw again.
func isTesting(of ast.Expr) bool {
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	name, ok := of.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := name.X.(*ast.Ident)
	return ok && pkg.Name == "testing"
}

// imported is the folder of the module's package that goes by a name in the file.
func (f source) imported(name string) string {
	for _, i := range f.Imports {
		at, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		if folder, ok := strings.CutPrefix(at, module+"/"); ok && (i.Name == nil && at[strings.LastIndexByte(at, '/')+1:] == name || i.Name != nil && i.Name.Name == name) {
			return folder
		}
	}
	return ""
}

func function(n ast.Node) *ast.FuncType {
	switch v := n.(type) {
	case *ast.FuncDecl:
		return v.Type
	case *ast.FuncLit:
		return v.Type
	default:
		panic(fmt.Sprintf("%T is no function", n))
	}
}

// parameters are the names of a function's parameters, one for each.
func parameters(n ast.Node) (names []string) {
	for _, field := range function(n).Params.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
		if len(field.Names) == 0 {
			names = append(names, "_")
		}
	}
	return names
}
