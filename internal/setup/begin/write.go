package begin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/setup/config"
)

// ErrExists is returned instead of overwriting a file.
var ErrExists = errors.New("already exists: --force replaces the file and keeps its encryption key and token secret")

// EnvironmentFile is the file with the secrets of a configuration file: paylatch.env beside paylatch.yaml.
func EnvironmentFile(config string) string {
	return strings.TrimSuffix(config, filepath.Ext(config)) + ".env"
}

// Free returns an error with ErrExists if the configuration file or its environment file exists, unless force allows to write it anew.
func Free(path string, force bool) error {
	for _, file := range []string{path, EnvironmentFile(path)} {
		if _, err := os.Lstat(file); err == nil && !force {
			return fmt.Errorf("%s %w", file, ErrExists)
		}
	}
	return nil
}

// Write checks the files as the service reads them, and writes both or none, readable for their owner alone. It overwrites only with
// force. It returns a config.ValidationErrors if the service would refuse them.
func (a *Account) Write(path string, force bool, environ []string) error {
	if err := Free(path, force); err != nil {
		return err
	}
	secrets := EnvironmentFile(path)
	kept, err := ReadEnvironment(secrets)
	if err != nil {
		return err
	}
	files := a.Files(filepath.Base(secrets), kept)
	dir, err := os.MkdirTemp(filepath.Dir(path), ".paylatch-init-")
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	staged, stagedSecrets := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "secrets")
	if err := errors.Join(os.WriteFile(staged, []byte(files.Config), 0o600), os.WriteFile(stagedSecrets, []byte(files.Environment), 0o600)); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	if err := a.check(staged, stagedSecrets, environ); err != nil {
		return err
	}
	place := os.Link // fails if the file exists by now
	if force {
		place = os.Rename
	}
	if err := place(stagedSecrets, secrets); err != nil {
		return fmt.Errorf("write the secrets: %w", err)
	}
	if err := place(staged, path); err != nil {
		if !force {
			_ = os.Remove(secrets)
		}
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}

// check reads the staged configuration. Its account must be able to charge and to take webhooks, with a key of the test mode.
func (a *Account) check(path, secrets string, environ []string) error {
	environ, err := Environ(environ, secrets)
	if err != nil {
		return err
	}
	cfg, err := config.Read(path, environ, nil)
	if err != nil {
		return err
	}
	account := cfg.Accounts[0]
	adapter := a.kind().Adapter
	key := string(account.Fields[adapter.TestKey])
	live, refused := account.Live(), CheckForTests(account)
	switch {
	case live != nil && *live, adapter.TestForm != nil && key != "" && !adapter.TestForm.MatchString(key):
		return config.ValidationErrors{fmt.Sprintf("%s: is not a test-mode key of %s; these keys have the form %s. init accepts only test credentials",
			adapter.TestKey, a.kind().About.Name, adapter.TestForm)}
	case refused != nil:
		return refused
	case !account.CanCharge():
		return config.ValidationErrors{fmt.Sprintf("the account can't charge: the kind %s needs %s", a.Kind, strings.Join(a.kind().Calls, ", "))}
	case !account.TakesWebhooks():
		return config.ValidationErrors{fmt.Sprintf("the account can't receive webhooks: the kind %s needs %s", a.Kind, strings.Join(a.kind().Webhooks, ", "))}
	}
	return nil
}

// CheckForTests returns a config.ValidationErrors if a payment of the account may move real money. Without a live key two accounts pass: an
// account that calls a stand-in on this machine, and an account of the kind standard, because only the operator knows its mode.
func CheckForTests(a config.Account) error {
	if live := a.Live(); (a.Kind == "standard" || a.CallsThisMachine()) && (live == nil || !*live) {
		return nil
	}
	if err := a.CheckForTests(); err != nil {
		return config.ValidationErrors{err.Error() + "; init makes payments only in a provider's test mode"}
	}
	return nil
}

// Environ adds the variables of an environment file to an environment. The file has precedence, as if a shell had read it.
func Environ(environ []string, file string) ([]string, error) {
	values, err := ReadEnvironment(file)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(environ)
	for name, value := range values {
		all = append(all, name+"="+value)
	}
	return all, nil
}

// ReadEnvironment reads an environment file that Write made; a missing file has no variables.
func ReadEnvironment(file string) (map[string]string, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the secrets: %w", err)
	}
	values := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, found := strings.Cut(strings.TrimSpace(line), "=")
		if !found || strings.HasPrefix(name, "#") {
			continue
		}
		if inner, ok := strings.CutPrefix(value, "'"); ok {
			value = strings.ReplaceAll(strings.TrimSuffix(inner, "'"), `'\''`, "'")
		}
		values[strings.TrimPrefix(name, "export ")] = value
	}
	return values, nil
}
