package house_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// importer is a shop's program with the public packages that a shop's server needs.
const importer = `package main

import (
	_ "` + module + `/client/checkout"
	_ "` + module + `/fsm"
	_ "` + module + `/idempotency"
	_ "` + module + `/inbox"
	_ "` + module + `/webhooks/stripe"
)

func main() {}
`

// TestImporterDownloads builds a program that imports public packages, with an empty module cache, and lists the modules whose code it
// downloads: only those that these packages import. The module cache of this machine is the proxy. It lacks some go.mod files of older
// modules, which a build of this module does not read; they come from the proxy of this machine.
func TestImporterDownloads(t *testing.T) {
	t.Parallel()
	dir, cache := t.TempDir(), t.TempDir()
	here, err := filepath.Abs(root)
	require.NoError(t, err)
	for name, text := range map[string]string{
		"main.go": importer,
		"go.mod":  "module example.com/shop\n\ngo 1.26\n\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + here + "\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	filled, proxy := strings.TrimSpace(goTool(t, root, nil, "env", "GOMODCACHE")), strings.TrimSpace(goTool(t, root, nil, "env", "GOPROXY"))
	goTool(t, dir, []string{
		"GOMODCACHE=" + cache, "GOPROXY=file://" + filepath.ToSlash(filled) + "/cache/download," + proxy, "GOSUMDB=off", "GOVCS=*:off", "GOWORK=off", "GOFLAGS=",
	}, "build", "-mod=mod", "-modcacherw", "-trimpath", "-o", os.DevNull, ".")

	var downloaded []string
	downloads := filepath.Join(cache, "cache", "download")
	require.NoError(t, filepath.WalkDir(downloads, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".zip" {
			of, _, _ := strings.Cut(strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(downloads)+"/"), "/@v/")
			downloaded = append(downloaded, of)
		}
		return err
	}))
	require.Equal(t, []string{
		"github.com/apapsch/go-jsonmerge/v2",
		"github.com/cenkalti/backoff/v5", // client
		"github.com/google/uuid",         // client
		"github.com/gowebpki/jcs",        // idempotency
		"github.com/jackc/pgpassfile",
		"github.com/jackc/pgservicefile",
		"github.com/jackc/pgx/v5",                                  // inbox
		"github.com/looplab/fsm",                                   // fsm
		"github.com/oapi-codegen/runtime",                          // client
		"github.com/standard-webhooks/standard-webhooks/libraries", // client
		"golang.org/x/text",
	}, downloaded)
}

// TestProgramHasNothingOfTests lists the packages of the program. None of them serves the tests alone.
func TestProgramHasNothingOfTests(t *testing.T) {
	t.Parallel()
	linked := strings.Fields(goTool(t, root, nil, "list", "-deps", "./cmd/paylatch"))
	require.Contains(t, linked, module+"/fsm")
	for _, name := range linked {
		for _, of := range []string{
			"testing", "net/http/httptest",
			"github.com/nats-io/nats-server", "github.com/twmb/franz-go/pkg/kfake", "github.com/oauth2-proxy/mockoidc", "github.com/chromedp",
			"github.com/getkin/kin-openapi", "github.com/stretchr/testify", "go.uber.org/goleak", "pgregory.net/rapid", "github.com/HdrHistogram", "github.com/anishathalye/porcupine",
		} {
			require.False(t, name == of || strings.HasPrefix(name, of+"/"), "the program has %s, which is for tests", name)
		}
	}
}

// goTool runs go in a folder and returns its output.
func goTool(t *testing.T, dir string, environ []string, args ...string) string {
	t.Helper()
	folders(t) // go test repeats a result until something changes that the test itself has read
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environ...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	require.NoError(t, err, "go %s: %s", strings.Join(args, " "), &said)
	return string(out)
}
