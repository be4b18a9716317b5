package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitTakesOnlyTheGivenDatabase: DATABASE_URL of the environment is often the shop's own database. init takes it only by a flag.
func TestInitTakesOnlyTheGivenDatabase(t *testing.T) {
	t.Parallel()
	environ := []string{"DATABASE_URL=postgres://shop:hidden@127.0.0.1/shop"}
	written := func(args ...string) (yaml, env, stdout string) {
		file := filepath.Join(t.TempDir(), "paylatch.yaml")
		code, stdout, stderr := run(t, environ, append([]string{"--config", file, "init", "--kind", "stripe", "--set", "api_key=sk_test_1"}, args...)...)
		require.Zero(t, code, stderr)
		texts := map[string]string{}
		for _, ext := range []string{".yaml", ".env"} {
			text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "paylatch"+ext))
			require.NoError(t, err)
			texts[ext] = string(text)
		}
		return texts[".yaml"], texts[".env"], stdout
	}
	yaml, env, stdout := written()
	require.NotContains(t, yaml, "\ndatabase_url:")
	require.NotContains(t, env, "hidden")
	require.Contains(t, stdout, " dev\n", "which starts a database of its own")
	yaml, env, stdout = written("--database-url", "${DATABASE_URL}")
	require.Contains(t, yaml, "\ndatabase_url: ${DATABASE_URL}\n")
	require.NotContains(t, env, "hidden")
	require.Contains(t, stdout, " serve --migrate\n")
}
