package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/ledger/imports"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/setup/accounts"
	"github.com/paylatch/paylatch/internal/setup/config"
)

type importCmd struct {
	File      string `arg:"" help:"A file with one JSON object per line, one for each payment; - for standard input."`
	Account   string `required:"" placeholder:"NAME" help:"The configured account of the payments."`
	DryRun    bool   `help:"Check every line and print what would be imported, without importing it."`
	MaxErrors int    `default:"100" placeholder:"N" help:"Stop after this many refused lines; 0 for no limit."`
}

var errRefused = errors.New("lines were refused. Correct them and run the import again; it skips the lines that are imported")

// Run imports payments. Progress and refused lines go to the errors, the sum to the output.
func (c *importCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.read()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(cfg.Accounts, func(a config.Account) bool { return a.Name == c.Account }) {
		return usageError{fmt.Errorf("--account: %q is not configured", c.Account)}
	}
	if c.MaxErrors < 0 {
		return usageError{errors.New("--max-errors must be 0 or more")}
	}
	file, err := c.open()
	if err != nil {
		return usageError{err}
	}
	defer func() { _ = file.Close() }()
	return withDatabase(cfg, func(dsn string) error {
		store, err := openPatient(ctx, cfg, dsn)
		if err != nil {
			return err
		}
		defer store.Close()
		if err := store.Migrated(ctx); err != nil {
			return err
		}
		return c.run(ctx, a, cfg, store, file)
	})
}

func (c *importCmd) open() (io.ReadCloser, error) {
	if c.File == "-" {
		return io.NopCloser(os.Stdin), nil
	}
	return os.Open(c.File) //nolint:wrapcheck // the error is complete
}

func (c *importCmd) run(ctx context.Context, a *app, cfg *config.Config, store *postgres.Store, file io.Reader) error {
	used, err := accounts.New(cfg, accounts.Options{Client: provider.NewHTTPClient(), Watch: accounts.Unwatched(now)})
	if err != nil {
		return err
	}
	if err := ownAs(ctx, cfg, store, used); err != nil {
		return err
	}
	p := imports.NewPrinter(a.stdout, a.stderr, c.DryRun, now)
	count, err := imports.Run(ctx, file, imports.Options{
		Store: store, Account: c.Account, CellOf: func(id payment.OrderID) payment.Cell { return cfg.CellOfOrder(string(id)) }, Now: now, DryRun: c.DryRun, MaxRefused: c.MaxErrors,
		Rules:   changeset.Rules{Cell: cfg.Cell, Accounts: used.Charged, Schedule: payment.Schedule{First: cfg.Reconcile.After, Lease: cfg.Idempotency.Lease}},
		Refused: p.Refused, Progress: p.Progress,
	})
	p.Sum(count)
	if err != nil {
		return fmt.Errorf("%w; run the import again: it skips the lines that are imported", err)
	}
	if count.Refused > 0 {
		return fmt.Errorf("%d %w", count.Refused, errRefused)
	}
	return nil
}
