package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/config"
)

func TestReference(t *testing.T) {
	t.Parallel()
	text := config.Reference()
	for _, line := range []string{
		"| `listen` | text | `127.0.0.1:8080` | where the API listens |",
		"| `auth.hs256` | list of keys |  | keys that verify HS256 tokens; several during a rotation |",
		"| `idempotency.reused_status` | number | `409` | status of the response to another request with a used key: 409, or 422 as in the IETF draft; the code is always idempotency-key-reused |",
		"| `idempotency.quota.new_keys` | number | `600` | limit of a user's new keys, and of a user's refused commands in one process |",
		"| `accounts` | list of accounts |  | accounts at payment providers |",
		"| `allowed_ips` | list of networks |  | allowed sender addresses of webhooks; absent: any sender, and for yookassa the documented addresses |",
		"| `adyen` | `webhook_secrets` | `api_key`, `merchant_account` | `basic_auth`, `capture` |",
	} {
		require.Contains(t, text, line+"\n")
	}
	keys, _, _ := strings.Cut(text, "\n| kind |")
	for line := range strings.Lines(keys) {
		require.NotRegexp(t, `^\| .*\| +\|\n$`, strings.ReplaceAll(line, "|  |", "| - |"), "every key has a meaning")
	}
}

// TestVariables holds the environment to the rule in the manual: the key in capitals, with _ for each dot.
func TestVariables(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for key, variable := range config.Variables() {
		require.Equal(t, "PAYLATCH_"+strings.ToUpper(strings.ReplaceAll(key, ".", "_")), variable)
		require.Empty(t, seen[variable], "%s is also the variable of %s", variable, key)
		seen[variable] = key
	}
	require.Greater(t, len(seen), 20)
}
