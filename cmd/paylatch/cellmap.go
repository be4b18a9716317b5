package main

import (
	"context"
	"errors"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/setup/cells"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// compareMaps refuses databases that are not the cells of the configuration, or that serve under another map of orders. Cell 0 comes
// first: of processes with different configurations that claim new databases at once, one claims them all.
func (p *process) compareMaps(ctx context.Context) error {
	for _, n := range p.cfg.Numbers() {
		err := compareMap(ctx, p.stores[n], p.instances[n].cfg)
		if errors.Is(err, payment.ErrUnavailable) {
			log := p.logOf(n)
			log.Warn().Err(err).Msg("paylatch could not check the cell's number and map; it checks them before the first use")
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// route leads each name to its cell, as the configuration of the start does. It also leads the accounts that a reload added to their cells.
type route struct {
	*config.Config

	instances map[payment.Cell]*instance
}

// CellOf returns the cell of an account, or cell 0 if no cell has the account.
func (r route) CellOf(account string) payment.Cell {
	n := r.Config.CellOf(account)
	if n != payment.OnlyCell {
		return n
	}
	for n, in := range r.instances {
		if _, has := in.accounts.Charged.Find(account); has {
			return n
		}
	}
	return n
}

// storeOf returns the store of the cell of an account.
func (p *process) storeOf(account string) *postgres.Store {
	return p.stores[route{p.cfg, p.instances}.CellOf(account)]
}

// compareMap compares a cell, and the merchants behind its accounts if the store compares them. It returns payment.ErrUnavailable for
// a database that does not respond. A database that lacks migrations is left to its first use, which has the check of InCell.
func compareMap(ctx context.Context, store *postgres.Store, cfg *config.Config) error {
	if err := store.Migrated(ctx); errors.Is(err, payment.ErrUnavailable) {
		return err
	} else if err != nil {
		return nil //nolint:nilerr // see above
	}
	return asMistake(cells.Compare(ctx, cells.Database{Number: cfg.Cell, Maps: store.CellMaps()}, cfg.CellMap()))
}

// changeMap makes the map of a configuration the map of its databases, see cells.Change.
func changeMap(ctx context.Context, cfg *config.Config, back bool) error {
	var all []cells.Database
	var stores []*postgres.Store
	defer func() {
		for _, s := range stores {
			s.Close()
		}
	}()
	for _, n := range cfg.Numbers() {
		err := withDirectDatabase(cfg.In(n), func(dsn string) error {
			store, err := postgres.Open(ctx, dsn)
			if err != nil {
				return err
			}
			stores = append(stores, store)
			all = append(all, cells.Database{Number: n, Maps: store.CellMaps()})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return asMistake(cells.Change(ctx, all, cfg.CellMap(), back))
}

// asMistake returns an error of the configuration in the form of its other errors.
func asMistake(err error) error {
	if wrong := (*payment.CellMapError)(nil); errors.As(err, &wrong) {
		return config.ValidationErrors{wrong.Error()}
	}
	if other := (*payment.MerchantError)(nil); errors.As(err, &other) {
		return config.ValidationErrors(strings.Split(other.Text, "\n"))
	}
	return err
}
