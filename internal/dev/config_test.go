package dev_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev"
	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/platform/server"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// configured is a configuration of the accounts that the text lists.
func configured(t *testing.T, m dev.Machine, listed string) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "paylatch.yaml")
	require.NoError(t, os.WriteFile(file, []byte("accounts: ["+listed+"]"), 0o600))
	cfg, err := config.Read(file, nil, m.Locate)
	require.NoError(t, err)
	cfg.DataDir = t.TempDir()
	return cfg
}

func TestDevCompletesTheSandboxAccount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ listed, address, lateSuccess, secret string }{
		"none":               {"", "http://127.0.0.1:9091", "manual", ""},
		"without a secret":   {"{name: sandbox, kind: sandbox, base_url: 'http://box', late_success: auto_refund}", "http://box", "auto_refund", ""},
		"without an address": {"{name: sandbox, kind: sandbox}", "http://127.0.0.1:9091", "manual", ""},
		"with a secret only": {
			"{name: sandbox, kind: sandbox, webhook_secrets: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw]}",
			"http://127.0.0.1:9091", "manual", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		},
		"with both": {
			"{name: sandbox, kind: sandbox, base_url: 'http://box', webhook_secrets: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw]}",
			"http://box", "manual", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := dev.New(server.URL(":9091"))
			cfg := configured(t, m, c.listed)
			secret, err := m.Complete(cfg, nil)
			require.NoError(t, err)
			require.Len(t, cfg.Accounts, 1)
			a := cfg.Accounts[0]
			require.Equal(t, []config.Secret{config.Secret(secret)}, a.WebhookSecrets)
			require.Equal(t, []string{"sandbox", "sandbox", c.address, c.lateSuccess}, []string{a.Name, a.Kind, a.BaseURL, a.LateSuccess})
			require.Equal(t, c.address == "http://box", m.CallsAnother(cfg))
			require.Equal(t, "sandbox", cfg.DefaultAccount)
			require.Equal(t, []string{"service", "customer"}, cfg.Orders.CreatedBy)
			require.Equal(t, "console", cfg.Log.Format)
			if c.secret != "" {
				require.Equal(t, c.secret, secret)
			}
			require.True(t, a.CanCharge())
			require.True(t, a.TakesWebhooks())
		})
	}
}

func TestDevFillsInTheRestBesideASandboxWithASecret(t *testing.T) {
	t.Parallel()
	const two = "{name: sandbox, kind: sandbox, base_url: 'http://box', webhook_secrets: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw]}," +
		"{name: other, kind: sandbox, base_url: 'http://box'}"
	m := dev.New("")
	cfg := configured(t, m, two)
	require.Empty(t, cfg.DefaultAccount, "both can charge")
	_, err := m.Complete(cfg, []string{"PAYLATCH_LOG_FORMAT=json"})
	require.NoError(t, err)
	require.Equal(t, "sandbox", cfg.DefaultAccount)
	require.Equal(t, "json", cfg.Log.Format, "as the environment has it")
	require.NoFileExists(t, filepath.Join(cfg.DataDir, "dev-webhook-secret"), "nobody uses it")
}

// The first of them makes the directory, in which PostgreSQL may have to run as another user.
func TestDataDirectoryMode(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(cfg *config.Config) error{
		"dev": func(cfg *config.Config) error {
			_, err := dev.New("").Complete(cfg, nil)
			return err
		},
		"root secret": func(cfg *config.Config) error {
			_, err := auth.Keys(cfg)
			return err
		},
		"sandbox": func(cfg *config.Config) error {
			box, err := sandbox.New(sandbox.Options{StateFile: filepath.Join(cfg.DataDir, "sandbox.journal")})
			if err != nil {
				return err
			}
			return box.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := &config.Config{DataDir: filepath.Join(t.TempDir(), ".paylatch")}
			require.NoError(t, first(cfg))
			info, err := os.Stat(cfg.DataDir)
			require.NoError(t, err)
			require.Equal(t, "drwx--x--x", info.Mode().String())
			files, err := os.ReadDir(cfg.DataDir)
			require.NoError(t, err)
			require.NotEmpty(t, files)
			for _, file := range files {
				info, err := file.Info()
				require.NoError(t, err)
				require.Equal(t, "-rw-------", info.Mode().String(), file.Name())
			}
		})
	}
}
