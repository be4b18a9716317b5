package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/datadir"
)

const (
	// devAccount is the account at the sandbox provider of this machine.
	devAccount = "sandbox"
	// devSandbox is where that provider listens by default.
	devSandbox = "127.0.0.1:9090"
)

// devConfig completes a configuration for this machine, with the sandbox provider at
// its address.
type devConfig struct{ sandboxURL string }

// locate fills in what a configuration lacks before it is checked.
func (d devConfig) locate(cfg *config.Config) {
	if cfg.Environment == "" {
		cfg.Environment = config.Dev
	}
	if len(cfg.Orders.CreatedBy) == 0 {
		cfg.Orders.CreatedBy = []string{"service", "customer"}
	}
	d.locateSandbox(cfg)
}

// locateSandbox sets the address of the sandbox provider's account, which is incomplete
// without it, and creates the account where it is the default.
func (d devConfig) locateSandbox(cfg *config.Config) {
	i := slices.IndexFunc(cfg.Accounts, func(a config.Account) bool { return a.Name == devAccount })
	switch {
	case i >= 0 && cfg.Accounts[i].Kind == "sandbox" && cfg.Accounts[i].BaseURL == "":
		cfg.Accounts[i].BaseURL = d.sandboxURL
	case i < 0 && cfg.DefaultAccount == devAccount:
		cfg.Accounts = append(cfg.Accounts, d.newAccount())
	}
}

func (d devConfig) newAccount() config.Account {
	a := config.NewAccount(devAccount, "sandbox")
	a.BaseURL, a.Breaker.Failures = d.sandboxURL, 0
	return a
}

// besideDev completes a configuration as `paylatch dev` does, with the sandbox provider
// at its default address.
func besideDev(cfg *config.Config) {
	if cfg.Environment != "" && cfg.Environment != config.Dev {
		return
	}
	d := devConfig{baseURL(devSandbox)}
	d.locateSandbox(cfg)
	named := slices.ContainsFunc(cfg.Accounts, func(a config.Account) bool { return a.Name == devAccount })
	if !named && (cfg.Environment == config.Dev || cfg.DatabaseURL == "") {
		cfg.Accounts = append(cfg.Accounts, d.newAccount())
	}
}

// complete fills in what a configuration for this machine lacks. The secrets are
// created once and stored, so that tokens and links outlive a restart.
func (d devConfig) complete(cfg *config.Config, environ []string) (webhookSecret string, err error) {
	account, err := d.account(cfg)
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

// account is the account at the sandbox provider of this machine; it is added if the
// configuration has none.
func (d devConfig) account(cfg *config.Config) (*config.Account, error) {
	i := slices.IndexFunc(cfg.Accounts, func(a config.Account) bool { return a.Name == devAccount })
	if i < 0 {
		i = len(cfg.Accounts)
		cfg.Accounts = append(cfg.Accounts, d.newAccount())
	}
	if cfg.Accounts[i].Kind != "sandbox" {
		return nil, config.ValidationErrors{fmt.Sprintf("accounts[%d].name: is that of the sandbox provider's account in dev, which this one is not; choose another", i)}
	}
	return &cfg.Accounts[i], nil
}

// callsAnother reports whether the configuration gives the account another provider
// than that of this machine.
func (d devConfig) callsAnother(cfg *config.Config) bool {
	return slices.ContainsFunc(cfg.Accounts, func(a config.Account) bool {
		return a.Name == devAccount && strings.TrimSuffix(a.BaseURL, "/") != d.sandboxURL
	})
}

func devTokenFile(cfg *config.Config) string { return filepath.Join(cfg.DataDir, "dev-token-secret") }

// devTokenSecret returns the secret that signs the tokens of `paylatch dev`; empty if
// it never ran here.
func devTokenSecret(cfg *config.Config) config.Secret {
	text, _ := os.ReadFile(devTokenFile(cfg))
	return config.Secret(strings.TrimSpace(string(text)))
}

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
