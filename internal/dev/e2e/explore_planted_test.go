package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// explored are the planted defects that should show in the interleavings of small cases (TestEveryInterleaving of package engine). They have
// not been run yet.
var explored = []string{"ack-before-commit", "attempt-not-locked", "check-then-insert", "never-arrived-at-once", "no-fence"}

// TestPlantedExplored runs TestEveryInterleaving with planted defects: it must break a promise with each.
func TestPlantedExplored(t *testing.T) {
	t.Parallel()
	if *proveDefect == "" {
		t.Skip("it builds the tests of the engine for each defect: run it with -args -prove-planted all")
	}
	for _, name := range explored {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun, dir := time.Now(), t.TempDir()
			text, err := json.Marshal(map[string]map[string]string{"Replace": planted(t, filepath.Join("testdata/planted", name+".patch"))})
			require.NoError(t, err)
			overlay := filepath.Join(dir, "overlay.json")
			require.NoError(t, os.WriteFile(overlay, text, 0o600))
			test := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-timeout", "0", "-overlay", overlay, "github.com/paylatch/paylatch/internal/engine",
				"-run", "^TestEveryInterleaving$/^(two_clients|two_clients_commits|one_key_twice_commits|webhook_twice|two_payments|crash|late_money)$")
			test.Env = append(os.Environ(), "PAYLATCH_LARGE=1")
			out, err := test.CombinedOutput()
			require.Error(t, err, "no interleaving shows it: %s", out)
			broken := regexp.MustCompile(`a promise is broken\s+Test:\s+(\S+)\s+Messages:\s+(.*)`).FindSubmatch(out)
			require.NotNil(t, broken, "%s", out)
			t.Logf("%s: %s shows after %d s: %s", name, broken[1], int(time.Since(begun).Seconds()), broken[2])
		})
	}
}
