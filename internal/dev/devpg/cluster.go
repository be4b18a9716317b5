package devpg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// ensureCluster makes the data when there is none yet, and refuses data that these binaries can't read.
func (s *Server) ensureCluster(ctx context.Context, major string) error {
	made, err := os.ReadFile(filepath.Join(s.data(), "PG_VERSION"))
	v := strings.TrimSpace(string(made))
	switch {
	case err == nil && v == major:
		return nil
	case err == nil:
		return fmt.Errorf("%s: %w: it needs version %s and %s has version %s; set PG_BIN to the binaries of version %s, or remove the directory to begin anew",
			s.data(), ErrVersion, v, s.cfg.BinDir, major, v)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read version of the data: %w", err)
	}
	if _, err := os.Lstat(s.data()); err == nil {
		return fmt.Errorf("%s holds no PostgreSQL data: %w", s.data(), ErrForeign)
	}
	return s.initdb(ctx)
}

// initdb works beside the final place, so that an interrupted one never looks finished.
func (s *Server) initdb(ctx context.Context) error {
	left, _ := filepath.Glob(filepath.Join(s.dir.path, "initdb-*"))
	for _, dir := range left {
		_ = os.RemoveAll(dir)
	}
	tmp, err := os.MkdirTemp(s.dir.path, "initdb-")
	if err != nil {
		return fmt.Errorf("initdb: %w", err)
	}
	if err := os.Chown(tmp, s.account.uid, s.account.gid); err != nil {
		return fmt.Errorf("initdb: %w", err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.cfg.BinDir, "initdb"), //nolint:gosec // the binary is the caller's choice
		"-D", tmp, "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions",
		"--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile="+filepath.Join(s.dir.path, "password"))
	cmd.Dir = s.dir.path
	cmd.Env = environment()
	cmd.SysProcAttr = s.account.child(syscall.SIGKILL)
	if out, err := runOnOneThread(cmd); err != nil {
		return fmt.Errorf("initdb: %w: %s", s.reason(err), out)
	}
	if err := os.Rename(tmp, s.data()); err != nil {
		return fmt.Errorf("initdb: %w", err)
	}
	return nil
}

// reason returns ErrUnreachable for a program that can't enter its directory.
func (s *Server) reason(err error) error {
	if errors.Is(err, syscall.EACCES) && s.account.uid != os.Geteuid() {
		return fmt.Errorf("directory %s: %w", cmp.Or(strings.Join(closedAbove(s.dir.path), " and "), s.dir.path), ErrUnreachable)
	}
	return err
}

// closedAbove lists the directories on the way to a path that only their owner or group may enter.
func closedAbove(path string) []string {
	var closed []string
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o001 == 0 {
			closed = append(closed, dir)
		}
	}
	return closed
}

// runOnOneThread keeps the thread: a child that ends with its parent ends with the thread that started it.
func runOnOneThread(cmd *exec.Cmd) ([]byte, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.CombinedOutput() //nolint:wrapcheck // the caller adds what was run
}

// environment returns this process's environment without the variables that would change the behaviour of PostgreSQL's programs,
// and with messages in one language.
func environment() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "PG") && !strings.HasPrefix(kv, "LC_") {
			env = append(env, kv)
		}
	}
	return append(env, "LC_ALL=C")
}
