package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/paylatch/paylatch/internal/dev"
	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/platform/logging"
	"github.com/paylatch/paylatch/internal/platform/server"
	"github.com/paylatch/paylatch/internal/setup/config"
)

type devCmd struct {
	SandboxListen string `default:"${dev_sandbox}" placeholder:"HOST:PORT" help:"The address of the sandbox provider (${default})."`
}

// Run starts everything on this machine and prints how to use it.
func (c *devCmd) Run(ctx context.Context, a *app) error {
	if err := server.CheckAddress(c.SandboxListen); err != nil {
		return usageError{fmt.Errorf("--sandbox-listen: %w", err)}
	}
	m := dev.New(server.URL(c.SandboxListen))
	cfg, err := config.Read(a.configFile, a.environ, m.Locate)
	if err != nil {
		return err
	}
	if cfg.Environment == config.Live {
		return config.ValidationErrors{"environment: paylatch dev refuses live, because it charges at a sandbox provider; leave it out, or set dev"}
	}
	secret, err := m.Complete(cfg, a.environ)
	if err != nil {
		return err
	}
	log := logging.New(cfg.Log, a.stderr, now)
	if m.CallsAnother(cfg) {
		log.Warn().Str("sandbox", m.SandboxURL).Msg("the account sandbox calls the configured base_url; the sandbox provider of paylatch dev has another address")
	}
	return withOwnDatabase(ctx, cfg, func(dsn string) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return c.provide(ctx, cfg, m, secret, log) })
		group.Go(func() error {
			return serve(ctx, cfg, dsn, serving{role: roleAll, migrate: true, dev: true, stderr: a.stderr}, log, func(in *instance, at net.Addr) (err error) {
				if in.handler, err = m.Shop(cfg, at, in.handler, dev.Course(in.store.Support(), in.notes.Flush)); err != nil {
					return err
				}
				return m.Welcome(a.stdout, cfg, at, now())
			})
		})
		return group.Wait()
	})
}

// provide runs the sandbox provider beside the service.
func (c *devCmd) provide(ctx context.Context, cfg *config.Config, m dev.Machine, secret string, log zerolog.Logger) error {
	l, err := server.Listen(ctx, c.SandboxListen)
	if err != nil {
		return fmt.Errorf("the sandbox provider: %w (set another address with --sandbox-listen)", err)
	}
	box, err := sandbox.New(sandbox.Options{
		StateFile: filepath.Join(cfg.DataDir, "sandbox.journal"), PublicURL: m.SandboxURL,
		WebhookURL: server.URL(cfg.Listen) + "/webhooks/" + dev.Account, WebhookSecret: secret,
		Log: sandboxLog(log),
	})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return errors.Join(runSandbox(ctx, box, l, cfg.ShutdownTimeout, log), box.Close())
}
