package image_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// soon is how long the test waits for a required event.
const soon = 4 * time.Minute

// enter runs a command of the image in a mount namespace of its own. Each exec keeps the process, so that a signal reaches the command.
const enter = `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && mount --bind "$2" "$1/state" || exit 125
root=$1 user=$3; shift 3; exec chroot --userspec="$user" --groups= "$root" "$@"`

// image is a root file system, with the program in it.
type image struct {
	User        string   `json:"User"`       //nolint:tagliatelle // as Docker has them
	Entrypoint  []string `json:"Entrypoint"` //nolint:tagliatelle // as above
	Cmd         []string `json:"Cmd"`        //nolint:tagliatelle // as above
	Env         []string `json:"Env"`        //nolint:tagliatelle // as above
	Healthcheck struct {
		Test []string `json:"Test"` //nolint:tagliatelle // as above
	} `json:"Healthcheck"` //nolint:tagliatelle // as above

	root string
	// state is the content of the volume at /state. It is made with the owner and the mode of the image's directory.
	state string
}

func open(t *testing.T) *image {
	t.Helper()
	root := os.Getenv("PAYLATCH_IMAGE_ROOT")
	if root == "" {
		t.Skip("PAYLATCH_IMAGE_ROOT names no image: `make image` runs this")
	}
	text, err := os.ReadFile(os.Getenv("PAYLATCH_IMAGE_CONFIG"))
	require.NoError(t, err)
	var described struct {
		Docker struct {
			Config image `json:"config"`
		} `json:"Docker"` //nolint:tagliatelle // as above
	}
	require.NoError(t, json.Unmarshal(text, &described))
	m := &described.Docker.Config
	m.root, m.state = root, t.TempDir()
	owned, err := os.Stat(filepath.Join(root, "state"))
	require.NoError(t, err)
	of, ok := owned.Sys().(*syscall.Stat_t)
	require.True(t, ok)
	require.NoError(t, os.Chmod(m.state, owned.Mode().Perm()))
	require.NoError(t, os.Chown(m.state, int(of.Uid), int(of.Gid)))
	return m
}

// command is one of the image's, with an environment.
func (m *image) command(ctx context.Context, environ []string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "unshare", append([]string{"--mount", "sh", "-c", enter, "sh", m.root, m.state, m.User}, args...)...)
	c.Env, c.WaitDelay = slices.Concat([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, m.Env, environ), time.Second
	return c
}

// says runs a command of the image's program to its end. It returns its exit code and its output.
func (m *image) says(t *testing.T, environ []string, args ...string) (code int, printed string) {
	t.Helper()
	c := m.command(t.Context(), environ, slices.Concat(m.Entrypoint, args)...)
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		require.NoError(t, err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

// healthy runs the image's health check.
func (m *image) healthy(t *testing.T, environ []string) (ok bool, printed string) {
	t.Helper()
	out, err := m.command(t.Context(), environ, m.Healthcheck.Test[1:]...).CombinedOutput()
	return err == nil, string(out)
}

// TestImage starts the image: it is healthy once it serves, as its user, and ends with 0.
func TestImage(t *testing.T) {
	t.Parallel()
	m := open(t)
	require.Equal(t, "65532:65532", m.User)
	require.Equal(t, "CMD", m.Healthcheck.Test[0], "there is no shell in it")

	code, printed := m.says(t, nil, "--version")
	require.Zero(t, code, printed)

	address := testdb.Address(t)
	_, dsn := faults.NewDatabase(t, testdb.New(t)) // by TCP: the server's socket is not in the image
	environ := []string{
		"PAYLATCH_ENVIRONMENT=test", "PAYLATCH_LISTEN=" + address, "PAYLATCH_DATABASE_URL=" + dsn, "PAYLATCH_DATA_DIR=/state",
		"PAYLATCH_AUTH_HS256_SECRET=0123456789abcdef0123456789abcdef", "PAYLATCH_ENCRYPTION_KEYS=[{id: k1, key: ZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTI=}]",
		"PAYLATCH_ACCOUNTS=[{name: partner, kind: standard, webhook_secrets: [whsec_cGFydG5lcnBhcnRuZXJwYXJ0bmVycGFydG5lcnBhcg==]}]",
	}
	ok, printed := m.healthy(t, environ)
	require.False(t, ok)
	require.Contains(t, printed, "connection refused")

	require.NoError(t, os.WriteFile(filepath.Join(m.state, "of-root.yaml"), []byte("listen: :1\n"), 0o600))
	code, printed = m.says(t, environ, "serve", "--config", "/state/of-root.yaml")
	require.Equal(t, 2, code, printed)
	require.Contains(t, printed, "permission denied")

	m.serves(t, address, environ)
}

// serves runs the image's service until it gets a signal to stop.
func (m *image) serves(t *testing.T, address string, environ []string) {
	t.Helper()
	var log bytes.Buffer
	c := m.command(context.WithoutCancel(t.Context()), environ, slices.Concat(m.Entrypoint, m.Cmd)...)
	c.Stdout, c.Stderr = &log, &log
	require.NoError(t, c.Start())
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("it printed:\n%s", log.String())
		}
	})
	require.Eventually(t, func() bool { ok, _ := m.healthy(t, environ); return ok }, soon, 50*time.Millisecond, "it is never healthy")

	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
	require.NoError(t, err)
	user, _, _ := strings.Cut(m.User, ":")
	require.Contains(t, string(status), "\nUid:\t"+strings.Join(slices.Repeat([]string{user}, 4), "\t")+"\n")
	require.Contains(t, string(status), "\nCapEff:\t"+strings.Repeat("0", 16)+"\n")
	require.Eventually(t, func() bool {
		resp, err := http.Get("http://" + address + "/readyz")
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode == http.StatusOK
	}, soon, 50*time.Millisecond, "it is never ready")
	require.Eventually(t, func() bool {
		kept, err := os.Stat(filepath.Join(m.state, "last-known-mark.json"))
		if err != nil {
			return false
		}
		of, ok := kept.Sys().(*syscall.Stat_t)
		return ok && strconv.Itoa(int(of.Uid)) == user
	}, soon, 50*time.Millisecond, "nothing is written to /state")

	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	select {
	case <-ended:
		require.Zero(t, c.ProcessState.ExitCode())
	case <-time.After(soon):
		require.Fail(t, "SIGTERM does not end it")
	}
}
