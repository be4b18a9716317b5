package devpg

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// launch starts postgres and waits until it is ready. It returns the last output of a server that failed.
func (s *Server) launch(ctx context.Context, stale int) (string, error) {
	said := &tail{}
	out := io.Writer(said)
	if s.cfg.Log != nil {
		out = io.MultiWriter(said, s.cfg.Log)
	}
	// The server outlives ctx, the context of the start.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(s.cfg.BinDir, "postgres"), s.args()...) //nolint:gosec // the binary is the caller's choice
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir.path, out, out
	cmd.WaitDelay = time.Second // a killed server's sessions hold its output
	// PostgreSQL treats a lock file with this pid as stale.
	cmd.Env = append(environment(), "PG_GRANDPARENT_PID="+strconv.Itoa(stale))
	cmd.SysProcAttr = s.account.child(syscall.SIGINT)
	if err := s.spawn(cmd); err != nil {
		return "", fmt.Errorf("start postgres: %w", s.reason(err))
	}
	for !s.ready() {
		select {
		case <-s.done:
			return said.String(), fmt.Errorf("postgres did not start: %w: %s", s.exit, said)
		case <-ctx.Done():
			return "", fmt.Errorf("postgres did not start: %w: %s", ctx.Err(), said)
		case <-time.After(poll):
		}
	}
	return "", nil
}

// spawn gives the server a thread of its own: the kernel ends it when the thread that started it dies, not only the process.
func (s *Server) spawn(cmd *exec.Cmd) error {
	started, done := make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			s.exit = cmd.Wait()
			close(done)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	s.cmd, s.done = cmd, done
	return nil
}

func (s *Server) args() []string {
	args := []string{
		"-D", s.data(), "-p", strconv.Itoa(s.port()),
		"-c", `unix_socket_directories="` + s.sockets + `"`, "-c", "unix_socket_permissions=0700",
	}
	if s.cfg.Port == 0 {
		args = append(args, "-c", "listen_addresses=")
	} else {
		args = append(args, "-c", "listen_addresses=127.0.0.1")
	}
	for k, v := range s.cfg.Params {
		args = append(args, "-c", k+"="+v)
	}
	return args
}

// ready reads the server's state from its pid file, as pg_ctl does.
func (s *Server) ready() bool {
	lines := s.pidFile()
	return len(lines) > 7 && lines[0] == strconv.Itoa(s.Pid()) && slices.Contains(lines[7:], "ready")
}

// tail keeps the end of the server's output, for the error of a failed start.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	t.b = t.b[max(0, len(t.b)-4096):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.b))
}
