package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/paylatch/paylatch/migrations"
)

type migrateCmd struct {
	Up     migrateUpCmd     `cmd:"" help:"Apply what the database lacks."`
	Status migrateStatusCmd `cmd:"" help:"List the migrations and when they were applied."`
}

type migrateUpCmd struct{}

// Run applies the migrations.
func (*migrateUpCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.read()
	if err != nil {
		return err
	}
	return withSharedDatabase(ctx, cfg, func(dsn string) error {
		if err := migrations.Up(ctx, dsn); err != nil {
			return err
		}
		_, err := fmt.Fprintf(a.stdout, "the schema is at version %d\n", migrations.Required())
		return err //nolint:wrapcheck // it says all there is
	})
}

type migrateStatusCmd struct{}

// Run lists the migrations.
func (*migrateStatusCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.read()
	if err != nil {
		return err
	}
	return withSharedDatabase(ctx, cfg, func(dsn string) error {
		all, err := migrations.Status(ctx, dsn)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "VERSION\tAPPLIED\tNAME")
		for _, m := range all {
			_, _ = fmt.Fprintf(w, "%d\t%s\t%s\n", m.Version, appliedAt(m.At), m.Name)
		}
		return w.Flush()
	})
}

func appliedAt(t time.Time) string {
	if t.IsZero() {
		return "pending"
	}
	return t.UTC().Format(time.RFC3339)
}
