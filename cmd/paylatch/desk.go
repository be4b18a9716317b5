package main

import (
	"context"
	"errors"
	"io"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/engine/activity"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/setup/accounts"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// desk is the environment of the commands for support, beside the running service.
type desk struct {
	*support.Service

	worklist *worklist.Service
	useCases useCases

	who   support.Staff
	out   io.Writer
	cfg   *config.Config
	store *postgres.Store
}

// withDesk calls do with the support side on the database of the cell that the command line names.
func withDesk(ctx context.Context, a *app, do func(d desk) error) error {
	cfg, err := a.readOne()
	if err != nil {
		return err
	}
	return withDeskOf(ctx, a, cfg, do)
}

// withDeskOf is withDesk in the cell of a configuration.
func withDeskOf(ctx context.Context, a *app, cfg *config.Config, do func(d desk) error) error {
	return withRoomsOf(ctx, cfg, func(b beside) error {
		s := support.New(support.Options{Store: b.store.Support(), Payments: b.useCases, Flush: b.notes.Flush, Endpoints: typesByEndpoint(b.cfg), Provider: providerFacts(b.cfg), Clocks: support.Clocks{Zone: b.cfg.Zone()}})
		return do(desk{
			Service: s, worklist: worklistOf(b.store, s, b.useCases), useCases: b.useCases,
			who: support.Operator(), out: a.stdout, cfg: b.cfg, store: b.store,
		})
	})
}

type eraseCmd struct{ support.Erasure }

// Run erases one customer in each cell, since any cell may have orders of the customer.
func (c *eraseCmd) Run(ctx context.Context, a *app) error {
	return a.inEach(func(cfg *config.Config) error {
		return withDeskOf(ctx, a, cfg, func(d desk) error {
			return c.Erasure.Run(ctx, support.ErasureSide{Store: d.store.Erasures(), Mark: auth.Marks(d.cfg), Who: d.who, Out: d.out, Progress: a.stderr})
		})
	})
}

// beside is the use cases on the configured database, beside the running service.
type beside struct {
	cfg      *config.Config
	store    *postgres.Store
	useCases useCases
	notes    *activity.Notes
	used     *accounts.Set
}

// withRooms calls do with the use cases on the database of the cell that the command line names.
func withRooms(ctx context.Context, a *app, do func(b beside) error) error {
	cfg, err := a.readOne()
	if err != nil {
		return err
	}
	return withRoomsOf(ctx, cfg, do)
}

// withRoomsOf is withRooms in the cell of a configuration.
func withRoomsOf(ctx context.Context, cfg *config.Config, do func(b beside) error) error {
	return withDatabase(cfg, func(dsn string) error {
		store, err := openPatient(ctx, cfg, dsn)
		if err != nil {
			return err
		}
		defer store.Close()
		guard, err := watched(cfg, store, "command", zerolog.Nop())
		if err != nil {
			return err
		}
		if err := store.Migrated(ctx); err != nil {
			return err
		}
		counted := metrics.New(metrics.Options{Now: now})
		notes := activity.NewNotes(store, now)
		used, err := accounts.New(cfg, accounts.Options{
			Client: provider.NewHTTPClient(), Watch: accounts.Watch{Log: zerolog.Nop(), Metrics: counted, Now: now}, Noted: notes.Providers,
		})
		if err != nil {
			return err
		}
		if err := ownAs(ctx, cfg, store, used); err != nil {
			return err
		}
		_ = guard.Tick(ctx, store.Marks()) // if it fails, the other processes do not wait for this command after a failover
		defer func() { _ = guard.Leave(context.WithoutCancel(ctx), store.Marks()) }()
		sealer, err := auth.SealerOf(cfg)
		if err != nil {
			return err
		}
		payments := newUseCases(cfg, store, used, notes, sealer, guard, counted)
		err = do(beside{cfg, store, payments, notes, used})
		payments.close()
		return errors.Join(err, notes.Flush(ctx))
	})
}
