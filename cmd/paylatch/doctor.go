package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/paylatch/paylatch/internal/dev"
	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/setup/accounts"
	"github.com/paylatch/paylatch/internal/setup/cells"
	"github.com/paylatch/paylatch/internal/setup/config"
	"github.com/paylatch/paylatch/internal/setup/doctor"
)

type doctorCmd struct{}

// Run prints each check as it ends, with its remedy. A configuration that `serve` refuses gets the same errors here.
func (*doctorCmd) Run(ctx context.Context, a *app) error {
	return a.inEachOf(a.examined, func(cfg *config.Config) error {
		return withDatabase(cfg, func(dsn string) error {
			store, err := openStore(ctx, cfg, dsn)
			if err != nil {
				return err
			}
			defer store.Close()
			if d := cfg.Database; d.Durability == config.StorageDurability {
				_, _ = fmt.Fprintf(a.stdout, "note   fsync and full_page_writes may be off, because the storage keeps commits (database.durability): %s\n", d.DurabilityReason)
			}
			client := provider.NewHTTPClient()
			checks := doctor.OfDatabase(examined{store, store.Bus(), store.Support()}, cfg.Environment == config.Live, now)
			checks = append(checks, doctor.OfCell(func(ctx context.Context) error {
				return cells.Examine(ctx, cells.Database{Number: cfg.Cell, Maps: store.CellMaps()}, cfg.CellMap())
			}))
			checks = append(checks, doctor.OfDataKeys(store.Keys()), doctor.OfAPIKeys(store.APIKeys()))
			checks = append(checks, merchantsCheck(cfg, store, client))
			checks = append(checks, doctor.OfConfig(cfg, client, now)...)
			checks = append(checks, doctor.OfAccounts(called(cfg), client, now)...)
			if n := doctor.Run(ctx, checks, doctor.Printer(a.stdout)); n > 0 {
				return fmt.Errorf("%d problems found; the output has a remedy for each problem", n)
			}
			return nil
		})
	})
}

// examined returns the configuration as `serve` reads it, or the configuration of a `paylatch dev` that runs here.
func (a *app) examined() (*config.Config, error) {
	cfg, err := config.Read(a.configFile, a.environ, dev.Beside)
	if err == nil && cfg.DatabaseURL == "" {
		if _, running := devpg.Running(filepath.Join(cfg.DataDir, "postgres"), "postgres"); running {
			return cfg, nil
		}
	}
	return config.Load(a.configFile, a.environ)
}

// examined is a database as the doctor sees it.
type examined struct {
	*postgres.Store
	*postgres.Bus

	audit *postgres.SupportStore
}

// AuditMayBeChanged implements doctor.Store.
func (p examined) AuditMayBeChanged(ctx context.Context) (role string, may bool, err error) {
	return p.audit.AuditMayBeChanged(ctx)
}

// called returns the accounts that call their provider.
func called(cfg *config.Config) []doctor.Account {
	var list []doctor.Account
	for _, a := range cfg.Accounts {
		if a.CanCharge() {
			list = append(list, doctor.Account{
				Name: a.Name, Absent: provider.Kinds()[a.Kind].Adapter.Absent,
				New: func(c *http.Client) (gateway.Provider, error) { return accounts.Provider(a, c, now) },
			})
		}
	}
	return list
}
