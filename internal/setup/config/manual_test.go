package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/config"
)

var update = flag.Bool("update", false, "write the tables in docs/reference/configuration.md")

func TestManualShowsTheReference(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../../docs/reference/configuration.md", "<!-- config:begin -->\n", "<!-- config:end -->"
	manual, err := os.ReadFile(path)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(manual), begin)
	require.True(t, ok, "%s lacks %q", path, begin)
	shown, tail, ok := strings.Cut(rest, end)
	require.True(t, ok, "%s lacks %q", path, end)
	want := config.Reference()
	if *update && shown != want {
		require.NoError(t, os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644))
		shown = want
	}
	require.Equal(t, want, shown, "run with -update")
}

// The examples that a reader copies must start.
func TestExamplesOfTheManualAreRight(t *testing.T) {
	t.Parallel()
	var found int
	for _, page := range []string{"../../../docs/reference/configuration.md", "../../../docs/how-to/operate.md", "../../../docs/how-to/support.md", "../../../docs/explanation/scale.md"} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			found++
			file := filepath.Join(t.TempDir(), "paylatch.yaml")
			require.NoError(t, os.WriteFile(file, []byte(block[1]), 0o600))
			var environ []string
			for _, name := range regexp.MustCompile(`\$\{(\w+)\}`).FindAllStringSubmatch(block[1], -1) {
				environ = append(environ, name[1]+"="+exampleValue(name[1]))
			}
			_, err := config.Load(file, environ)
			require.NoError(t, err, page)
		}
	}
	require.Positive(t, found)
}

// exampleValue returns the value that an operator would have in the environment.
func exampleValue(name string) string {
	switch {
	case strings.HasPrefix(name, "DATABASE"), strings.HasPrefix(name, "CELL_"):
		return "postgres://paylatch@db.internal/" + strings.ToLower(name) + "?sslmode=verify-full"
	case strings.HasPrefix(name, "ENCRYPTION"):
		return "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	case strings.Contains(name, "WHSEC"):
		return "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	}
	return "0123456789abcdef0123456789abcdef"
}
