package devpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// evict ends a server on our data that outlived its parent: the directory is locked by us, so that server is unused. It returns
// the pid that a dead server left in its pid file, which by now may be another process's.
func (s *Server) evict(ctx context.Context) (stale int, err error) {
	lines := s.pidFile()
	if len(lines) == 0 {
		return 0, nil
	}
	pid, err := strconv.Atoi(lines[0])
	if err != nil || pid <= 1 {
		return 0, nil //nolint:nilerr // PostgreSQL itself reports an invalid file
	}
	sig := syscall.SIGINT
	for tries := 1; s.isOurs(pid); tries++ {
		if time.Duration(tries)*poll > stopGrace {
			sig = syscall.SIGQUIT
		}
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return 0, fmt.Errorf("stop the server that was left behind (pid %d): %w", pid, err)
		}
		if err := pause(ctx, poll); err != nil {
			return 0, fmt.Errorf("stop the server that was left behind (pid %d): %w", pid, err)
		}
	}
	return pid, nil
}

// isOurs reports whether the process runs the command line of launch, since a pid is soon used again.
func (s *Server) isOurs(pid int) bool {
	return strings.Contains(commandLine(pid), "postgres -D "+s.data()+" ")
}

// pidFile returns the trimmed lines of the server's pid file, or nil if there is no file.
func (s *Server) pidFile() []string {
	b, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return nil
	}
	lines := strings.Split(string(b), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("gave up: %w", ctx.Err())
	case <-time.After(d):
		return nil
	}
}
