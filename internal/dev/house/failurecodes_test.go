package house_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/constant"
	exports "go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api/contract"
)

// TestFailureCodesAreOfTheContract finds each failure code that the program can use, in the adapters' tables and elsewhere: all
// constants of the type webhooks.FailureCode. A text that is converted to the type must come from a list.
func TestFailureCodesAreOfTheContract(t *testing.T) {
	t.Parallel()
	d, err := contract.Load(api.Document)
	require.NoError(t, err)
	schema, ok := d.Components.Schemas.Find("FailureCode")
	require.True(t, ok)
	converted := []string{
		"internal/engine/intake/fetch.go",    // a code of an outcome, which payment.NewFailure made
		"internal/payment/refund_failure.go", // looked up in the list
		"webhooks/standard/read.go",          // looked up in the list
	}
	used := map[string]int{}
	for _, p := range checked(t, "github.com/paylatch/paylatch/webhooks", "./webhooks/...", "./internal/...") {
		for expr, is := range p.info.Types {
			if is.Type == nil || is.Type.String() != "github.com/paylatch/paylatch/webhooks.FailureCode" {
				continue
			}
			at := p.files.Position(expr.Pos())
			switch call, isCall := expr.(*ast.CallExpr); {
			case is.Value != nil:
				code := constant.StringVal(is.Value)
				require.True(t, code == "" || slices.Contains(schema.Enum, code), "%s: %q is no failure code of api/openapi.yaml", at, code)
				used[code]++
			case isCall && p.info.Types[call.Fun].IsType():
				require.True(t, slices.ContainsFunc(converted, func(file string) bool { return strings.HasSuffix(at.Filename, file) }),
					"%s: a text becomes a failure code", at)
			}
		}
	}
	for _, code := range schema.Enum {
		require.Positive(t, used[code], "nothing uses the failure code %s", code)
	}
	require.Greater(t, used["card_declined"], 20, "the adapters' tables were not read")
}

// typed is a package without its tests, and the types of its expressions.
type typed struct {
	files *token.FileSet
	info  *types.Info
}

// checked are the packages of the patterns that import a package, or are it.
func checked(t *testing.T, imports string, patterns ...string) (all []typed) {
	t.Helper()
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles, Imports        []string
		DepOnly                 bool
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Imports,DepOnly"}, patterns...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	exported := map[string]string{}
	var list []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := d.Decode(&p) //nolint:musttag // go list has the names of the members
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		exported[p.ImportPath] = p.Export
		if !p.DepOnly && (p.ImportPath == imports || slices.Contains(p.Imports, imports) || slices.ContainsFunc(p.Imports, isPayment)) {
			list = append(list, p)
		}
	}
	for _, p := range list {
		files := token.NewFileSet()
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			parsed = append(parsed, f)
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		lookup := func(path string) (io.ReadCloser, error) { return os.Open(exported[path]) }
		config := types.Config{Importer: exports.ForCompiler(files, "gc", lookup)}
		_, err := config.Check(p.ImportPath, files, parsed, info)
		require.NoError(t, err, p.ImportPath)
		all = append(all, typed{files, info})
	}
	return all
}

func isPayment(path string) bool { return path == "github.com/paylatch/paylatch/internal/payment" }
