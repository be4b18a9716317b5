package main_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// soon is how long a test waits for a process. On a busy machine its start alone may take ten seconds.
const soon = 5 * time.Minute

// refused runs `serve`, which must end by itself, and returns its output.
func refused(t *testing.T, environ ...string) string {
	t.Helper()
	cmd := command(t, environ, "serve")
	limit := time.AfterFunc(soon, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	code, stdout, stderr := finish(t, cmd)
	require.Equal(t, 2, code, stderr)
	require.Empty(t, stdout)
	require.NoDirExists(t, filepath.Join(cmd.Dir, ".paylatch"), "it brings no database of its own")
	return stderr
}

func TestServeNeedsItsDatabase(t *testing.T) {
	t.Parallel()
	const shop = "PAYLATCH_AUTH_HS256=[{id: shop, secret: " + secret + ", roles: [customer, service]}]"
	database, keys := "PAYLATCH_DATABASE_URL=postgres://u@127.0.0.1:1/none", "PAYLATCH_ENCRYPTION_KEYS="+encryptionKeys
	const stripe = "{name: stripe, kind: stripe, api_key: sk_live_1, webhook_secrets: [whsec_1]}"
	for name, tc := range map[string]struct {
		environ []string
		keys    []string // the keys of the lines
	}{
		"nothing at all":      {nil, []string{"database_url", "encryption_keys", "auth", "accounts"}},
		"an empty address":    {[]string{shop, keys, "PAYLATCH_DATABASE_URL=", "PAYLATCH_ACCOUNTS=[" + stripe + "]"}, []string{"database_url"}},
		"in a test, too":      {[]string{shop, keys, "PAYLATCH_ENVIRONMENT=test", "PAYLATCH_ACCOUNTS=[" + stripe + "]"}, []string{"database_url"}},
		"no encryption key":   {[]string{shop, database, "PAYLATCH_ACCOUNTS=[" + stripe + "]"}, []string{"encryption_keys"}},
		"live beside sandbox": {[]string{shop, database, keys, "PAYLATCH_ACCOUNTS=[" + stripe + ", {name: box, kind: sandbox, base_url: 'https://127.0.0.1:1'}]", "PAYLATCH_DEFAULT_ACCOUNT=stripe"}, []string{"accounts[1].kind"}},
		"a test key":          {[]string{shop, database, keys, "PAYLATCH_ENVIRONMENT=live", "PAYLATCH_ACCOUNTS=[{name: a, kind: stripe, api_key: sk_test_1}]"}, []string{"accounts[0].api_key"}},
		"everybody a proxy":   {[]string{shop, database, keys, "PAYLATCH_ACCOUNTS=[" + stripe + "]", "PAYLATCH_TRUSTED_PROXIES=[0.0.0.0/0, '::/0']"}, []string{"trusted_proxies[0]", "trusted_proxies[1]"}},
		"a plain provider":    {[]string{shop, database, keys, "PAYLATCH_ACCOUNTS=[{name: a, kind: stripe, api_key: sk_live_1, base_url: 'http://stripe.example'}]"}, []string{"accounts[0].base_url"}},
		"any role":            {[]string{"PAYLATCH_AUTH_HS256_SECRET=" + secret, database, keys, "PAYLATCH_ACCOUNTS=[" + stripe + "]"}, []string{"auth.hs256_secret"}},
		"all of it": {
			[]string{"PAYLATCH_AUTH_HS256_SECRET=" + secret, "PAYLATCH_TRUSTED_PROXIES=[0.0.0.0/0]", "PAYLATCH_ACCOUNTS=[{name: box, kind: sandbox, base_url: 'http://127.0.0.1:1'}, {name: a, kind: stripe, api_key: rk_test_1, base_url: 'http://a'}]", "PAYLATCH_DEFAULT_ACCOUNT=a"},
			[]string{"auth.hs256_secret", "trusted_proxies[0]", "accounts[0].kind", "accounts[1].base_url", "accounts[1].api_key", "database_url", "encryption_keys"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var about []string
			for line := range strings.Lines(refused(t, tc.environ...)) {
				key, what, _ := strings.Cut(line, ": ")
				about = append(about, key)
				require.Greater(t, len(what), 20, "what to do about it")
			}
			require.Equal(t, tc.keys, about)
		})
	}
}

func TestTokenForUs(t *testing.T) {
	t.Parallel()
	for jwks, want := range map[string][]string{
		"https://id.example/keys":  {"auth.issuer", "auth.audience"},
		"http://id.example/keys":   {"auth.jwks_url", "auth.issuer", "auth.audience"},
		"http://127.0.0.1:1/certs": {"auth.jwks_url", "auth.issuer", "auth.audience"},
	} {
		said := refused(t, "PAYLATCH_AUTH_JWKS_URL="+jwks, "PAYLATCH_DATABASE_URL=postgres://u@127.0.0.1:1/none",
			"PAYLATCH_ENCRYPTION_KEYS="+encryptionKeys, "PAYLATCH_ACCOUNTS=[{name: a, kind: stripe, api_key: sk_live_1}]")
		var about []string
		for line := range strings.Lines(said) {
			key, _, _ := strings.Cut(line, ": ")
			about = append(about, key)
		}
		require.Equal(t, want, about, jwks)
	}
}

func TestServeRefusesACell(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"serve", "dev"} {
		code, _, stderr := run(t, nil, "--cell", "0", command)
		require.Equal(t, 2, code, command)
		require.Contains(t, stderr, "--cell: "+command+" serves all cells of its configuration")
	}
}
