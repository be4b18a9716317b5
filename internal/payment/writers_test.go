package payment_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The functions of the state machines, and the one file that calls each.
var machines = map[string]string{"Next": "advance.go", "NextRefund": "refund_advance.go", "NextOperation": "operation.go", "NextDispute": "dispute.go"}

// readers follow the log by the state machine, or show it, and write nothing.
var readers = []string{"../ledger/verify/replay.go"}

// The fields of an attempt that only Advance may change; the stores fill them in from rows.
var (
	guarded = []string{"State", "Authorized", "Captured", "Refunded", "Disputed", "Version"}
	stores  = "../postgres/"
	// sameNames are fields of the same names, of values that are no stored attempt.
	sameNames = map[string][]string{
		"../engine/commands/decision.go": {"c.State"}, "../ledger/verify/replay.go": {"a.State"}, "../dev/sandbox/page.go": {"data.State"},
		"../console/customer.go": {"t.Refunded"}, "../ledger/journal/sums.go": {"s.Captured", "s.Refunded"}, "../console/bar.go": {"bar.Captured", "bar.Refunded", "bar.Disputed"},
	}
)

// TestWriters reads the source. Each state machine has one caller. Only package payment changes the state, the amounts
// and the version of an attempt, an operation or a refund.
func TestWriters(t *testing.T) {
	t.Parallel()
	for path, file := range sources(t) {
		for _, found := range callers(path, file) {
			t.Errorf("%s calls fsm.%s", path, found)
		}
		for _, found := range writes(path, file) {
			t.Errorf("%s changes %s", path, found)
		}
	}
}

// TestWriters_seen shows that both checks find their violations.
func TestWriters_seen(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "", `package changeset
		import "github.com/paylatch/paylatch/fsm"
		func f(c *Change, a payment.Attempt) {
			step, _ := fsm.Next(a.State, "failed")
			c.Attempt.State = step.To
			a.Version++
			a.Captured, a.Money = 1, a.Money
			p := &c.Attempt.Refunded
		}`, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"Next"}, callers("../changeset/odd.go", file))
	require.Equal(t, []string{"c.Attempt.State", "a.Version", "a.Captured", "c.Attempt.Refunded"}, writes("../changeset/odd.go", file))
	require.Equal(t, []string{"Next"}, callers("refund_advance.go", file))
	require.Empty(t, writes("advance.go", file))
}

// sources are the parsed files of the program, tests and generated code left out.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	set := token.NewFileSet()
	for _, root := range []string{"..", "../../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err == nil && !ast.IsGenerated(file) {
				files[strings.TrimPrefix(filepath.ToSlash(path), "../payment/")] = file
			}
			return err
		})
		require.NoError(t, err)
	}
	require.Contains(t, files, "advance.go")
	require.Contains(t, files, "../engine/changeset/changeset.go")
	return files
}

// callers are the functions of the state machines that a file uses and must not.
func callers(path string, file *ast.File) (found []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, ok := s.X.(*ast.Ident)
		home := machines[s.Sel.Name]
		if ok && of.Name == "fsm" && home != "" && home != path && !slices.Contains(readers, path) {
			found = append(found, s.Sel.Name)
		}
		return true
	})
	return found
}

// writes are the guarded fields that a file outside package payment assigns, or takes the
// address of. Without types that is by name: a field of another struct must be named
// otherwise.
func writes(path string, file *ast.File) (found []string) {
	if file.Name.Name == "payment" || !strings.Contains(path, "/") || strings.HasPrefix(path, stores) {
		return nil
	}
	check := func(e ast.Expr) {
		if s, ok := e.(*ast.SelectorExpr); ok && slices.Contains(guarded, s.Sel.Name) && !slices.Contains(sameNames[path], source(s)) {
			found = append(found, source(s))
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				check(e)
			}
		case *ast.IncDecStmt:
			check(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				check(n.X)
			}
		}
		return true
	})
	return found
}

// source is a selector as it is written.
func source(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return source(e.X) + "." + e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return "…"
}
