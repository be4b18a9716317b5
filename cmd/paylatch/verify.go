package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/ledger/verify"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/setup/config"
)

type verifyCmd struct {
	JSON  bool   `name:"json" help:"Print one JSON object with all differences instead of a table."`
	Batch int    `default:"500" help:"Read this many attempts in one snapshot (${default})."`
	Head  string `placeholder:"ENTRIES:HASH" help:"A head of the audit log, as the service logged it: the audit log must contain this entry with this hash. With several cells it needs --cell. Default: the head that a service keeps in data_dir on this machine."`
}

// Run verifies all attempts and the audit log of each cell. Findings go to the output, progress to the errors.
func (c *verifyCmd) Run(ctx context.Context, a *app) error {
	if c.Batch < 1 || c.Batch > 10_000 {
		return usageError{errors.New("--batch must be 1 to 10000")}
	}
	head, err := support.ParseHead(c.Head)
	if err != nil {
		return usageError{fmt.Errorf("--head: %w", err)}
	}
	if c.Head != "" { // it is the head of one cell
		if _, err := a.readOne(); err != nil {
			return err
		}
	}
	return a.inEach(func(cfg *config.Config) error {
		return withDirectDatabase(cfg, func(dsn string) error {
			store, err := postgres.Open(ctx, dsn)
			if err != nil {
				return err
			}
			defer store.Close()
			store.Patiently(commandWait)
			if err := store.Migrated(ctx); err != nil {
				return err
			}
			known := head
			if known == (support.Head{}) {
				if known, err = a.keptHead(ctx, cfg, store); err != nil {
					return err
				}
			}
			return verify.Survey{
				Archive: store.Evidence(), Log: store.Support(), Head: known, Batch: c.Batch, JSON: c.JSON, Out: a.stdout, Progress: a.stderr,
			}.Run(ctx)
		})
	})
}

// keptHead returns the head that a service keeps on this machine. It prints the head and its file, or why there is no head.
func (a *app) keptHead(ctx context.Context, cfg *config.Config, store *postgres.Store) (support.Head, error) {
	head, missing, err := auditMark{cfg.DataDir, store}.find(ctx)
	if err != nil {
		return head, err
	}
	file, err := filepath.Abs(watermark.AuditFile(cfg.DataDir))
	if err != nil {
		return head, fmt.Errorf("the directory %s: %w", cfg.DataDir, err)
	}
	if missing != "" {
		_, _ = fmt.Fprintf(a.stderr, "the end of the audit log is not verified: %s %s; name a head by --head\n", file, missing)
		return head, nil
	}
	_, _ = fmt.Fprintf(a.stderr, "the audit log must contain the head %s, which is kept in %s\n", head, file)
	return head, nil
}
