package house_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/contributing/packages.md")

// TestPackages holds the list of packages to the first sentence of each package's documentation.
func TestPackages(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	list.WriteString("# Packages\n\nThe first sentence of each package's documentation. `go test ./internal/dev/house -run TestPackages -update` writes this page.\n\n| package | purpose |\n|---|---|\n")
	for _, name := range packages(t) {
		if filepath.Base(name) == "dbsqlc" { // generated
			continue
		}
		if text := purpose(t, name); text != "" {
			fmt.Fprintf(&list, "| [%s](../../%s) | %s |\n", name, name, strings.ReplaceAll(text, "|", "\\|"))
		}
	}
	file := filepath.Join(root, "docs/contributing/packages.md")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(list.String()), 0o600))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, list.String(), string(text), "write it with -update")
}

// purpose is the first sentence of a package's documentation, without the package's name; empty for a folder of tests alone.
func purpose(t *testing.T, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, name, "*.go"))
	require.NoError(t, err)
	text, code := "", false
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		code = true
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.PackageClauseOnly)
		require.NoError(t, err)
		if f.Doc != nil && !ast.IsGenerated(f) {
			text = new(doc.Package).Synopsis(f.Doc.Text())
		}
	}
	if !code {
		return ""
	}
	require.NotEmpty(t, text, "%s has no documentation", name)
	if words := strings.SplitN(text, " ", 3); words[0] == "Package" || words[0] == "Command" { // its name stands beside it
		return words[2]
	}
	return text
}
