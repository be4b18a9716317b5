package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/datadir"
	"github.com/paylatch/paylatch/internal/sandbox"
)

type devCmd struct {
	SandboxListen string `default:"${dev_sandbox}" placeholder:"HOST:PORT" help:"Where the sandbox provider listens (${default})."`
}

// Run starts everything on this machine and prints how to use it.
func (c *devCmd) Run(ctx context.Context, a *app) error {
	if err := checkAddress("--sandbox-listen", c.SandboxListen); err != nil {
		return err
	}
	cfg, err := config.Read(a.configFile, a.environ, c.locate)
	if err != nil {
		return err
	}
	if cfg.Environment == config.Live {
		return config.ValidationErrors{"environment: live is refused by paylatch dev, which charges at a sandbox provider; leave it out, or set dev"}
	}
	secret, err := c.complete(cfg, a.environ)
	if err != nil {
		return err
	}
	log := newLogger(cfg.Log, a.stderr)
	if c.callsAnother(cfg) {
		log.Warn().Str("sandbox", c.sandboxURL()).Msg("the account sandbox calls the base_url of the configuration, which is not that of the sandbox provider here")
	}
	return withDatabase(ctx, cfg, func(dsn string) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return c.provide(ctx, cfg, secret, log) })
		group.Go(func() error {
			return serve(ctx, cfg, dsn, serving{migrate: true, dev: true}, log, func(in *instance, at net.Addr) error {
				if err := openShop(in, cfg, at, c.sandboxURL()); err != nil {
					return err
				}
				return welcome(a.stdout, cfg, at, c.sandboxURL())
			})
		})
		return group.Wait()
	})
}

// provide runs the sandbox provider beside the service.
func (c *devCmd) provide(ctx context.Context, cfg *config.Config, secret string, log zerolog.Logger) error {
	l, err := listen(ctx, c.SandboxListen)
	if err != nil {
		return fmt.Errorf("the sandbox provider: %w (--sandbox-listen chooses another place)", err)
	}
	box, err := sandbox.New(sandbox.Options{
		StateFile: filepath.Join(cfg.DataDir, "sandbox.journal"), PublicURL: c.sandboxURL(),
		WebhookURL: baseURL(cfg.Listen) + "/webhooks/" + devAccount, WebhookSecret: secret,
		Log: sandboxLog(log),
	})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return errors.Join(runSandbox(ctx, box, l, cfg.ShutdownTimeout, log), box.Close())
}

// sandboxURL is where the sandbox provider of this machine is called.
func (c *devCmd) sandboxURL() string { return baseURL(c.SandboxListen) }

// locate is what a configuration lacks before it is checked.
func (c *devCmd) locate(cfg *config.Config) {
	if cfg.Environment == "" {
		cfg.Environment = config.Dev
	}
	if len(cfg.Orders.CreatedBy) == 0 {
		cfg.Orders.CreatedBy = []string{"service", "customer"}
	}
	locateSandbox(cfg, c.sandboxURL())
}

// locateSandbox gives the sandbox provider's account the address without which it
// would not pass for complete, and makes the account where it is the default.
func locateSandbox(cfg *config.Config, url string) {
	i := slices.IndexFunc(cfg.Accounts, func(a config.Account) bool { return a.Name == devAccount })
	switch {
	case i >= 0 && cfg.Accounts[i].Kind == "sandbox" && cfg.Accounts[i].BaseURL == "":
		cfg.Accounts[i].BaseURL = url
	case i < 0 && cfg.DefaultAccount == devAccount:
		cfg.Accounts = append(cfg.Accounts, newDevAccount(url))
	}
}

func newDevAccount(url string) config.Account {
	a := config.NewAccount(devAccount, "sandbox")
	a.BaseURL, a.Breaker.Failures = url, 0
	return a
}

// besideDev completes what a command reads as `paylatch dev` beside it does, with the
// sandbox provider where it is by default.
func besideDev(cfg *config.Config) {
	if cfg.Environment != "" && cfg.Environment != config.Dev {
		return
	}
	url := baseURL(devSandbox)
	locateSandbox(cfg, url)
	named := slices.ContainsFunc(cfg.Accounts, func(a config.Account) bool { return a.Name == devAccount })
	if !named && (cfg.Environment == config.Dev || cfg.DatabaseURL == "") {
		cfg.Accounts = append(cfg.Accounts, newDevAccount(url))
	}
}

// complete fills in what a configuration for this machine lacks. The secrets are
// made once and kept, so that tokens and links outlive a restart.
func (c *devCmd) complete(cfg *config.Config, environ []string) (webhookSecret string, err error) {
	account, err := c.account(cfg)
	if err != nil {
		return "", err
	}
	if cfg.Auth.HS256Secret == "" {
		secret, err := keptSecret(devTokenFile(cfg))
		if err != nil {
			return "", err
		}
		cfg.Auth.HS256Secret = config.Secret(secret)
	}
	if len(account.WebhookSecrets) == 0 {
		secret, err := keptSecret(filepath.Join(cfg.DataDir, "dev-webhook-secret"))
		if err != nil {
			return "", err
		}
		account.WebhookSecrets = []config.Secret{config.Secret("whsec_" + secret)}
	}
	if cfg.DefaultAccount == "" {
		cfg.DefaultAccount = devAccount
	}
	if !slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, "PAYLATCH_LOG_FORMAT=") }) {
		cfg.Log.Format = "console"
	}
	return string(account.WebhookSecrets[0]), nil
}

// account is the account at the sandbox provider of this machine; a new one if the
// configuration names none.
func (c *devCmd) account(cfg *config.Config) (*config.Account, error) {
	i := slices.IndexFunc(cfg.Accounts, func(a config.Account) bool { return a.Name == devAccount })
	if i < 0 {
		i = len(cfg.Accounts)
		cfg.Accounts = append(cfg.Accounts, newDevAccount(c.sandboxURL()))
	}
	if cfg.Accounts[i].Kind != "sandbox" {
		return nil, config.ValidationErrors{fmt.Sprintf("accounts[%d].name: is that of the sandbox provider's account in dev, which this one is not; choose another", i)}
	}
	return &cfg.Accounts[i], nil
}

// callsAnother reports whether the configuration gives the account another provider
// than that of this machine.
func (c *devCmd) callsAnother(cfg *config.Config) bool {
	return slices.ContainsFunc(cfg.Accounts, func(a config.Account) bool {
		return a.Name == devAccount && strings.TrimSuffix(a.BaseURL, "/") != c.sandboxURL()
	})
}

func devTokenFile(cfg *config.Config) string { return filepath.Join(cfg.DataDir, "dev-token-secret") }

// devTokenSecret is what tokens of `paylatch dev` are signed with; empty if it
// never ran here.
func devTokenSecret(cfg *config.Config) config.Secret {
	text, _ := os.ReadFile(devTokenFile(cfg))
	return config.Secret(strings.TrimSpace(string(text)))
}

const (
	// devAccount is the account at the sandbox provider of this machine.
	devAccount = "sandbox"
	// devSandbox is where that provider listens by default.
	devSandbox = "127.0.0.1:9090"
)

const secretLength = 32

func keptSecret(path string) (string, error) {
	text, err := os.ReadFile(path) //nolint:gosec // a file of our own
	if err == nil {
		return strings.TrimSpace(string(text)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read a secret: %w", err)
	}
	raw := make([]byte, secretLength)
	_, _ = rand.Read(raw)
	secret := base64.StdEncoding.EncodeToString(raw)
	if err := datadir.Make(filepath.Dir(path)); err != nil {
		return "", fmt.Errorf("keep a secret: %w", err)
	}
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep a secret: %w", err)
	}
	return secret, nil
}

func baseURL(listen string) string {
	host, port, _ := net.SplitHostPort(listen)
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}
