package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/platform/logging"
	"github.com/paylatch/paylatch/internal/platform/server"
	"github.com/paylatch/paylatch/internal/setup/config"
)

type sandboxCmd struct {
	Listen        string  `default:"${dev_sandbox}" placeholder:"HOST:PORT" help:"The address of the sandbox (${default})."`
	WebhookURL    string  `name:"webhook-url" placeholder:"URL" help:"Send webhooks to this URL. Default: send no webhooks."`
	WebhookSecret string  `placeholder:"whsec_…" help:"The secret that signs the webhooks."`
	APIKey        string  `name:"api-key" placeholder:"KEY" help:"Require this key as Authorization: Bearer. Default: no key is required."`
	PublicURL     string  `name:"public-url" placeholder:"URL" help:"The address of its pages for browsers, if it differs from the address for callers."`
	Lose          float64 `placeholder:"SHARE" help:"The share of webhooks that are never delivered, 0 to 1."`
	Seed          uint64  `help:"The seed for the choice of these webhooks."`
	State         string  `placeholder:"FILE" help:"Keep the charges in this file. Default: sandbox.journal in data_dir."`
}

// Run serves the sandbox until a signal stops the process.
func (c *sandboxCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.read()
	if err != nil {
		return err
	}
	if (c.WebhookURL == "") != (c.WebhookSecret == "") {
		return usageError{errors.New("set both --webhook-url and --webhook-secret, or neither")}
	}
	if !(c.Lose >= 0 && c.Lose <= 1) {
		return usageError{errors.New("--lose must be from 0 to 1")}
	}
	if err := server.CheckAddress(c.Listen); err != nil {
		return usageError{fmt.Errorf("--listen: %w", err)}
	}
	log := logging.New(cfg.Log, a.stderr, now)
	box, err := sandbox.New(c.options(cfg, log))
	switch {
	case errors.Is(err, sandbox.ErrWebhook):
		return usageError{err}
	case err != nil:
		return err
	}
	l, err := server.Listen(ctx, c.Listen)
	if err != nil {
		return errors.Join(err, box.Close())
	}
	log.Info().Stringer("address", l.Addr()).Msg("sandbox listens")
	return errors.Join(runSandbox(ctx, box, l, cfg.ShutdownTimeout, log), box.Close())
}

func (c *sandboxCmd) options(cfg *config.Config, log zerolog.Logger) sandbox.Options {
	o := sandbox.Options{
		StateFile: c.State, WebhookURL: c.WebhookURL, WebhookSecret: c.WebhookSecret, APIKey: c.APIKey, PublicURL: c.PublicURL,
		Lose: c.Lose, Seed: c.Seed,
		Log: sandboxLog(log),
	}
	if o.StateFile == "" {
		o.StateFile = filepath.Join(cfg.DataDir, "sandbox.journal")
	}
	return o
}

// sandboxLog logs failures of the sandbox, mostly webhooks that were not delivered.
func sandboxLog(log zerolog.Logger) func(error) {
	return func(err error) { log.Warn().Err(err).Msg("an error occurred in the sandbox") }
}

// runSandbox runs both halves of the sandbox; when one fails, the other ends.
func runSandbox(ctx context.Context, box *sandbox.Server, l net.Listener, grace time.Duration, log zerolog.Logger) error {
	group, ctx := errgroup.WithContext(ctx)
	s := api.NewHTTPServer("", box, log)
	// Calls that hang on purpose must not delay the stop.
	s.BaseContext = func(net.Listener) context.Context { return ctx }
	group.Go(func() error { return box.Run(ctx) })
	group.Go(func() error { return server.Until(ctx, s, l, grace) })
	return group.Wait() //nolint:wrapcheck // both halves wrap what failed
}
