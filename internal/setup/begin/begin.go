// Package begin sets up an account in a provider's test mode. It writes the configuration, describes the setup at the
// provider, and makes one test payment.
//
//	Account.Prompt ─► Account.Files ─► Files.Write ─► a configuration and an environment file
//	Payment.Make ─► the API of a running service: order, pay, webhook ─► what arrived, what is missing, the remedy
package begin

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/platform/server"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// Account is an account in the test mode of its provider.
type Account struct {
	Kind, Name string
	// Keys are the keys of the account by name. A value ${NAME} stays a reference to the environment.
	Keys map[string]string
	// DatabaseURL is empty for the private database of paylatch dev.
	DatabaseURL string
	Listen      string
	// PublicURL is the address by which the provider reaches the service, such as that of a tunnel; may be empty.
	PublicURL string
	// MadeUp are the keys of webhooks with values that were made here, in place of the provider's.
	MadeUp []string
}

// The keys with rules of their own.
const (
	baseURL       = "base_url"
	publicURL     = "public_url"
	webhookSecret = "webhook_secrets"
	currency      = "currency"
)

func (a *Account) kind() provider.Kind { return provider.Kinds()[a.Kind] }

// Trial describes the payments in the test mode of the account's kind.
func (a *Account) Trial() kit.Trial { return a.kind().Adapter.Trial }

// Endpoint is the address that the provider sends webhooks to.
func (a *Account) Endpoint() string {
	base := a.PublicURL
	if base == "" {
		base = server.URL(a.Listen)
	}
	return strings.TrimSuffix(base, "/") + "/webhooks/" + a.Name
}

// Credentials lists the keys that calls need.
func (a *Account) Credentials() []webhooks.Key {
	return slices.DeleteFunc(slices.Clone(a.kind().Adapter.Keys), func(k webhooks.Key) bool { return k.Optional })
}

// Proofs lists the keys that only webhooks need. A kind with webhooks that are looked up needs none.
func (a *Account) Proofs() []webhooks.Key {
	k := a.kind()
	if k.About.Unsigned {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(k.About.Keys), func(key webhooks.Key) bool {
		return key.Optional || key.Name == publicURL || slices.Contains(k.Calls, key.Name)
	})
}

// hasCurrency reports whether an account of the kind has a currency of its own.
func (a *Account) hasCurrency() bool { return slices.Contains(a.kind().Optional, currency) }

// Complete sets the keys that follow from the kind, and makes up the keys of webhooks that are missing.
func (a *Account) Complete() {
	trial, k := a.Trial(), a.kind()
	set := func(key, value string) {
		if a.Keys[key] == "" && value != "" {
			a.Keys[key] = value
		}
	}
	if a.Keys == nil {
		a.Keys = map[string]string{}
	}
	set(baseURL, trial.BaseURL)
	if a.hasCurrency() {
		set(currency, trial.Currency)
	}
	for key, value := range trial.Params {
		set(key, value)
	}
	switch {
	case a.PublicURL != "":
		set(publicURL, a.Endpoint())
	case slices.Contains(k.Webhooks, publicURL) && a.Keys[publicURL] == "":
		set(publicURL, "https://replace-me.example/webhooks/"+a.Name)
		a.MadeUp = append(a.MadeUp, publicURL)
	}
	for _, key := range a.Proofs() {
		if a.Keys[key.Name] == "" {
			a.Keys[key.Name] = hex.EncodeToString(random(16)) // the form fits every kind
			a.MadeUp = append(a.MadeUp, key.Name)
		}
	}
}

func random(n int) []byte {
	bytes := make([]byte, n)
	_, _ = rand.Read(bytes)
	return bytes
}

// variable is the name of the environment variable of a key.
func (a *Account) variable(key string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(a.Name + "_" + key))
}

// isSecret reports whether a key's value belongs into the environment.
func (a *Account) isSecret(key string) bool {
	return key == webhookSecret || slices.ContainsFunc(a.kind().Keys, func(k webhooks.Key) bool { return k.Name == key && k.Secret })
}

// Files are the texts of the configuration and of the environment file, which has the values of its ${NAME}.
type Files struct{ Config, Environment string }

// Files returns the files of the account. A kept variable of an earlier environment file keeps its value: the keys of a database must
// not change.
func (a *Account) Files(environmentFile string, kept map[string]string) Files {
	var env, account strings.Builder
	variable := func(name, value string) string {
		fmt.Fprintf(&env, "%s=%s\n", name, shellWord(value))
		return "${" + name + "}"
	}
	own := func(name string, bytes int) string {
		value := kept[name]
		if value == "" {
			value = base64.StdEncoding.EncodeToString(random(bytes))
		}
		return variable(name, value)
	}
	encryption, auth := own("ENCRYPTION_KEY", 32), own("HS256_SECRET", 48)
	database := "# database_url is missing: paylatch dev brings a PostgreSQL of its own\n"
	if url := a.DatabaseURL; url != "" {
		if !isReference(url) {
			url = variable("DATABASE_URL", url)
		}
		database = "database_url: " + url + "\n"
	}
	sections := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(a.Keys)) {
		value := a.Keys[key]
		if a.isSecret(key) && !isReference(value) {
			if slices.Contains(a.MadeUp, key) {
				fmt.Fprintf(&env, "# made up: replace it with the provider's secret, or enter it at the provider if you can choose the secret there\n")
			}
			value = variable(a.variable(key), value)
		}
		if value = quoted(value); slices.Contains(a.MadeUp, key) && !a.isSecret(key) {
			value += " # made up: replace it"
		}
		section, inner, nested := strings.Cut(key, ".")
		switch {
		case nested:
			sections[section] = append(sections[section], inner+": "+value)
		case key == webhookSecret:
			fmt.Fprintf(&account, "    %s: [%s]\n", key, value)
		default:
			fmt.Fprintf(&account, "    %s: %s\n", key, value)
		}
	}
	for _, section := range slices.Sorted(maps.Keys(sections)) {
		fmt.Fprintf(&account, "    %s: {%s}\n", section, strings.Join(sections[section], ", "))
	}
	return Files{
		Config: "# Made by paylatch init, for tests. The values of ${…} are in " + environmentFile + ".\n" +
			"listen: " + quoted(a.Listen) + "\nenvironment: test\n" + database +
			"encryption_keys: [{id: k1, key: \"" + encryption + "\"}]\n" +
			"auth:\n  hs256: [{id: init, secret: \"" + auth + "\", roles: [customer, service, support, admin]}]\n" +
			"default_account: " + a.Name + "\naccounts:\n  - name: " + a.Name + "\n    kind: " + a.Kind + "\n" + account.String(),
		Environment: "# The secrets of the configuration. Load them with: set -a; . ./" + environmentFile + "; set +a\n" + env.String(),
	}
}

// isReference reports whether a value is ${NAME}.
func isReference(value string) bool {
	return strings.HasPrefix(value, "${") && strings.HasSuffix(value, "}")
}

// quoted writes a text as a JSON string, which is YAML, too.
func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) //nolint:errchkjson // a text always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// shellWord quotes a value for a shell and for systemd, if it needs quotes.
func shellWord(value string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:+=@%", r)
	}
	if value != "" && !strings.ContainsFunc(value, func(r rune) bool { return !plain(r) }) {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}
