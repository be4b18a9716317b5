package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/logging"
	"github.com/paylatch/paylatch/internal/platform/server"
	"github.com/paylatch/paylatch/internal/setup/begin"
	"github.com/paylatch/paylatch/internal/setup/config"
)

type initCmd struct {
	Kind        string            `placeholder:"KIND" help:"The provider, such as stripe."`
	Name        string            `placeholder:"NAME" help:"The account's name. Default: the kind."`
	Set         map[string]string `mapsep:"none" placeholder:"KEY=VALUE" help:"A key of the account, such as api_key; repeat the flag for several keys. The value $${NAME} names an environment variable, and keeps a secret out of the command line."`
	DatabaseURL string            `placeholder:"URL" help:"A PostgreSQL for tests. Default: none; paylatch dev starts one of its own."`
	Listen      string            `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"The address of the service (${default})."`
	PublicURL   string            `name:"public-url" placeholder:"URL" help:"The address at which the provider reaches the service, such as a tunnel's address."`
	Force       bool              `help:"Replace existing files, and keep their encryption key and token secret."`

	Try      bool          `help:"Make a test payment and wait for its webhook. Existing files are used as they are."`
	Token    string        `placeholder:"TOKEN" help:"The payment method of the test payment. Default: the token that the provider publishes for tests, or its page."`
	Currency string        `placeholder:"CODE" help:"The currency of the test payment. Default: one that the provider supports."`
	Wait     time.Duration `default:"5m" help:"How long the test payment and its webhook may take (${default})."`
}

// Run writes the configuration and makes the test payment.
func (c *initCmd) Run(ctx context.Context, a *app) error {
	err := c.run(ctx, a)
	var missing begin.MissingError
	switch {
	case errors.As(err, &missing), errors.Is(err, begin.ErrExists), errors.Is(err, begin.ErrKind):
		return usageError{err}
	case errors.Is(err, begin.ErrStopped), errors.Is(err, context.Canceled):
		return begin.ErrStopped
	}
	return err
}

func (c *initCmd) run(ctx context.Context, a *app) error {
	file := c.file(a)
	_, err := os.Stat(file)
	if exists := err == nil; !exists || c.Force || !c.Try {
		if err := c.write(ctx, a, file); err != nil {
			return err
		}
	}
	if !c.Try {
		return nil
	}
	return c.try(ctx, a, file)
}

// file is the path of the configuration that other commands read by default.
func (c *initCmd) file(a *app) string {
	fromEnvironment := ""
	for _, v := range a.environ {
		if value, found := strings.CutPrefix(v, "PAYLATCH_CONFIG="); found {
			fromEnvironment = value
		}
	}
	return cmp.Or(a.configFile, fromEnvironment, defaultFile)
}

// write asks for what the flags leave open, and writes the files.
func (c *initCmd) write(ctx context.Context, a *app, file string) error {
	if err := server.CheckAddress(c.Listen); err != nil {
		return usageError{fmt.Errorf("--listen: %w", err)}
	}
	secrets := begin.EnvironmentFile(file)
	if err := begin.Free(file, c.Force); err != nil {
		return err // before any question
	}
	var in io.Reader
	if isatty.IsTerminal(os.Stdin.Fd()) {
		in = os.Stdin
	}
	account := begin.Account{Kind: c.Kind, Name: c.Name, Keys: c.Set, DatabaseURL: c.DatabaseURL, Listen: c.Listen, PublicURL: c.PublicURL}
	if err := account.Prompt(ctx, begin.NewDialog(in, a.stdout)); err != nil {
		return err
	}
	if err := account.Write(file, c.Force, a.environ); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(a.stdout, "\nWrote %s and %s, which only you may read.\n", file, secrets)
	for _, key := range account.MadeUp {
		_, _ = fmt.Fprintf(a.stdout, "%s has a made-up value. Replace it with the provider's value; until then webhooks are refused.\n", key)
	}
	if !c.Try {
		next(a, file, account.DatabaseURL)
		_, _ = fmt.Fprintf(a.stdout, "Make a test payment with\n\n  paylatch %sinit --try\n", configFlag(file))
	}
	return nil
}

// next prints how to start the service.
func next(a *app, file, databaseURL string) {
	command := "serve --migrate"
	if databaseURL == "" {
		command = "dev"
	}
	_, _ = fmt.Fprintf(a.stdout, "\nStart the service with\n\n  set -a; . %s; set +a; paylatch %s%s\n\n", pathOf(begin.EnvironmentFile(file)), configFlag(file), command)
}

// defaultFile is the configuration that is read without a flag.
const defaultFile = "paylatch.yaml"

// configFlag is the flag that names a configuration; empty for the default.
func configFlag(file string) string {
	if file == defaultFile {
		return ""
	}
	return "--config " + file + " "
}

// pathOf is a path that a shell takes for a file, and not for a name in PATH.
func pathOf(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return "./" + filepath.Clean(file)
}

// try makes a test payment with the configuration of the file.
func (c *initCmd) try(ctx context.Context, a *app, file string) error {
	environ, err := begin.Environ(a.environ, begin.EnvironmentFile(file))
	if err != nil {
		return err
	}
	cfg, err := config.Read(file, environ, nil)
	if err != nil {
		return err
	}
	p, err := c.payment(a, cfg, file)
	if err != nil {
		return err
	}
	if p.Token == "" && p.Trial.Token+p.Trial.Page == "" {
		_, _ = fmt.Fprintf(a.stdout, "This provider publishes no token that pays by itself: %s.\n", p.Trial.ByHand)
		return nil
	}
	return c.withService(ctx, a, cfg, func(base, how string) error {
		p.Base, p.Operations, p.Endpoint = base, base, base+"/webhooks/"+p.Account
		if cfg.OperationsListen != "" {
			p.Operations = server.URL(cfg.OperationsListen)
		}
		_, _ = fmt.Fprintf(a.stdout, "1/4  the service: %s, %s\n", base, how)
		if err := p.Make(ctx); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(a.stdout, "\nThe test payment is complete.")
		if how != running {
			next(a, file, string(cfg.DatabaseURL))
		}
		return nil
	})
}

// payment returns the test payment of the configuration's account.
func (c *initCmd) payment(a *app, cfg *config.Config, file string) (*begin.Payment, error) {
	name := cmp.Or(c.Name, cfg.DefaultAccount)
	i := slices.IndexFunc(cfg.Accounts, func(a config.Account) bool { return a.Name == name })
	switch {
	case i < 0:
		return nil, usageError{fmt.Errorf("--name: %q is not an account of %s", name, file)}
	case cfg.Environment != config.Test && cfg.Environment != config.Dev:
		return nil, config.ValidationErrors{"environment: must be test or dev for a test payment"}
	case !cfg.Accounts[i].CanCharge():
		return nil, config.ValidationErrors{fmt.Sprintf("accounts[%d]: can't charge", i)}
	}
	if err := begin.CheckForTests(cfg.Accounts[i]); err != nil {
		return nil, err
	}
	of := begin.Account{Kind: cfg.Accounts[i].Kind, Name: name}
	currency := cmp.Or(c.Currency, string(cfg.Accounts[i].Fields["currency"]), string(cfg.Accounts[i].Fields["store_currency"]), of.Trial().Currency, "EUR")
	p := &begin.Payment{
		Account: name, Trial: of.Trial(), Token: c.Token, Money: payment.Money{Minor: testAmount, Currency: payment.Currency(currency)},
		SecretsIn: begin.EnvironmentFile(file), Wait: c.Wait, Out: a.stdout, Now: now,
	}
	var err error
	if p.HTTP, err = server.Pinned(cfg.TLS.CertFile); err != nil {
		return nil, err
	}
	for _, t := range []struct {
		token *string
		role  payment.Role
	}{{&p.Service, payment.RoleService}, {&p.Support, payment.RoleSupport}} {
		if *t.token, err = mint(cfg, "paylatch-init", []payment.Role{t.role}, c.Wait+time.Hour); err != nil {
			return nil, err
		}
	}
	return p, nil
}

const (
	// testAmount is the amount of a test payment in minor units.
	testAmount = 1999
	running    = "which is already running"
	// aliveTimeout bounds the wait for the response of a service that accepts connections.
	aliveTimeout = 30 * time.Second
)

// withService calls do with the address of the running service, or of a service that runs only meanwhile.
func (c *initCmd) withService(ctx context.Context, a *app, cfg *config.Config, do func(base, how string) error) error {
	probe, cancel := context.WithTimeout(ctx, aliveTimeout)
	err := server.Alive(probe, cmp.Or(cfg.OperationsListen, cfg.Listen), cfg.TLS.Set() && cfg.OperationsListen == "")
	cancel()
	switch {
	case err == nil:
		return do(server.At(cfg.Listen, cfg.TLS.Set()), running)
	case errors.Is(err, context.DeadlineExceeded): // an absent service refuses the connection at once
		return fmt.Errorf("the service at %s is running and does not respond: %w", cmp.Or(cfg.OperationsListen, cfg.Listen), err)
	}
	_, _ = fmt.Fprintln(a.stdout, "     starting the service …")
	how := "with the configured database"
	if cfg.DatabaseURL == "" {
		how = "with a PostgreSQL of its own in " + cfg.DataDir
	}
	cfg.Log.Level, cfg.Log.Format = "error", "console"
	log := logging.New(cfg.Log, a.stderr, now)
	return withOwnDatabase(ctx, cfg, func(dsn string) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		up, ended := make(chan string, 1), make(chan error, 1)
		go func() {
			ended <- serve(ctx, cfg, dsn, serving{role: roleAll, migrate: true, stderr: a.stderr}, log, func(_ *instance, at net.Addr) error {
				up <- server.At(at.String(), cfg.TLS.Set())
				return nil
			})
		}()
		select {
		case err := <-ended:
			return err
		case base := <-up:
			err := do(base, how)
			stop()
			return errors.Join(err, <-ended)
		}
	})
}
