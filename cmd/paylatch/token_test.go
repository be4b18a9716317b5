package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

const (
	secret         = "0123456789abcdef0123456789abcdef"
	encryptionKeys = "[{id: k1, key: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]"
)

func TestToken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.yaml")
	require.NoError(t, os.WriteFile(file, []byte("auth: {hs256_secret: "+secret+", issuer: me, audience: you}"), 0o600))
	code, stdout, stderr := run(t, nil, "token", "--config", file, "--sub", "u1", "--role", "service", "--role", "customer", "--ttl", "1m")
	require.Equal(t, 0, code, stderr)
	require.Empty(t, stderr)
	token, rest, _ := strings.Cut(stdout, "\n")
	require.Empty(t, rest, "the token alone")

	a, err := auth.New(auth.Options{HS256: []auth.HS256Key{{Secret: []byte(secret), Roles: []payment.Role{payment.RoleService, payment.RoleCustomer}}}, Issuer: "me", Audience: "you", Keys: []auth.Key{{Secret: []byte(secret)}}})
	require.NoError(t, err)
	actor, err := a.Authenticate(t.Context(), token, "")
	require.NoError(t, err)
	require.Equal(t, authz.Actor{Subject: "u1", Roles: []payment.Role{payment.RoleService, payment.RoleCustomer}}, actor)
}

func TestTokenRefused(t *testing.T) {
	t.Parallel()
	withSecret := []string{"PAYLATCH_AUTH_HS256_SECRET=" + secret}
	for name, tc := range map[string]struct {
		environ []string
		args    []string
		says    string
	}{
		"no secret":   {nil, []string{"--sub", "u1", "--role", "admin"}, "auth.hs256: is needed"},
		"odd subject": {withSecret, []string{"--sub", "u 1", "--role", "admin"}, "subject must be"},
		"no time":     {withSecret, []string{"--sub", "u1", "--role", "admin", "--ttl", "0s"}, "at least a second"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, tc.environ, append([]string{"token"}, tc.args...)...)
			require.Equal(t, 2, code)
			require.Empty(t, stdout)
			require.Contains(t, stderr, tc.says)
			require.NotContains(t, stderr, secret)
		})
	}
}
