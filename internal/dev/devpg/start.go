package devpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

const (
	startLimit = 5 * time.Minute // a crash recovery on a busy machine included
	poll       = 10 * time.Millisecond
	socketMax  = 103 // bytes in the path of a unix socket: 107 on Linux, 103 on macOS
)

// Start starts the server, or starts it again on the data of earlier runs, and returns when it takes connections. A done ctx ends
// the start, not a server that has started: Stop does.
func Start(ctx context.Context, c Config) (*Server, error) { return startAs(ctx, c, accounts()) }

func startAs(ctx context.Context, c Config, candidates []account) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if c.BinDir == "" {
		bin, err := FindBin()
		if err != nil {
			return nil, err
		}
		c.BinDir = bin
	}
	a, major, err := accountFor(ctx, c.BinDir, candidates)
	if err != nil {
		return nil, err
	}
	s, err := startIn(ctx, c, a, major)
	if c.Elsewhere == "" || !errors.Is(err, ErrUnreachable) {
		return s, err
	}
	if err := relocate(c.Dir, c.Elsewhere); err != nil {
		return nil, err
	}
	return startIn(ctx, c, a, major)
}

func startIn(ctx context.Context, c Config, a account, major string) (*Server, error) {
	d, err := claim(c.Dir, a)
	if err != nil {
		return nil, err
	}
	sockets, err := socketDir(d.path, a)
	if err != nil {
		return nil, errors.Join(err, d.release())
	}
	s := newServer(c, d, a, sockets)
	if err := s.start(ctx, major); err != nil {
		_ = s.Stop() // the reason is err already
		return nil, err
	}
	return s, nil
}

// socketDir is the data directory itself, unless the path of a socket in it would be too long or read as two.
func socketDir(dir string, a account) (string, error) {
	if len(dir)+len("/.s.PGSQL.65535") <= socketMax && !strings.ContainsAny(dir, `,"`) {
		return dir, nil
	}
	short, err := os.MkdirTemp("/tmp", "devpg-")
	if err != nil {
		return "", fmt.Errorf("socket directory: %w", err)
	}
	if err := os.Chown(short, a.uid, a.gid); err != nil {
		return "", fmt.Errorf("socket directory: %w", err)
	}
	return short, nil
}

func (s *Server) start(ctx context.Context, major string) error {
	if err := s.ensureCluster(ctx, major); err != nil {
		return err
	}
	for {
		stale, err := s.evict(ctx)
		if err != nil {
			return err
		}
		said, err := s.launch(ctx, stale)
		// Sessions of a killed server keep its shared memory for a moment.
		if err == nil || !strings.Contains(said, "shared memory block") {
			return err
		}
		if pause(ctx, 10*poll) != nil {
			return err
		}
	}
}
