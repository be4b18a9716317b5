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
	Listen        string  `default:"${dev_sandbox}" placeholder:"HOST:PORT" help:"Where it listens (${default})."`
	WebhookURL    string  `name:"webhook-url" placeholder:"URL" help:"Where its webhooks go; none: it sends none."`
	WebhookSecret string  `placeholder:"whsec_…" help:"What its webhooks are signed with."`
	APIKey        string  `name:"api-key" placeholder:"KEY" help:"What its callers have to send as Authorization: Bearer; none: anybody may call."`
	PublicURL     string  `name:"public-url" placeholder:"URL" help:"Where browsers find its pages, if not where its callers do."`
	Lose          float64 `placeholder:"SHARE" help:"Which share of its webhooks is never delivered, 0 to 1."`
	Seed          uint64  `help:"Decides which those are."`
	State         string  `placeholder:"FILE" help:"Where it keeps its charges; by default sandbox.journal in data_dir."`
}

// Run serves the sandbox until a signal stops the process.
func (c *sandboxCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.read()
	if err != nil {
		return err
	}
	if (c.WebhookURL == "") != (c.WebhookSecret == "") {
		return usageError{errors.New("--webhook-url and --webhook-secret belong together")}
	}
	if !(c.Lose >= 0 && c.Lose <= 1) {
		return usageError{errors.New("--lose must be 0 to 1")}
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
	return func(err error) { log.Warn().Err(err).Msg("something failed in the sandbox") }
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
