package testdb

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/paylatch/paylatch/internal/dev/devpg"
)

// sharedPrefix begins the names of the shared servers' directories.
const sharedPrefix = "testdb-"

// host is the server that this process makes its databases on.
type host struct {
	admin    string // the URL of a database to make others from
	template string
	owner    net.Conn // open as long as this process lives, which keeps a shared server running
}

//nolint:gochecknoglobals // a process has one
var process = sync.OnceValues(newHost)

func newHost() (*host, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	h := &host{admin: os.Getenv("PAYLATCH_TEST_DATABASE_URL")}
	var err error
	if h.admin == "" {
		err = h.join(ctx)
	}
	if errors.Is(err, devpg.ErrNoBinaries) {
		err = fmt.Errorf("%w (for tests: PAYLATCH_TEST_DATABASE_URL)", err)
	}
	if err == nil {
		h.template, err = ensureTemplate(ctx, h.admin)
	}
	return h, err
}

// keep makes the owner stay up, so that a database can be looked at.
func (h *host) keep() {
	if h.owner != nil {
		_, _ = h.owner.Write([]byte("k"))
	}
}

// join connects to the owner of the shared server and starts an owner if there is no owner yet.
func (h *host) join(ctx context.Context) error {
	dir, err := sharedDir(ctx)
	if err != nil {
		return err
	}
	removeUnused(dir)
	for {
		if h.owner, h.admin, err = dial(ctx, dir); err == nil {
			return nil
		}
		if err := startOwner(dir); err != nil && !errors.Is(err, devpg.ErrInUse) {
			return err
		}
		select { // for another process that is starting the owner, or for an old owner that is leaving
		case <-ctx.Done():
			return fmt.Errorf("no answer from the owner of %s: %w", dir, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// dial returns the connection and the server's URL. An owner that is leaving hangs up instead of telling it.
func dial(ctx context.Context, dir string) (net.Conn, string, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dir, ownerSocket))
	if err != nil {
		return nil, "", fmt.Errorf("dial: %w", err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return nil, "", errors.Join(err, conn.Close())
	}
	return conn, strings.TrimSpace(line), nil
}

// startOwner runs this test binary again as the owner and waits until it reports that the server is up, or an error. The owner is in a
// session of its own, so that neither Ctrl-C nor the end of `go test` reaches it.
func startOwner(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start the owner: %w", err)
	}
	cmd := exec.CommandContext(context.Background(), self) //nolint:gosec // it is this very program
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), ownerEnv+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("start the owner: %w", err)
	}
	said, _ := io.ReadAll(out)
	switch string(said) {
	case saidReady:
		return cmd.Process.Release() //nolint:wrapcheck // never fails on Unix
	case saidInUse:
		err = devpg.ErrInUse
	default:
		err = fmt.Errorf("the test server did not start: %s", said)
	}
	_ = cmd.Wait()
	return err
}

// sharedDir is one directory for each user and build of PostgreSQL: a server loads no library for a new session
// any more once its programs were replaced below it.
func sharedDir(ctx context.Context) (string, error) {
	bin, err := devpg.FindBin()
	if err != nil {
		return "", err
	}
	version, err := devpg.Major(ctx, bin)
	if err != nil {
		return "", err
	}
	build, err := buildOf(filepath.Join(bin, "postgres"))
	if err != nil {
		return "", err
	}
	for _, cache := range caches() {
		dir := filepath.Join(cache, "paylatch", sharedPrefix+version+"-"+build)
		if err = os.MkdirAll(dir, 0o755); err == nil { //nolint:gosec // root's server may run as another user
			return dir, nil
		}
	}
	return "", fmt.Errorf("directory of the test server: %w", err)
}

// buildOf changes with each installation of a program.
func buildOf(program string) (string, error) {
	info, err := os.Stat(program)
	if err != nil {
		return "", fmt.Errorf("build of the test server: %w", err)
	}
	sum := sha256.Sum256(fmt.Append(nil, program, info.Size(), info.ModTime().UnixNano()))
	return hex.EncodeToString(sum[:4]), nil
}

// removeUnused removes the directories of other builds, and of this one elsewhere, on which no server runs.
func removeUnused(dir string) {
	for _, cache := range caches() {
		others, _ := filepath.Glob(filepath.Join(cache, "paylatch", sharedPrefix+"*"))
		for _, other := range others {
			if other != dir && !devpg.Held(filepath.Join(other, "server")) {
				_ = os.RemoveAll(other)
			}
		}
	}
}
