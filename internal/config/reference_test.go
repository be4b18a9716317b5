package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/config"
)

func TestReference(t *testing.T) {
	t.Parallel()
	text := config.Reference()
	for _, line := range []string{
		"| `listen` | `PAYLATCH_LISTEN` | text | `127.0.0.1:8080` | where the API listens |",
		"| `auth.hs256` | `PAYLATCH_AUTH_HS256` | list of keys |  | verify HS256 tokens; several while one is rotated |",
		"| `idempotency.quota.new_keys` | `PAYLATCH_IDEMPOTENCY_QUOTA_NEW_KEYS` | number | `600` | new keys of one user, and commands of one user that a process refuses |",
		"| `accounts` | `PAYLATCH_ACCOUNTS` | list of accounts |  | accounts at payment providers |",
		"| `allowed_ips` | list of networks |  | who may send webhooks; absent: anybody, for yookassa its documented addresses |",
		"| `adyen` | `webhook_secrets` | `api_key`, `merchant_account` | `basic_auth`, `capture` |",
	} {
		require.Contains(t, text, line+"\n")
	}
	keys, _, _ := strings.Cut(text, "\n| kind |")
	for line := range strings.Lines(keys) {
		require.NotRegexp(t, `^\| .*\| +\|\n$`, strings.ReplaceAll(line, "|  |", "| - |"), "every key has a meaning")
	}
}

func TestVariablesAreUnambiguous(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for line := range strings.Lines(config.Reference()) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 || !strings.Contains(cells[2], "PAYLATCH_") {
			continue
		}
		require.False(t, seen[cells[2]], cells[2])
		seen[cells[2]] = true
	}
	require.Greater(t, len(seen), 20)
}
