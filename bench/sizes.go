package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// relation is the size of a table: its own bytes, large values included, the bytes of its indexes, and its rows.
type relation struct{ table, indexes, rows int64 }

func (r relation) minus(o relation) relation {
	return relation{r.table - o.table, r.indexes - o.indexes, r.rows - o.rows}
}

// sizing measures the disk space that pays and webhooks take, and their cost without other load.
func (r *rig) sizing(ctx context.Context) error {
	b := &bench{rig: r, figures: figures{}, best: map[string]float64{}}
	s := &stage{bench: b}
	var err error
	if s.ours, err = r.newDatabase(ctx, "ours"); err != nil {
		return err
	}
	if s.server, err = r.serve(ctx, s.ours); err != nil {
		return err
	}
	return errors.Join(s.sized(ctx), s.server.stop())
}

func (s *stage) sized(ctx context.Context) error {
	s.opts.path = partPays
	before, err := s.sizesNow(ctx)
	if err != nil {
		return err
	}
	work, err := s.prepare(ctx) // the orders are part of a payment's size
	if err != nil {
		return err
	}
	if err := s.sizedWork(ctx, before, work); err != nil {
		return err
	}
	s.opts.path = partWebhooks
	if work, err = s.prepare(ctx); err != nil { // the attempts were not paid here, and are no part of it
		return err
	}
	if before, err = s.sizesNow(ctx); err != nil {
		return err
	}
	return s.sizedWork(ctx, before, work)
}

func (s *stage) sizedWork(ctx context.Context, before map[string]relation, work func(context.Context) (profiledWork, error)) error {
	p, err := work(ctx)
	if err != nil {
		return err
	}
	// Some rows are written a little later: notes of calls, counts of hours.
	if err := wait(ctx, 2*time.Second); err != nil {
		return err
	}
	after, err := s.sizesNow(ctx)
	if err != nil {
		return err
	}
	n := float64(p.n)
	s.say("\n%d %s; each: program %.0f µs, database %.0f µs, %.0f bytes of WAL", p.n, s.opts.path,
		float64(p.used.server.Microseconds())/n, float64(p.used.database.Microseconds())/n, float64(p.used.wal)/n)
	s.say("| table | rows each | bytes a row | of it indexes | bytes each |\n|---|---|---|---|---|")
	total := 0.0
	for _, name := range slices.SortedFunc(maps.Keys(after), func(a, b string) int { return cmp.Compare(after[b].table, after[a].table) }) {
		grown := after[name].minus(before[name])
		if float64(grown.rows) < n/100 {
			continue
		}
		each := float64(grown.rows) / n
		if name == "orders" { // as many as were loaded; each payment has one
			each = 1
		}
		rows := float64(grown.rows)
		row, indexes := float64(grown.table+grown.indexes)/rows, float64(grown.indexes)/rows
		total += each * row
		s.say("| `%s` | %.2f | %.0f | %.0f | %.0f |", name, each, row, indexes, each*row)
	}
	s.say("| all | | | | %.0f |", total)
	return nil
}

// sizesNow are the tables of the database as a VACUUM leaves them.
func (s *stage) sizesNow(ctx context.Context) (map[string]relation, error) {
	if err := s.ours.cleanUp(ctx); err != nil {
		return nil, err
	}
	list, err := s.ours.conn.Query(ctx, `SELECT coalesce(pg_partition_root(oid)::regclass::text, relname), sum(pg_table_size(oid))::bigint, sum(pg_indexes_size(oid))::bigint,
		sum((xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM %s', oid::regclass), false, true, '')))[1]::text::bigint)::bigint
		FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace GROUP BY 1`)
	if err != nil {
		return nil, fmt.Errorf("read the sizes of tables: %w", err)
	}
	defer list.Close()
	found := map[string]relation{}
	for list.Next() {
		var name string
		var r relation
		if err := list.Scan(&name, &r.table, &r.indexes, &r.rows); err != nil {
			return nil, fmt.Errorf("read the sizes of tables: %w", err)
		}
		found[name] = r
	}
	if err := list.Err(); err != nil {
		return nil, fmt.Errorf("read the sizes of tables: %w", err)
	}
	return found, nil
}
