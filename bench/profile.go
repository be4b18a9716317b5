package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// hookSource makes the program write a CPU and an allocation profile between two signals. It is added to the program for this
// build alone; the released program has no such signals.
//
//go:embed profile/hook.go.txt
var hookSource []byte

// profile shows where the time of one path goes, under 64 clients.
func (r *rig) profile(ctx context.Context) error {
	dir, err := filepath.Abs(r.opts.profile)
	if err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	_ = os.Remove(filepath.Join(dir, "done"))
	if err := r.buildHooked(ctx); err != nil {
		return err
	}
	b := &bench{rig: r, figures: figures{}, best: map[string]float64{}}
	s := &stage{bench: b}
	if s.ours, err = r.newDatabase(ctx, "ours"); err != nil {
		return err
	}
	if err := s.ours.exec(ctx, "CREATE EXTENSION pg_stat_statements"); err != nil {
		return err
	}
	if s.server, err = r.serve(ctx, s.ours, "BENCH_PROFILE_DIR="+dir); err != nil {
		return err
	}
	return errors.Join(s.profiled(ctx, dir), s.server.stop())
}

// buildHooked builds the program again, with the hook as one more file of it.
func (r *rig) buildHooked(ctx context.Context) error {
	source, overlay := filepath.Join(r.dir, "hook.go"), filepath.Join(r.dir, "overlay.json")
	target, err := filepath.Abs("cmd/paylatch/profile_hook.go")
	if err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{target: source}})
	if err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	if err := errors.Join(os.WriteFile(source, hookSource, 0o600), os.WriteFile(overlay, text, 0o600)); err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	return r.build(ctx, "-overlay", overlay)
}

// profiled runs one stage between the two signals, and prints the results.
func (s *stage) profiled(ctx context.Context, dir string) error {
	if err := s.warmUp(ctx); err != nil {
		return err
	}
	work, err := s.prepare(ctx)
	if err != nil {
		return err
	}
	if err := s.ours.exec(ctx, "SELECT pg_stat_statements_reset()"); err != nil {
		return err
	}
	from, err := s.position(ctx)
	if err != nil {
		return err
	}
	_ = s.server.cmd.Process.Signal(syscall.SIGUSR1)
	p, err := work(ctx)
	if err != nil {
		return err
	}
	_ = s.server.cmd.Process.Signal(syscall.SIGUSR1)
	n := float64(p.n)
	s.say("%d done; each: program %.0f µs, database %.0f µs, %.0f bytes of WAL, %.0f allocations; %.1f a commit", p.n,
		float64(p.used.server.Microseconds())/n, float64(p.used.database.Microseconds())/n, float64(p.used.wal)/n, p.used.mallocs/n, n/p.commits)
	if err := s.statements(ctx, n, p.commits); err != nil {
		return err
	}
	if err := s.walByTable(ctx, from, n); err != nil {
		return err
	}
	return s.tops(ctx, dir)
}

// profiledWork is the work between the signals.
type profiledWork struct {
	n       int
	used    usage
	commits float64
}

// prepare loads the rows that a path needs, so that loading is not part of the profile.
func (s *stage) prepare(ctx context.Context) (func(context.Context) (profiledWork, error), error) {
	if s.opts.path == partWebhooks {
		budget := s.budget(ourHooks, 64, expected(64))
		first, err := s.ours.takeAttempts(ctx, budget)
		s.ours.attemptsUsed = first
		return func(ctx context.Context) (profiledWork, error) {
			r, err := s.hooks(ctx, hookRun{clients: 64, window: s.opts.window, budget: budget})
			if err != nil {
				return profiledWork{}, err
			}
			return profiledWork{r.sent(), r.used, float64(r.commits)}, nil
		}, err
	}
	shots, err := s.prepareShots(ctx)
	return func(ctx context.Context) (profiledWork, error) {
		t, used, err := s.requests(ctx, s.opts.path, 64, shots)
		if err != nil {
			return profiledWork{}, err
		}
		return profiledWork{t.sent(), used, float64(t.sent())}, nil
	}, err
}

func (s *stage) prepareShots(ctx context.Context) ([]shot, error) {
	const many = 10_000
	call, err := newCaller(s.server.address)
	if err != nil {
		return nil, err
	}
	switch s.opts.path {
	case "reads":
		first, err := s.ours.takeAttempts(ctx, many)
		return repeat(call.reads(first, many), s.budget(ourReads, 64, expectedUnchanged)), err
	case "replays":
		first, paid, err := s.pays(ctx, ourPays, 64)
		return repeat(call.pays(first, paid), s.budget(ourReplays, 64, expectedUnchanged)), err
	default:
		budget := s.budget(ourPays, 64, expectedPays(64))
		first, err := s.ours.takeOrders(ctx, budget)
		return call.pays(first, budget), err
	}
}

func (s *stage) position(ctx context.Context) (at string, err error) {
	if err := s.admin.QueryRow(ctx, "SELECT pg_current_wal_lsn()::text").Scan(&at); err != nil {
		return "", fmt.Errorf("read the log's position: %w", err)
	}
	return at, nil
}

// statements lists the statements of the program, the longest first.
func (s *stage) statements(ctx context.Context, n, commits float64) error {
	rows, err := s.ours.conn.Query(ctx, `SELECT left(regexp_replace(query, '\s+', ' ', 'g'), 90), calls, rows, total_exec_time * 1000,
		total_plan_time * 1000, wal_bytes::bigint
		FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid AND d.datname = current_database()
		WHERE query ~* '^(-- name|BEGIN|COMMIT|SELECT now)' ORDER BY total_exec_time + total_plan_time DESC LIMIT 20`)
	if err != nil {
		return fmt.Errorf("read statements: %w", err)
	}
	defer rows.Close()
	s.say("%9s %9s %9s %9s %9s  statement", "a commit", "rows each", "µs each", "planning", "WAL each")
	for rows.Next() {
		var text string
		var calls, touched, wal int64
		var micros, planning float64
		if err := rows.Scan(&text, &calls, &touched, &micros, &planning, &wal); err != nil {
			return fmt.Errorf("read statements: %w", err)
		}
		s.say("%9.2f %9.2f %9.1f %9.1f %9.0f  %s", float64(calls)/commits, float64(touched)/n,
			micros/n, planning/n, float64(wal)/n, text)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read statements: %w", err)
	}
	return nil
}

// tops prints the heads of both profiles once the program has written them.
func (s *stage) tops(ctx context.Context, dir string) error {
	limit, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		if _, err := os.Stat(filepath.Join(dir, "done")); err == nil {
			break
		}
		if err := wait(limit, 50*time.Millisecond); err != nil {
			return fmt.Errorf("the program writes no profile: %w", err)
		}
	}
	for _, args := range [][]string{{"-cum", "cpu.pprof"}, {"-sample_index=alloc_space", "-cum", "allocs.pprof"}} {
		args[len(args)-1] = filepath.Join(dir, args[len(args)-1])
		cmd := exec.CommandContext(ctx, "go", append([]string{"tool", "pprof", "-top", "-nodecount=60"}, args...)...) //nolint:gosec // our own arguments
		said, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("pprof: %w: %s", err, said)
		}
		s.say("%s", said)
	}
	return nil
}
