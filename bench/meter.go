package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is the resources used since the processes started.
type usage struct {
	server, database time.Duration // processor time
	wal              int64         // bytes
	mallocs          float64       // of the server
}

func (u usage) minus(v usage) usage {
	return usage{u.server - v.server, u.database - v.database, u.wal - v.wal, u.mallocs - v.mallocs}
}

// usage reads the processor time of both sides, the database's WAL position, and the memory that the program reports. The server
// is nil for pgbench.
func (r *rig) usage(ctx context.Context, s *server) (usage, error) {
	u := usage{database: treeTime(r.pg.Pid())}
	if err := r.admin.QueryRow(ctx, "SELECT (pg_current_wal_lsn() - '0/0')::bigint").Scan(&u.wal); err != nil {
		return u, fmt.Errorf("read the log's position: %w", err)
	}
	if s == nil {
		return u, nil
	}
	u.server = treeTime(s.cmd.Process.Pid)
	var err error
	u.mallocs, err = s.metric(ctx, "go_memstats_mallocs_total")
	return u, err
}

// metric reads a metric without labels of the program.
func (s *server) metric(ctx context.Context, name string) (float64, error) {
	resp, err := s.get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	var found float64
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			found, _ = strconv.ParseFloat(value, 64)
		}
	}
	if err := lines.Err(); err != nil {
		return 0, fmt.Errorf("read the metrics: %w", err)
	}
	return found, nil
}

// tick is the unit of processor time in /proc, on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// treeTime is the processor time of a process and its children, ended children included. It is 0 without /proc.
func treeTime(pid int) time.Duration {
	_, ticks := readStat(pid)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			continue
		}
		if parent, own := readStat(child); parent == pid {
			ticks += own
		}
	}
	return time.Duration(ticks) * tick
}

// readStat reads the parent and the ticks, children that have ended included.
// The name, in brackets, may hold anything.
func readStat(pid int) (parent, ticks int) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const parentField, firstTime, lastTime = 1, 11, 14
	if len(fields) <= lastTime {
		return 0, 0
	}
	for _, field := range fields[firstTime : lastTime+1] {
		n, _ := strconv.Atoi(field)
		ticks += n
	}
	parent, _ = strconv.Atoi(fields[parentField])
	return parent, ticks
}

// residentBytes is the memory of a process; 0 without /proc.
func residentBytes(pid int) int64 {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	rest, _, _ = strings.Cut(rest, "kB")
	n, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
	return n << 10
}
