package sdk_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/sdk"
)

// TestTheScriptIsBuiltFromTheSources: js/build.mjs writes down what it has read
// and written, so that a machine without Node can tell.
func TestTheScriptIsBuiltFromTheSources(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("js/built.sha256")
	require.NoError(t, err)
	listed := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		want, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, ok, line)
		text, err := os.ReadFile(filepath.Join("js", name))
		require.NoError(t, err)
		sum := sha256.Sum256(text)
		require.Equal(t, want, hex.EncodeToString(sum[:]), "%s has changed: run 'make gen' with Node 20 or newer", name)
		listed[name] = true
	}
	for _, dir := range []string{"src", "dist"} {
		entries, err := os.ReadDir(filepath.Join("js", dir))
		require.NoError(t, err)
		for _, e := range entries {
			require.True(t, listed[dir+"/"+e.Name()], "%s/%s is not in built.sha256: run 'make gen'", dir, e.Name())
		}
	}
	require.True(t, bytes.HasPrefix(sdk.Script, []byte("/*! paylatch ")))
}

// TestClient runs the client's own tests. They need Node alone: they test what is
// committed as built.
func TestClient(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node to run the browser client's tests with")
	}
	version, err := exec.CommandContext(t.Context(), node, "--version").Output()
	require.NoError(t, err)
	major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 20 {
		t.Skipf("the browser client's tests need node 20 or newer, and this is %s", bytes.TrimSpace(version))
	}
	files, err := filepath.Glob("js/test/*.test.js")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, append([]string{"--test", "--test-reporter=tap"}, files...)...)
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.Equal(t, "0", summary(said, "fail"), "%s", said)
	require.NotEqual(t, "0", summary(said, "pass"))
	t.Logf("%s tests of the browser client passed", summary(said, "pass"))
}

// summary is a count of a run's last lines.
func summary(tap []byte, of string) string {
	lines := bufio.NewScanner(bytes.NewReader(tap))
	var count string
	for lines.Scan() {
		if n, ok := strings.CutPrefix(lines.Text(), "# "+of+" "); ok {
			count = n
		}
	}
	return count
}
