package sdk_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

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
		require.NoError(t, fs.WalkDir(os.DirFS("js"), dir, func(name string, e fs.DirEntry, err error) error {
			require.True(t, e.IsDir() || listed[name], "%s is not in built.sha256: run 'make gen'", name)
			return err
		}))
	}
	require.True(t, bytes.HasPrefix(sdk.Script, []byte("/*! paylatch ")))
}

// TestClient runs the client's own tests. They need Node alone: they test what is
// committed as built.
func TestClient(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	files, err := filepath.Glob("js/test/*.test.js")
	require.NoError(t, err)
	files = slices.DeleteFunc(files, func(name string) bool { return slices.Contains(frameworks(), strings.TrimPrefix(name, "js/")) })
	require.NotEmpty(t, files)
	passes(t, ".", node, files...)
}

// newNode is a Node that can run the client's tests; without one the test is skipped.
func newNode(t *testing.T) string {
	t.Helper()
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
	return node
}

// frameworks are the tests that need what npm installs.
func frameworks() []string { return []string{"test/express.test.js", "test/react.test.js"} }

// TestFrameworks runs the tests of the hook and of the routes, with React and Express, which npm installs outside the tree.
func TestFrameworks(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("there is no npm to install React and Express with")
	}
	dir := clone(t)
	install(t, npm, dir)
	passes(t, dir, node, frameworks()...)
}

// clone copies the client as a clone has it, and returns its folder.
func clone(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "sdk", "js")
	require.NoError(t, os.CopyFS(dir, os.DirFS("js")))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "node_modules")))
	licence, err := os.ReadFile("../LICENSE")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "LICENSE"), licence, 0o600))
	return dir
}

// install fetches what package-lock.json names; the test is skipped where npm reaches no registry.
func install(t *testing.T, npm, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--prefer-offline")
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	said, err := cmd.CombinedOutput()
	if ctx.Err() != nil || regexp.MustCompile(`ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH`).Match(said) {
		t.Skip("npm can't fetch React, Express and TypeScript")
	}
	require.NoError(t, err, "%s", said)
}

// TestPack packs the client in a clone where nothing is installed, and compiles the README's samples against the package under strict.
func TestPack(t *testing.T) {
	t.Parallel()
	newNode(t)
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("there is no npm to pack the browser client with")
	}
	dir := clone(t)
	runs := func(dir, name string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s %s: %s", name, strings.Join(args, " "), said)
	}
	runs(dir, npm, "pack", "--pack-destination", filepath.Dir(dir))
	packed, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "paylatch-*.tgz"))
	require.NoError(t, err)
	require.Len(t, packed, 1)
	require.NoFileExists(t, filepath.Join(dir, "LICENSE"))

	install(t, npm, dir)
	shop := filepath.Join(dir, "shop") // an empty folder, beside the types of React, Express and Node
	of := filepath.Join(shop, "node_modules", "paylatch")
	require.NoError(t, os.MkdirAll(shop, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(shop, "package.json"), []byte(`{"type": "module"}`), 0o600))
	runs(shop, npm, "install", "--offline", "--no-audit", "--no-fund", "--install-links", "--omit=peer", packed[0])
	for _, name := range []string{"LICENSE", "README.md", "dist/paylatch.js", "dist/react.js", "dist/server.js", "dist/server/index.d.ts"} {
		require.FileExists(t, filepath.Join(of, name))
	}
	readme, err := os.ReadFile("js/README.md")
	require.NoError(t, err)
	page := regexp.MustCompile("(?s)```js\n(import \\{ createCheckout.*?)```").FindSubmatch(readme)
	hook := regexp.MustCompile("(?s)```tsx\n(import \\{ useCheckout.*?)```").FindSubmatch(readme)
	require.NotNil(t, page)
	require.NotNil(t, hook)
	// A page served by paylatch imports the client by its address, and knows that its elements exist.
	script := regexp.MustCompile(`"https://[^"]*/paylatch\.js"`).ReplaceAll(page[1], []byte(`"paylatch"`))
	script = regexp.MustCompile(`getElementById\("\w+"\)`).ReplaceAll(script, []byte("$0!"))
	files := serverSamples(t, readme)
	files["server.json"] = tsconfig(`"lib": ["es2022"], "types": ["node"]`, slices.Sorted(maps.Keys(files)))
	files["page.ts"], files["hook.tsx"] = script, append(hook[1], "export { Pay };\n"...)
	files["page.json"] = tsconfig(`"lib": ["es2022", "dom"], "jsx": "react-jsx", "types": []`, []string{"page.ts", "hook.tsx"})
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(shop, name), text, 0o600))
	}
	for _, config := range []string{"page.json", "server.json"} {
		runs(shop, filepath.Join(dir, "node_modules", ".bin", "tsc"), "--project", config)
	}
}

// tsconfig is a configuration of the compiler under strict.
func tsconfig(options string, files []string) []byte {
	return []byte(`{"compilerOptions": {"strict": true, "noEmit": true, "module": "nodenext", "target": "es2022", ` + options +
		`}, "files": ["` + strings.Join(files, `", "`) + `"]}`)
}

// passes runs the client's tests in files, of which none may be skipped.
func passes(t *testing.T, dir, node string, files ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, append([]string{"--test", "--test-reporter=tap"}, files...)...)
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.Equal(t, "0", summary(said, "fail"), "%s", said)
	require.Equal(t, "0", summary(said, "skipped"), "%s", said)
	require.NotEqual(t, "0", summary(said, "pass"))
	t.Logf("%s tests of the browser client passed", summary(said, "pass"))
}

// TestTypes holds the client's types to the names that the API's description has.
func TestTypes(t *testing.T) {
	t.Parallel()
	var spec struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any `yaml:"properties"`
			} `yaml:"schemas"`
		} `yaml:"components"`
	}
	text, err := os.ReadFile("../api/openapi.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &spec))
	types, err := os.ReadFile("js/src/types.ts")
	require.NoError(t, err)
	// Members that only the backend gets, or that the client takes off its state.
	backends := map[string][]string{"Attempt": {"status_token", "provider_reference", "provider_idempotency_key"}, "Problem": {"restart_after"}}
	for schema, names := range map[string][]string{
		"Attempt": {"Attempt"}, "NextAction": {"RedirectAction", "PostFormAction", "SdkAction", "DisplayAction"},
		"SavedPaymentMethod": {"SavedPaymentMethod"}, "Dispute": {"Dispute"}, "ProviderPayment": {"ProviderPayment"}, "Failure": {"Failure"}, "Problem": {"Problem"},
		"Pay": {"Payment"}, "Customer": {"Customer"}, "Address": {"Address"}, "Browser": {"BrowserInfo"}, "Line": {"Line"},
	} {
		var have []string
		for _, name := range names {
			body := regexp.MustCompile(`(?s)export interface ` + name + ` \{\n(.*?)\n\}`).FindSubmatch(types)
			require.NotNil(t, body, name)
			for _, m := range regexp.MustCompile(`(?m)^  (\w+)\??:`).FindAllSubmatch(body[1], -1) {
				have = append(have, string(m[1]))
			}
		}
		slices.Sort(have)
		want := slices.DeleteFunc(slices.Sorted(maps.Keys(spec.Components.Schemas[schema].Properties)), func(name string) bool {
			return slices.Contains(backends[schema], name)
		})
		require.Equal(t, want, slices.Compact(have), schema)
	}
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
