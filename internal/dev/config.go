// Package dev completes the configuration of `paylatch dev`. It adds the sandbox provider's account, secrets that
// outlive a restart, the demo shop, and the text that is printed at the start.
package dev

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

	"github.com/paylatch/paylatch/internal/platform/datadir"
	"github.com/paylatch/paylatch/internal/platform/server"
	"github.com/paylatch/paylatch/internal/setup/config"
)

const (
	// Account is the account at the sandbox provider of this machine.
	Account = "sandbox"
	// SandboxListen is the default listen address of that provider.
	SandboxListen = "127.0.0.1:9090"
)

// Machine completes a configuration for this machine, with the sandbox provider at
// its address.
type Machine struct {
	SandboxURL string
	link       *signInLink
}

// New returns this machine with the address of its sandbox provider, and a link of its own that signs in.
func New(sandboxURL string) Machine { return Machine{sandboxURL, newSignInLink()} }

// Locate fills in missing settings of a configuration before it is checked.
func (m Machine) Locate(cfg *config.Config) {
	if cfg.Environment == "" {
		cfg.Environment = config.Dev
	}
	if len(cfg.Orders.CreatedBy) == 0 {
		cfg.Orders.CreatedBy = []string{"service", "customer"}
	}
	m.locateSandbox(cfg)
}

// locateSandbox sets the address of the sandbox provider's account, which is incomplete without it. It creates the account if it
// is the default account.
func (m Machine) locateSandbox(cfg *config.Config) {
	i := slices.IndexFunc(cfg.Accounts, func(a config.Account) bool { return a.Name == Account })
	switch {
	case i >= 0 && cfg.Accounts[i].Kind == "sandbox" && cfg.Accounts[i].BaseURL == "":
		cfg.Accounts[i].BaseURL = m.SandboxURL
	case i < 0 && cfg.DefaultAccount == Account:
		cfg.Accounts = append(cfg.Accounts, m.newAccount())
	}
}

func (m Machine) newAccount() config.Account {
	a := config.NewAccount(Account, "sandbox")
	a.BaseURL, a.Breaker.Failures = m.SandboxURL, 0
	return a
}

// Beside completes a configuration as `paylatch dev` does, with the sandbox provider
// at its default address.
func Beside(cfg *config.Config) {
	if cfg.Environment != "" && cfg.Environment != config.Dev {
		return
	}
	m := New(server.URL(SandboxListen))
	m.locateSandbox(cfg)
	named := slices.ContainsFunc(cfg.Accounts, func(a config.Account) bool { return a.Name == Account })
	if !named && (cfg.Environment == config.Dev || cfg.DatabaseURL == "") {
		cfg.Accounts = append(cfg.Accounts, m.newAccount())
	}
}

// Complete fills in missing keys of a configuration for this machine. The secrets are created once and stored, so that tokens
// and links outlive a restart.
func (m Machine) Complete(cfg *config.Config, environ []string) (webhookSecret string, err error) {
	account, err := m.account(cfg)
	if err != nil {
		return "", err
	}
	if cfg.Auth.HS256Secret == "" {
		secret, err := keptSecret(tokenFile(cfg))
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
		cfg.DefaultAccount = Account
	}
	if !slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, "PAYLATCH_LOG_FORMAT=") }) {
		cfg.Log.Format = "console"
	}
	return string(account.WebhookSecrets[0]), nil
}

// account is the account at the sandbox provider of this machine; it is added if the
// configuration has none.
func (m Machine) account(cfg *config.Config) (*config.Account, error) {
	i := slices.IndexFunc(cfg.Accounts, func(a config.Account) bool { return a.Name == Account })
	if i < 0 {
		i = len(cfg.Accounts)
		cfg.Accounts = append(cfg.Accounts, m.newAccount())
	}
	if cfg.Accounts[i].Kind != "sandbox" {
		return nil, config.ValidationErrors{fmt.Sprintf("accounts[%d].name: is that of the sandbox provider's account in dev, which this one is not; choose another", i)}
	}
	return &cfg.Accounts[i], nil
}

// CallsAnother reports whether the configuration gives the account another provider than this machine's sandbox.
func (m Machine) CallsAnother(cfg *config.Config) bool {
	return slices.ContainsFunc(cfg.Accounts, func(a config.Account) bool {
		return a.Name == Account && strings.TrimSuffix(a.BaseURL, "/") != m.SandboxURL
	})
}

func tokenFile(cfg *config.Config) string { return filepath.Join(cfg.DataDir, "dev-token-secret") }

// TokenSecret returns the secret that signs the tokens of `paylatch dev`; empty if
// it never ran here.
func TokenSecret(cfg *config.Config) config.Secret {
	text, _ := os.ReadFile(tokenFile(cfg))
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
