package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/postgres/pool"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// withOwnDatabase calls do with the address of the configured database, or of the
// private one under data_dir, which runs only meanwhile. Only `paylatch dev` brings one.
func withOwnDatabase(ctx context.Context, c *config.Config, do func(dsn string) error) (err error) {
	if c.DatabaseURL != "" {
		return do(string(c.DatabaseURL))
	}
	dir := filepath.Join(c.DataDir, "postgres")
	server, err := devpg.Start(ctx, devpg.Config{Dir: dir, Elsewhere: "/var/lib/paylatch"})
	if err != nil {
		return err
	}
	if link, err := os.Readlink(dir); err == nil {
		_, _ = fmt.Fprintf(os.Stderr, "PostgreSQL stores its data in %s, because its user can't access %s\n", link, dir)
	}
	defer func() {
		if stopped := server.Stop(); err == nil {
			err = stopped
		}
	}()
	return do(server.DSN("postgres"))
}

// withDatabase calls do with the address of the configured database, or of the private database of a `paylatch dev` on the same
// data_dir.
func withDatabase(c *config.Config, do func(dsn string) error) error {
	if c.DatabaseURL != "" {
		return do(string(c.DatabaseURL))
	}
	if dsn, running := devpg.Running(filepath.Join(c.DataDir, "postgres"), "postgres"); running {
		return do(dsn)
	}
	return config.ValidationErrors{fmt.Sprintf("database_url: is missing, and no `paylatch dev` runs in %s: set the service's PostgreSQL, or give its configuration with --config", c.DataDir)}
}

// withDirectDatabase is withDatabase past a pooler.
func withDirectDatabase(c *config.Config, do func(dsn string) error) error {
	return withDatabase(c, func(dsn string) error { return do(c.Database.Direct(dsn)) })
}

// commandWait is how long a command waits for a busy database. A service gives up sooner, because a caller waits for its response.
const commandWait = time.Minute

// openPatient opens the store of a command.
func openPatient(ctx context.Context, cfg *config.Config, dsn string) (*postgres.Store, error) {
	store, err := openStore(ctx, cfg, dsn)
	if err != nil {
		return nil, err
	}
	store.Patiently(commandWait)
	return store, nil
}

// openStore opens the store of a service: live demands a durable database.
func openStore(ctx context.Context, cfg *config.Config, dsn string) (*postgres.Store, error) {
	at := pool.Address{
		URL: dsn, Direct: string(cfg.Database.DirectURL), Pooled: cfg.Database.Pooler == config.TransactionPooler, Standby: string(cfg.Database.ReadURL),
		Stored: cfg.Database.Durability == config.StorageDurability,
	}
	open := postgres.OpenAt
	if cfg.Environment == config.Live {
		open = postgres.OpenDurable
	}
	sealer, err := auth.SealerOf(cfg)
	if err != nil {
		return nil, err
	}
	store, err := open(ctx, at)
	if err != nil {
		return nil, err
	}
	store.InCell(cfg.Cell)
	if sealer != nil {
		store.SealWith(sealer, now)
	}
	return store, nil
}
