package devpg

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// FindBin returns the directory with initdb and postgres: $PG_BIN, then PATH, then the newest version in the places where Debian,
// RPM and Homebrew put them. It returns ErrNoBinaries when there is none.
func FindBin() (string, error) {
	if dir := os.Getenv("PG_BIN"); dir != "" {
		if !hasServer(dir) {
			return "", fmt.Errorf("PG_BIN is %s, where initdb and postgres are not: %w", dir, ErrNoBinaries)
		}
		return dir, nil
	}
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), installed()...) {
		if hasServer(dir) {
			return dir, nil
		}
	}
	return "", ErrNoBinaries
}

// hasServer looks for both programs: a client package alone brings psql, and some put initdb elsewhere than postgres.
func hasServer(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return dir != ""
}

func installed() []string {
	var dirs []string
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",
		"/usr/pgsql-*/bin",
		"/opt/homebrew/opt/postgresql@*/bin",
		"/usr/local/opt/postgresql@*/bin",
	} {
		found, _ := filepath.Glob(pattern)
		slices.SortFunc(found, func(a, b string) int { return cmp.Compare(digits(b), digits(a)) })
		dirs = append(dirs, found...)
	}
	return dirs
}

// digits reads the version out of a path of installed, as 9.6 may stand beside 17.
func digits(path string) float64 {
	v, _ := strconv.ParseFloat(regexp.MustCompile(`\d+(\.\d+)?`).FindString(path), 64)
	return v
}

// Major returns the major version of the binaries in bin, such as "15".
func Major(ctx context.Context, bin string) (string, error) {
	return major(ctx, bin, nil)
}

func major(ctx context.Context, bin string, attr *syscall.SysProcAttr) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "postgres"), "--version") //nolint:gosec // the binary is the caller's choice
	cmd.SysProcAttr = attr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("run %s: %w", cmd, err)
	}
	m := regexp.MustCompile(`\) (\d+)`).FindStringSubmatch(string(out))
	if m == nil {
		return "", fmt.Errorf("%s is not PostgreSQL: its version is %q", bin, strings.TrimSpace(string(out)))
	}
	return m[1], nil
}
