package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

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
		have, err := schemaVersion(ctx, dsn)
		if err != nil {
			return err
		}
		newer := ""
		if have > migrations.Required() {
			newer = fmt.Sprintf(", newer than this binary, which has %d", migrations.Required())
		}
		_, err = fmt.Fprintf(a.stdout, "the schema is at version %d%s\n", have, newer)
		return err //nolint:wrapcheck // it says all there is
	})
}

func schemaVersion(ctx context.Context, dsn string) (int64, error) {
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	defer pool.Close()
	return migrations.Version(ctx, pool)
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
