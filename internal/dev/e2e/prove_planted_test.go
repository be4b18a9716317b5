package e2e_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// plantedRound is how long a defect is attacked before the checks.
const plantedRound = 15 * time.Second

// TestPlanted checks that each planted defect still applies to the program. A defect is a patch in testdata/planted, with words about it
// before its first file. With -prove-planted it builds the program with the defect and attacks it until a check fails:
// `make prove PLANTED=all` shows the checks and the seconds, in the end as the rows of the table in docs/explanation/reliability.md.
func TestPlanted(t *testing.T) { //nolint:tparallel // each defect needs the machine
	t.Parallel()
	patches, err := filepath.Glob("testdata/planted/*.patch")
	require.NoError(t, err)
	require.NotEmpty(t, patches)
	names := map[string]map[string]string{}
	for _, patch := range patches {
		names[strings.TrimSuffix(filepath.Base(patch), ".patch")] = planted(t, patch)
	}
	if *proveDefect == "" {
		return
	}
	var rows strings.Builder
	for _, name := range slices.Sorted(maps.Keys(names)) { //nolint:paralleltest // each needs the machine
		if *proveDefect != "all" && !slices.Contains(strings.Split(*proveDefect, ","), name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			checks := "**none** | "
			defer func() {
				fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", name, wordsOf(t, "testdata/planted/"+name+".patch"), checks)
			}()
			checks = caught(t, name, names[name])
		})
	}
	t.Logf("| defect | the program then | checks that fail | seconds until the first |\n|---|---|---|---|\n%s", rows.String())
}

// wordsOf are the words of a patch about its defect.
func wordsOf(t *testing.T, patch string) string {
	t.Helper()
	text, err := os.ReadFile(patch)
	require.NoError(t, err)
	words, _, _ := strings.Cut(string(text), "diff --git ")
	return strings.TrimSpace(words)
}

// planted applies a patch to copies of its files, and returns them by the path of the original.
func planted(t *testing.T, patch string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(patch)
	require.NoError(t, err)
	require.NotEmpty(t, wordsOf(t, patch), "%s: the first line has words about the defect", patch)
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	dir, replaced := t.TempDir(), map[string]string{}
	for _, found := range regexp.MustCompile(`(?m)^\+\+\+ b/(.*)$`).FindAllStringSubmatch(string(text), -1) {
		path := found[1]
		original, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err, "%s", patch)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), original, 0o600))
		replaced[filepath.Join(root, path)] = filepath.Join(dir, path)
	}
	require.NotEmpty(t, replaced, "%s: it changes no file", patch)
	absolute, err := filepath.Abs(patch)
	require.NoError(t, err)
	apply := exec.CommandContext(t.Context(), "git", "apply", absolute)
	apply.Dir, apply.Env = dir, append(os.Environ(), "GIT_DIR=/nowhere", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	out, err := apply.CombinedOutput()
	require.NoError(t, err, "%s does not apply any more, write it anew: %s", patch, out)
	return replaced
}

// caught attacks the program with a defect until a check fails. It returns the checks and the seconds for the table.
func caught(t *testing.T, name string, replaced map[string]string) string {
	t.Helper()
	program, err := buildWith("paylatch-"+name, replaced)
	require.NoError(t, err)
	seed := *proveSeed
	if seed == 0 {
		seed = 1
	}
	dir := filepath.Join(t.TempDir(), name)
	if *proveKeep != "" {
		dir = filepath.Join(*proveKeep, name)
	}
	require.NoError(t, os.MkdirAll(dir, 0o700))
	h := newHistory(t, dir)
	p := newProofUnderLoad(t, h, program, seed, false)
	p.first = true
	p.patience = 80 * time.Second // longer than the schedule's step that the oldest attempts reach
	limit := max(4*time.Minute, time.Duration(*proveMinutes*float64(time.Minute)))
	for len(h.violations()) == 0 && time.Since(h.begun) < limit {
		p.play(t, seed, plantedRound)
	}
	all := h.violations()
	require.NotEmpty(t, all, "no check has caught %s in %s", name, limit)
	var checks []string
	for _, v := range all {
		if !slices.Contains(checks, v.check) {
			checks = append(checks, v.check)
		}
	}
	row := fmt.Sprintf("%s | %d", strings.Join(checks, ", "), int(all[0].after.Seconds()))
	t.Logf("%s: caught by %s: %s", name, row, all[0].text)
	return row
}
