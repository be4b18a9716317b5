package main_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres"
)

func TestKeyCommands(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	environ := []string{"PAYLATCH_DATABASE_URL=" + dsn}
	says := func(args ...string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := run(t, environ, append([]string{"key"}, args...)...)
		require.Equal(t, 0, code, stderr)
		return stdout, stderr
	}
	none, _ := says("list")
	require.Equal(t, "There is no API key.\n", none)

	text, note := says("create", "--name", "Warehouse", "--role", "service", "--scope", "orders:read", "--scope", "events:read", "--ttl", "1h")
	require.Contains(t, note, "only its hash is stored")
	require.NotContains(t, note, "plk_")
	hash, formed := authz.HashKey(strings.TrimSuffix(text, "\n"))
	require.True(t, formed, "the key alone: %q", text)
	store, err := postgres.Open(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	k, err := store.APIKeys().KeyByHash(t.Context(), hash)
	require.NoError(t, err)
	require.Equal(t, []authz.Scope{"events:read", "orders:read"}, k.Scopes)
	require.True(t, strings.HasPrefix(k.CreatedBy, "cli:"), k.CreatedBy)
	require.NotNil(t, k.ExpiresAt)

	whole, _ := says("create", "--name", "All", "--role", "admin", "--role", "support", "--json")
	var made struct {
		KeyID string   `json:"key_id"`
		Key   string   `json:"key"`
		Roles []string `json:"roles"`
	}
	require.NoError(t, json.Unmarshal([]byte(whole), &made))
	require.Equal(t, []string{"admin", "support"}, made.Roles)

	listed, _ := says("list")
	require.Contains(t, listed, "events:read,orders:read")
	require.Contains(t, listed, k.Prefix+"…")
	require.NotContains(t, listed, made.Key)
	first, _ := says("list", "--limit", "1", "--json")
	require.Contains(t, first, made.KeyID)
	require.NotContains(t, first, k.ID.String())

	gone, _ := says("revoke", k.ID.String())
	require.Equal(t, "API key "+k.ID.String()+" (Warehouse) is revoked.\n", gone)
	_, err = store.APIKeys().KeyByHash(t.Context(), hash)
	require.ErrorIs(t, err, authz.ErrKeyNotFound)

	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"a customer":       {[]string{"create", "--name", "x", "--role", "customer"}, 2, "must be one of"},
		"an unknown scope": {[]string{"create", "--name", "x", "--role", "service", "--scope", "all"}, 2, "orders:read"},
		"no life":          {[]string{"create", "--name", "x", "--role", "service", "--ttl=-1s"}, 2, "longer than 0"},
		"another cell":     {[]string{"list", "--cell", "1"}, 2, "leave it out"},
		"no id":            {[]string{"revoke", "Warehouse"}, 2, "paylatch key list"},
		"a revoked key":    {[]string{"revoke", k.ID.String()}, 1, "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, environ, append([]string{"key"}, c.args...)...)
			require.Equal(t, c.code, code, stderr)
			require.Empty(t, stdout)
			require.Contains(t, stderr, c.says)
		})
	}
}
