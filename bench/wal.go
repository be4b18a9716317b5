package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// walByTable prints the WAL since a position by table and index, as pg_waldump reads it.
func (s *stage) walByTable(ctx context.Context, from string, n float64) error {
	to, err := s.position(ctx)
	if err != nil {
		return err
	}
	names, err := s.relations(ctx)
	if err != nil {
		return err
	}
	bin, err := s.tool("pg_waldump")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, bin, //nolint:gosec // our own arguments
		"-p", filepath.Join(s.pg.Dir(), "data", "pg_wal"), "-s", from, "-e", to)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("pg_waldump: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("pg_waldump: %w", err)
	}
	bytes := readWAL(bufio.NewScanner(out), names)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("pg_waldump: %w", err)
	}
	s.say("%8s %8s  of", "WAL each", "images")
	for _, name := range slices.SortedFunc(maps.Keys(bytes), func(a, b string) int { return cmp.Compare(bytes[b].total, bytes[a].total) }) {
		s.say("%8.0f %8.0f  %s", float64(bytes[name].total)/n, float64(bytes[name].images)/n, name)
	}
	return nil
}

// walShare is how many bytes a table has, and how many of them are images of
// whole pages.
type walShare struct{ total, images int }

func readWAL(lines *bufio.Scanner, names map[string]string) map[string]walShare {
	record := regexp.MustCompile(`rmgr: (\S+)\s+len \(rec/tot\):\s*(\d+)/\s*(\d+)`)
	relation := regexp.MustCompile(`blkref #0: rel \d+/\d+/(\d+)`)
	shares := map[string]walShare{}
	for lines.Scan() {
		m := record.FindSubmatch(lines.Bytes())
		if m == nil {
			continue
		}
		name := string(m[1])
		if r := relation.FindSubmatch(lines.Bytes()); r != nil && names[string(r[1])] != "" {
			name = names[string(r[1])]
		}
		own, _ := strconv.Atoi(string(m[2]))
		total, _ := strconv.Atoi(string(m[3]))
		share := shares[name]
		share.total += total
		share.images += total - own
		shares[name] = share
	}
	return shares
}

func (s *stage) relations(ctx context.Context) (map[string]string, error) {
	rows, err := s.ours.conn.Query(ctx, "SELECT pg_relation_filenode(oid)::text, relname FROM pg_class WHERE relkind IN ('r', 'i', 't')")
	if err != nil {
		return nil, fmt.Errorf("read relations: %w", err)
	}
	defer rows.Close()
	names := map[string]string{}
	for rows.Next() {
		var node *string
		var name string
		if err := rows.Scan(&node, &name); err != nil {
			return nil, fmt.Errorf("read relations: %w", err)
		}
		if node != nil {
			names[*node] = name
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read relations: %w", err)
	}
	return names, nil
}
