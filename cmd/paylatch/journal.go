package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/paylatch/paylatch/internal/ledger/journal"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/postgres/pool"
	"github.com/paylatch/paylatch/internal/setup/config"
)

type journalCmd struct {
	Month   string `required:"" placeholder:"YYYY-MM" help:"The month, such as 2026-10; days are in UTC."`
	Account string `placeholder:"NAME" help:"Only this configured account. Default: all accounts."`
	Format  string `enum:"hledger,csv,json" default:"hledger" help:"hledger, csv with a line for each posting, or json with a line for each transaction (${default})."`
}

// Run writes the journal of a month. Without an account, the cells follow each other.
func (c *journalCmd) Run(ctx context.Context, a *app) error {
	month, err := journal.ParseMonth(c.Month, now())
	if err != nil {
		return usageError{fmt.Errorf("--month: %w", err)}
	}
	each := a.inEach
	if c.Account != "" {
		each = func(do func(cfg *config.Config) error) error {
			cfg, err := a.read()
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(cfg.Accounts, func(one config.Account) bool { return one.Name == c.Account }) {
				return usageError{fmt.Errorf("--account: %q is not configured; leave it out for all accounts", c.Account)}
			}
			return do(cfg)
		}
	}
	var w *journal.Writer
	err = each(func(cfg *config.Config) error {
		return withDatabase(cfg, func(dsn string) error { return c.write(ctx, a, cfg, dsn, month, &w) })
	})
	if w != nil {
		err = errors.Join(err, w.Close())
	}
	return err
}

// write writes the journal of one database. The first call makes the writer, and all calls share it.
func (c *journalCmd) write(ctx context.Context, a *app, cfg *config.Config, dsn string, month journal.Month, w **journal.Writer) error {
	store, err := postgres.OpenAt(ctx, pool.Address{
		URL: dsn, Direct: string(cfg.Database.DirectURL), Pooled: cfg.Database.Pooler == config.TransactionPooler, Standby: string(cfg.Database.ReadURL),
	})
	if err != nil {
		return err
	}
	defer store.Close()
	store.Patiently(commandWait)
	if err := store.Migrated(ctx); err != nil {
		return err
	}
	if *w == nil {
		if *w, err = journal.NewWriter(a.stdout, journal.Format(c.Format)); err != nil {
			return err
		}
	}
	return journal.Journal{Store: store.Journal(), Month: month, Account: c.Account}.Each(ctx, (*w).Write)
}
