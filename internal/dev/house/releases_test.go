package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReleases: each line of RELEASES is a version of the changelog, with its commit and its date. The changelog may have one version more,
// since a commit can't name itself.
func TestReleases(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile(filepath.Join(root, "RELEASES"))
	require.NoError(t, err)
	changes, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	require.NoError(t, err)
	var released, described []string
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		found := regexp.MustCompile(`^v(\d+\.\d+\.\d+) [0-9a-f]{40} (\d{4}-\d\d-\d\d)\n$`).FindStringSubmatch(line)
		require.NotNil(t, found, "RELEASES: %q must be 'v0.1.0 COMMIT 2027-01-31'", line)
		released = append(released, found[1]+" - "+found[2])
	}
	for _, heading := range regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$`).FindAllStringSubmatch(string(changes), -1) {
		described = append([]string{heading[1] + " - " + heading[2]}, described...) // the changelog has the newest first
	}
	require.LessOrEqual(t, len(released), len(described))
	require.LessOrEqual(t, len(described), len(released)+1, "add the line of the last release to RELEASES")
	require.Equal(t, described[:len(released)], released)
}
