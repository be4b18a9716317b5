package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/platform/logging"
	"github.com/paylatch/paylatch/internal/platform/server"
	"github.com/paylatch/paylatch/internal/platform/worker"
	"github.com/paylatch/paylatch/internal/setup/config"
	"github.com/paylatch/paylatch/internal/setup/doctor"
	"github.com/paylatch/paylatch/internal/setup/otlp"
	"github.com/paylatch/paylatch/migrations"
)

type serveCmd struct {
	Role    string `enum:"all,api,worker" default:"all" help:"The role of this process: api serves requests, worker runs background work (reconciling, deliveries, purges), ${default} does both."`
	Migrate bool   `help:"Apply the migrations that the database lacks before serving."`
}

// Run serves until a signal stops the process.
func (c *serveCmd) Run(ctx context.Context, a *app) error {
	cfg, err := config.Load(a.configFile, a.environ)
	if err != nil {
		return err
	}
	log := logging.New(cfg.Log, a.stderr, now)
	how := serving{role: c.Role, migrate: c.Migrate, stderr: a.stderr, hangups: hangups, load: func() (*config.Config, error) { return config.Load(a.configFile, a.environ) }}
	return serve(ctx, cfg, string(cfg.DatabaseURL), how, log, func(*instance, net.Addr) error { return nil })
}

// hangups returns a channel that receives each SIGHUP, and a function that stops this.
func hangups() (<-chan os.Signal, func()) {
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGHUP)
	return received, func() { signal.Stop(received) }
}

// serving is the mode of the service. With dev it is for one person on this machine: a
// token is enough to sign in to the console.
type serving struct {
	// role is all, api or worker.
	role         string
	migrate, dev bool
	// stderr receives the log.
	stderr io.Writer
	// load reads the configuration again at each of the hangups; nil for a service that never does.
	hangups func() (<-chan os.Signal, func())
	load    func() (*config.Config, error)
}

// serve runs the service; ready is called once it listens, before it serves.
func serve(ctx context.Context, cfg *config.Config, dsn string, how serving, log zerolog.Logger, ready func(*instance, net.Addr) error) error {
	if how.hangups == nil {
		how.hangups = func() (<-chan os.Signal, func()) { return nil, func() {} }
	}
	tuneMemory(log)
	refusals, flush := logging.Refusals(cfg.Log, how.stderr, log)
	defer flush()
	ctx, export, err := otlp.Begin(ctx, cfg.Tracing, version, log)
	if err != nil {
		return err
	}
	defer export()
	p, err := newProcess(ctx, cfg, dsn, how, log, &refusals)
	if err != nil {
		return err
	}
	listener, err := server.Listen(ctx, cfg.Listen)
	if err != nil {
		return fmt.Errorf("the API: %w (set another address with listen in the configuration, or PAYLATCH_LISTEN)", err)
	}
	p.connections = server.Limit(listener, server.Connections(), cfg.TrustedProxies)
	listener = p.connections
	if cfg.TLS.Set() {
		files := server.TLS(cfg.TLS)
		listener, err = files.Secure(listener, now, func(err error) {
			log.Error().Err(err).Msg("the certificate could not be reloaded; the previous one stays in use")
		})
		if err != nil {
			return fmt.Errorf("tls: %w", err)
		}
	}
	operations, err := p.listenForOperations(ctx)
	if err != nil {
		return err
	}
	if err := ready(p.first(), listener.Addr()); err != nil {
		return err
	}
	return p.run(ctx, listener, operations)
}

// prepare rejects a database that can't be served from.
func (in *instance) prepare(ctx context.Context) error {
	if err := in.demand(ctx); err != nil {
		return err
	}
	if err := in.store.Migrated(ctx); errors.Is(err, migrations.ErrBehind) {
		return fmt.Errorf("%w, or start with --migrate", err)
	} else if err != nil {
		in.log.Warn().Err(err).Msg("the database does not respond yet; commands get 503 until it responds and has all migrations")
	} else if err := in.guard.Tick(ctx, in.store.Marks()); err != nil {
		in.log.Warn().Err(err).Msg("the database's progress could not be recorded, so paylatch could miss a restore from a backup")
	}
	if !in.how.dev {
		// If the database does not respond, the audit loop checks it later.
		_ = worker.WarnOfRole(ctx, in.store.Support(), in.log)
	}
	return nil
}

// demand rejects a database that violates a grave requirement. It logs the violations that are allowed outside live.
func (in *instance) demand(ctx context.Context) error {
	var refused config.ValidationErrors
	for _, f := range doctor.Demand(ctx, in.store, in.cfg.Environment == config.Live) {
		if f.Grave {
			refused = append(refused, f.String())
		} else {
			in.log.Warn().Str("setting", f.Check).Str("problem", f.Problem).Str("remedy", f.Remedy).Msg("live would refuse this database")
		}
	}
	if len(refused) > 0 {
		return refused
	}
	if d := in.cfg.Database; d.Durability == config.StorageDurability {
		in.log.Info().Str("reason", d.DurabilityReason).Msg("fsync and full_page_writes may be off, because the database's storage keeps commits (database.durability)")
	}
	return nil
}
