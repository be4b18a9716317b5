// Package published finds published material of providers, for tests. The repository does not have this material:
// signatures, samples of bodies, and descriptions of APIs.
package published

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Kind is what was published, by the name of its folder.
type Kind string

// The kinds.
const (
	Vectors  Kind = "vectors"        // deliveries with their signatures
	Payloads Kind = "payloads"       // samples of bodies
	Specs    Kind = "specs"          // descriptions of APIs
	Cases    Kind = "provider_cases" // courses of disputes that descriptions have
)

// missed is the variable that names a file in which each test is noted that did without something.
const missed = "PAYLATCH_MISSED"

// variable says where a kind is.
func (k Kind) variable() string { return "PAYLATCH_" + strings.ToUpper(string(k)) }

// Path returns where a file or folder of a kind is: in the folder that the kind's variable names, or in one beside the checkout.
// Without it the test that it is given is skipped: within a subtest that is the subtest's own.
func Path(tb testing.TB, k Kind, name string) string {
	tb.Helper()
	path, err := Find(tb, k, name)
	if err != nil {
		tb.Skip(err)
	}
	return path
}

// Find is Path for a test that goes on without the file.
func Find(tb testing.TB, k Kind, name string) (string, error) {
	tb.Helper()
	root := root(tb)
	dir := os.Getenv(k.variable())
	if dir == "" {
		dir = filepath.Join(root, "..", "shared", string(k))
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil { //nolint:gosec // whoever runs the tests says where
		note(tb, root)
		return "", fmt.Errorf("what was published is not in the repository, and %s does not say where it is: %w", k.variable(), err)
	}
	return path, nil
}

// root is the folder of the module that is tested.
func root(tb testing.TB) string {
	tb.Helper()
	wd, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			tb.Fatalf("%s is in no module", wd)
		}
	}
}

// note writes the test's package and name into the file that the variable names.
func note(tb testing.TB, root string) {
	tb.Helper()
	file := os.Getenv(missed)
	if file == "" {
		return
	}
	wd, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	pkg, err := filepath.Rel(root, wd)
	if err != nil {
		tb.Fatal(err)
	}
	name, _, _ := strings.Cut(tb.Name(), "/")
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // whoever runs the tests says where
	if err != nil {
		tb.Fatal(err)
	}
	_, err = fmt.Fprintf(f, "./%s %s\n", filepath.ToSlash(pkg), name)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		tb.Fatal(err)
	}
}
