package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// printed is a block of commands of a page of the manual, and the required texts of their output.
type printed struct {
	commands string
	wants    []string
}

func printedIn(t *testing.T, page string) []printed {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	var blocks []printed
	for _, m := range regexp.MustCompile("(?s)\n```sh\n(.*?)```\n").FindAllStringSubmatch(string(text), -1) {
		p := printed{commands: m[1]}
		for line := range strings.Lines(m[1]) {
			if want, ok := strings.CutPrefix(line, "# → "); ok {
				p.wants = append(p.wants, strings.TrimSpace(want))
			}
		}
		calls := strings.Contains(p.commands, "curl ") || strings.Contains(p.commands, "post /") || strings.Contains(p.commands, "paylatch import") ||
			strings.Contains(p.commands, "paylatch conformance")
		require.Equal(t, calls, len(p.wants) > 0, "say what comes back: %s", p.commands)
		blocks = append(blocks, p)
	}
	return blocks
}

// TestIntegrateAsPrinted runs the commands of docs/how-to/integrate.md, as printed but for the addresses.
func TestIntegrateAsPrinted(t *testing.T) {
	t.Parallel()
	asPrinted(t, "../../../docs/how-to/integrate.md", 8)
}

// TestReadmeAsPrinted does the same with README.md.
func TestReadmeAsPrinted(t *testing.T) {
	t.Parallel()
	asPrinted(t, "../../../README.md", 2)
}

// TestFirstPaymentAsPrinted does the same with docs/tutorials/first-payment.md.
func TestFirstPaymentAsPrinted(t *testing.T) {
	t.Parallel()
	asPrinted(t, "../../../docs/tutorials/first-payment.md", 5)
}

// TestAdoptAsPrinted does the same with docs/how-to/adopt.md.
func TestAdoptAsPrinted(t *testing.T) {
	t.Parallel()
	asPrinted(t, "../../../docs/how-to/adopt.md", 6)
}

// TestReconcileAsPrinted does the same with the import of docs/how-to/reconcile.md.
func TestReconcileAsPrinted(t *testing.T) {
	t.Parallel()
	asPrinted(t, "../../../docs/how-to/reconcile.md", 1)
}

// TestStandardProviderAsPrinted does the same with docs/reference/standard-provider.md.
func TestStandardProviderAsPrinted(t *testing.T) {
	t.Parallel()
	asPrinted(t, "../../../docs/reference/standard-provider.md", 2)
}

func asPrinted(t *testing.T, page string, least int) {
	t.Helper()
	for _, name := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s to run the printed commands with", name)
		}
	}
	blocks := printedIn(t, page)
	require.GreaterOrEqual(t, len(blocks), least)
	dir, listen, sandbox := t.TempDir(), testdb.Address(t), testdb.Address(t)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	require.NoError(t, os.Symlink(binary, filepath.Join(dir, "bin", "paylatch")))
	d := startDev(t, dir, listen, sandbox)

	var script strings.Builder
	script.WriteString("set -euo pipefail\n")
	for i, b := range blocks {
		fmt.Fprintf(&script, "%s\necho; echo '=== %d'\n", b.commands, i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(len(blocks))*soon)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", strings.NewReplacer("127.0.0.1:8080", listen, "127.0.0.1:9090", sandbox).Replace(script.String()))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Run(), "%s", &said)
	rest := said.String()
	for i, b := range blocks {
		part, after, found := strings.Cut(rest, fmt.Sprintf("=== %d\n", i))
		require.True(t, found, rest)
		for _, want := range b.wants {
			require.Contains(t, part, want, b.commands)
		}
		if !strings.Contains(b.commands, `# → "code":`) {
			require.NotContains(t, part, `"/problems/`, b.commands)
		}
		rest = after
	}
	code, _ := d.stop(t, syscall.SIGTERM)
	require.Zero(t, code, d.stderr)
}
