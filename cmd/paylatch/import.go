package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/accounts"
	"github.com/paylatch/paylatch/internal/changeset"
	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/imports"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/schedule"
	"github.com/paylatch/paylatch/internal/terminal"
)

type importCmd struct {
	File      string `arg:"" help:"A file of JSON lines, a payment a line; - for the standard input."`
	Account   string `required:"" placeholder:"NAME" help:"The configured account that the payments were made with."`
	DryRun    bool   `help:"Only check every line and say what would be made."`
	MaxErrors int    `default:"100" placeholder:"N" help:"Stop after so many refused lines; 0 for no limit."`
}

var errRefused = errors.New("lines were refused: mend them and run it again, what was made is skipped then")

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
	return withSharedDatabase(ctx, cfg, func(dsn string) error {
		store, err := openStore(ctx, cfg, dsn)
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
	used, err := accounts.New(cfg, accounts.Options{Client: provider.NewHTTPClient(), Watch: accounts.Unwatched(time.Now)})
	if err != nil {
		return err
	}
	began, said := time.Now(), time.Now()
	count, err := imports.Run(ctx, file, imports.Options{
		Store: store, Account: c.Account, Now: time.Now, DryRun: c.DryRun, MaxRefused: c.MaxErrors,
		Rules:   changeset.Rules{Accounts: used.Charged, Schedule: schedule.Schedule{First: cfg.Reconcile.After, Lease: cfg.Idempotency.Lease}},
		Refused: func(r *imports.RefusalError) { _, _ = fmt.Fprintln(a.stderr, terminal.Visible(r.Error())) },
		Progress: func(n imports.Count) {
			if time.Since(said) >= time.Second {
				said = time.Now()
				_, _ = fmt.Fprintf(a.stderr, "%s, %.0f lines/s\n", c.sum(n), float64(n.Lines)/time.Since(began).Seconds())
			}
		},
	})
	_, _ = fmt.Fprintln(a.stdout, c.sum(count))
	if err != nil {
		return fmt.Errorf("%w; run it again, what was made is skipped then", err)
	}
	if count.Refused > 0 {
		return fmt.Errorf("%d %w", count.Refused, errRefused)
	}
	return nil
}

func (c *importCmd) sum(n imports.Count) string {
	made := "made"
	if c.DryRun {
		made = "would be made"
	}
	return fmt.Sprintf("%d lines: %d %s, %d there already, %d refused", n.Lines, n.Made, made, n.There, n.Refused)
}
