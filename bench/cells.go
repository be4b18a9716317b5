package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/migrations"
)

const (
	// cellAccount receives the webhooks of cell 1.
	cellAccount = "bench-1"
	// cellClients is how many clients send to one cell, or half of them to each of two.
	cellClients = 64
)

// cells compares one process on two PostgreSQL servers with the same process that has work in one cell only, in turns.
func (b *bench) cells(ctx context.Context) (err error) {
	other, err := b.another(ctx)
	if err != nil {
		return err
	}
	defer func() {
		_ = other.admin.Close(ctx)
		err = errors.Join(err, other.pg.Stop())
	}()
	var one, two, ratios []float64
	for round := range b.opts.rounds {
		b.say("cells, round %d of %d", round+1, b.opts.rounds)
		first, both, err := b.cellsRound(ctx, other)
		if err != nil {
			return err
		}
		one, two, ratios = append(one, first), append(two, both), append(ratios, both/first)
		b.say("  one cell %9s/s, two cells %9s/s, ratio %.2f", number(first), number(both), both/first)
	}
	b.say("medians of %d rounds at %d clients: one cell %s/s, two cells %s/s, ratio %.2f",
		b.opts.rounds, cellClients, number(middle(one)), number(middle(two)), middle(ratios))
	return nil
}

func middle(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// another returns a rig with a second server, with the same settings.
func (b *bench) another(ctx context.Context) (*rig, error) {
	other := *b.rig
	var err error
	if other.pg, err = devpg.Start(ctx, devpg.Config{Dir: filepath.Join(b.dir, "pg-1"), BinDir: b.bin}); err != nil {
		return nil, err
	}
	if other.admin, err = pgx.Connect(ctx, other.pg.DSN("postgres")); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if _, err := other.admin.Exec(ctx, "CREATE DATABASE "+shape); err != nil {
		return nil, fmt.Errorf("make the database: %w", err)
	}
	return &other, migrations.Up(ctx, other.pg.DSN(shape))
}

// cellsRound returns the webhooks a second of one cell, and of two.
func (b *bench) cellsRound(ctx context.Context, other *rig) (first, both float64, err error) {
	beside := *b
	beside.rig = other // it has a connection of its own
	stages := []*stage{{bench: b}, {bench: &beside}}
	if stages[0].ours, err = b.newDatabase(ctx, "ours"); err != nil {
		return 0, 0, err
	}
	if stages[1].ours, err = other.newDatabase(ctx, "ours"); err != nil {
		return 0, 0, err
	}
	stages[1].ours.account = cellAccount
	server, err := b.serve(ctx, stages[0].ours,
		fmt.Sprintf("PAYLATCH_CELLS=[{number: 1, database_url: %q}]", stages[1].ours.url),
		fmt.Sprintf("PAYLATCH_ACCOUNTS=[{name: bench, kind: standard, webhook_secrets: [%[1]q]}, {name: %[2]s, cell: 1, kind: standard, webhook_secrets: [%[1]q]}, {name: stub, kind: sandbox, base_url: %[3]q}]",
			webhookSecret, cellAccount, b.stub.url))
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		err = errors.Join(err, server.stop(), b.drop(ctx, stages[0].ours), other.drop(ctx, stages[1].ours))
	}()
	stages[0].server, stages[1].server = server, server
	if _, err := cellsAtOnce(ctx, stages, 16, 500*time.Millisecond); err != nil {
		return 0, 0, err
	}
	if first, err = cellsAtOnce(ctx, stages[:1], cellClients, b.opts.window); err != nil {
		return 0, 0, err
	}
	both, err = cellsAtOnce(ctx, stages, cellClients/len(stages), b.opts.window)
	return first, both, err
}

// cellsAtOnce sends webhooks to cells at the same time, from as many clients to each, and returns the rate per second.
func cellsAtOnce(ctx context.Context, stages []*stage, clients int, window time.Duration) (sum float64, err error) {
	rates := make([]float64, len(stages))
	group, ctx := errgroup.WithContext(ctx)
	for i, s := range stages {
		group.Go(func() error {
			h := hookRun{clients: clients, window: window, budget: s.budget(ourHooks, cellClients, expected(cellClients))}
			r, err := s.hooks(ctx, h)
			if err != nil {
				return err
			}
			rates[i], err = r.rate()
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, fmt.Errorf("webhooks of %d cells: %w", len(stages), err)
	}
	for _, rate := range rates {
		sum += rate
	}
	return sum, nil
}
