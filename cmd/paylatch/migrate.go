package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/dev"
	"github.com/paylatch/paylatch/internal/setup/config"
	"github.com/paylatch/paylatch/migrations"
)

type migrateCmd struct {
	Up     migrateUpCmd     `cmd:"" help:"Apply the migrations that the database lacks."`
	Status migrateStatusCmd `cmd:"" help:"List the migrations and when they were applied."`
	Grants migrateGrantsCmd `cmd:"" help:"Grant a role exactly the privileges that the service needs, and print the statements."`
}

type migrateUpCmd struct{}

// Run applies the migrations. Without --cell it makes the configuration's map of orders the map of all cells.
func (*migrateUpCmd) Run(ctx context.Context, a *app) error {
	err := a.inEach(func(cfg *config.Config) error {
		return withDirectDatabase(cfg, func(dsn string) error {
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
			_, _ = fmt.Fprintf(a.stdout, "the schema is at version %d%s\n", have, newer)
			if newer != "" {
				return nil // this binary lacks the grants of a newer one
			}
			return grantAgain(ctx, dsn, a.stdout)
		})
	})
	if err != nil || a.cell >= 0 {
		return err
	}
	cfg, err := config.Read(a.configFile, a.environ, dev.Beside)
	if err != nil {
		return err
	}
	return changeMap(ctx, cfg, true)
}

// grantAgain grants the serving roles the privileges that serving needs now, since a migration may have created tables.
func grantAgain(ctx context.Context, dsn string, out io.Writer) error {
	roles, err := migrations.Granted(ctx, dsn)
	if err != nil {
		return err
	}
	for _, role := range roles {
		if _, err := migrations.Grant(ctx, dsn, role, false); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "the role %s has the privileges that the service needs\n", role)
	}
	return nil
}

type migrateGrantsCmd struct {
	To     string `required:"" placeholder:"ROLE" help:"The role of the service. It must be able to log in, must not be a superuser, and must own nothing."`
	DryRun bool   `help:"Print the statements without running them."`
}

// Run grants.
func (c *migrateGrantsCmd) Run(ctx context.Context, a *app) error {
	return a.inEach(func(cfg *config.Config) error {
		return withDirectDatabase(cfg, func(dsn string) error {
			statements, err := migrations.Grant(ctx, dsn, c.To, c.DryRun)
			for _, s := range statements {
				_, _ = fmt.Fprintln(a.stdout, s+";")
			}
			return err
		})
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
	return a.inEach(func(cfg *config.Config) error {
		return withDirectDatabase(cfg, func(dsn string) error {
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
	})
}

func appliedAt(t time.Time) string {
	if t.IsZero() {
		return "pending"
	}
	return t.UTC().Format(time.RFC3339)
}
