package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	contract "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api/render"
)

// The errors of these packages may come out of a use case or a guard.
func vocabularies() map[string]string {
	return map[string]string{
		"payment": "../payment", "idempotency": "../../idempotency", "auth": "../platform/auth", "webhooks": "../../webhooks",
		"refundrequest": "../backoffice/refundrequest",
	}
}

func TestEveryErrorHasARow(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("render/problem_table.go")
	require.NoError(t, err)
	found := 0
	for pkg, dir := range vocabularies() {
		for _, name := range exportedErrors(t, dir) {
			found++
			switch name {
			case "ReplayError": // brings its own answer
				continue
			case "CellMapError", "MerchantError": // of a start or a reload, with the configuration's other errors
				continue
			case "ErrSealed": // is an ErrEventUnreadable
				continue
			case "PanicError": // a fault of the program, internal like every other; the log has its stack
				continue
			}
			require.Regexp(t, `\b`+pkg+`\.`+name+`\b`, string(table), "%s.%s needs a row in the table of render/problem_table.go", pkg, name)
		}
	}
	require.Greater(t, found, 30)
}

// exportedErrors lists the exported sentinels and error types of a package.
func exportedErrors(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil && n.Name.Name == "Error" {
					names = append(names, receiver(n))
				}
				return false
			case *ast.ValueSpec:
				for _, name := range n.Names {
					if strings.HasPrefix(name.Name, "Err") {
						names = append(names, name.Name)
					}
				}
			}
			return true
		})
	}
	return names
}

func receiver(f *ast.FuncDecl) string {
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	return typ.(*ast.Ident).Name
}

// codesIn lists the codes written in the source.
func codesIn(t *testing.T) map[string]bool {
	t.Helper()
	codes := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "gen"+string(filepath.Separator)) {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?:Refuse\(|[Cc]ode: |Err\w+, )"([a-z0-9-]+)"`).FindAllStringSubmatch(string(text), -1) {
			codes[m[1]] = true
		}
		return err
	}))
	return codes
}

func TestEveryCodeHasAPage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	codes := codesIn(t)
	for code := range strings.FieldsSeq(`
		malformed-request unauthenticated forbidden not-found method-not-allowed body-too-large unsupported-media-type
		validation-failed rate-limited internal overloaded idempotency-key-missing idempotency-key-invalid
		idempotency-key-in-query idempotency-key-reused request-in-progress storage-unavailable quota-exceeded
		payment-in-progress attempt-not-completable attempt-not-capturable attempt-not-refundable refundable-changed order-exists
		order-already-paid order-cancelled capture-exceeds-authorization attempt-final refund-exceeds-payment`) {
		codes[code] = true
	}
	b.invented = true // no call returns all codes
	sentences := map[bool]string{true: "The same intention may be sent under a new key", false: "Do not send the same intention under a new key"}
	index := string(b.send(http.MethodGet, "/problems", "").text)
	for code := range codes {
		got := b.send(http.MethodGet, "/problems/"+code, "", "Authorization: -", "Accept: text/html")
		require.Equal(t, http.StatusOK, got.StatusCode, code)
		require.Equal(t, "text/html; charset=UTF-8", got.Header.Get("Content-Type"))
		require.Contains(t, string(got.text), "What to do")
		b.payments.err = render.Refuse(code, "")
		problem := b.command("/v1/orders", goodOrder).problem(t)
		require.NotNil(t, problem.SafeNewKey, code)
		require.Contains(t, string(got.text), sentences[*problem.SafeNewKey], code)
		require.Contains(t, index, `href="/problems/`+code+`"`)
	}
}

// The problems in the contract equal the served ones.
func TestTheContractsProblemsAreThoseOfThePages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shown := regexp.MustCompile(`type: /problems/(\S+)\n *title: (.+)\n *status: (\d+)\n *detail: (.+)\n`).FindAllStringSubmatch(string(contract.Document), -1)
	require.NotEmpty(t, shown)
	for _, example := range shown {
		page := string(b.send(http.MethodGet, "/problems/"+example[1], "", "Authorization: -", "Accept: text/html").text)
		page = strings.NewReplacer("<code>", "`", "</code>", "`").Replace(page)
		for _, text := range example[2:] {
			require.Contains(t, page, text, example[1])
		}
	}
}
