package house_test

import (
	"os"
	"os/exec"
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
	var released, commits, described []string
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		found := regexp.MustCompile(`^v(\d+\.\d+\.\d+) ([0-9a-f]{40}) (\d{4}-\d\d-\d\d)\n$`).FindStringSubmatch(line)
		require.NotNil(t, found, "RELEASES: %q must be 'v0.1.0 COMMIT 2027-01-31'", line)
		released, commits = append(released, found[1]+" - "+found[3]), append(commits, found[2])
	}
	for _, heading := range regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$`).FindAllStringSubmatch(string(changes), -1) {
		described = append([]string{heading[1] + " - " + heading[2]}, described...) // the changelog has the newest first
	}
	require.LessOrEqual(t, len(released), len(described))
	require.LessOrEqual(t, len(described), len(released)+1, "add the line of the last release to RELEASES")
	require.Equal(t, described[:len(released)], released)
	for _, commit := range commits {
		t.Run(commit, func(t *testing.T) {
			t.Parallel()
			releasedMigrations(t, commit)
		})
	}
}

// releasedMigrations: the migrations of a release are never changed, renamed or removed, because databases have applied them.
func releasedMigrations(t *testing.T, commit string) {
	t.Helper()
	git := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = root
		return cmd.Output()
	}
	if _, err := git("cat-file", "-e", commit+"^{commit}"); err != nil {
		t.Skip("the clone lacks this commit, as a shallow one does")
	}
	names, err := git("ls-tree", "--name-only", commit, "migrations/")
	require.NoError(t, err)
	migrations := 0
	for name := range strings.Lines(string(names)) {
		if name = strings.TrimSpace(name); filepath.Ext(name) != ".sql" {
			continue
		}
		migrations++
		then, err := git("show", commit+":"+name)
		require.NoError(t, err)
		now, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err, "a released migration stays: add a new one")
		require.Equal(t, string(then), string(now), "%s was released: add a new migration in place of a change", name)
	}
	require.Positive(t, migrations)
}
