package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

// TestCommandsBesideDev: the configuration that `paylatch dev` completes is valid for the commands beside it, and `token` makes
// tokens that it accepts.
func TestCommandsBesideDev(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	furnished(t, dsn)
	for name, yaml := range map[string]string{
		"nothing":               "",
		"a bare account":        "accounts: [{name: sandbox, kind: sandbox}]",
		"its default":           "default_account: sandbox",
		"beside another":        "environment: dev\naccounts: [{name: stripe, kind: stripe, api_key: sk_test_1}]\ndefault_account: sandbox",
		"a secret of few roles": "auth: {hs256: [{id: shop, secret: another secret of 32 bytes or more, roles: [service]}], issuer: me}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, args := range [][]string{
				{"token", "--sub", "sam", "--role", "support"}, {"verify"}, {"discrepancy", "list"}, {"migrate", "status"},
			} {
				cmd := command(t, []string{"PAYLATCH_DATABASE_URL=" + dsn}, args...)
				require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, "paylatch.yaml"), []byte(yaml), 0o600))
				require.NoError(t, os.Mkdir(filepath.Join(cmd.Dir, ".paylatch"), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, ".paylatch/dev-token-secret"), []byte(secret+"\n"), 0o600))
				code, stdout, stderr := finish(t, cmd)
				require.Equal(t, 0, code, "%v: %s", args, stderr)
				if args[0] != "token" {
					continue
				}
				roles := []payment.Role{payment.RoleSupport}
				a, err := auth.New(auth.Options{HS256: []auth.HS256Key{{Secret: []byte(secret), Roles: roles}}, Keys: []auth.Key{{Secret: []byte(secret)}}})
				require.NoError(t, err)
				actor, err := a.Authenticate(t.Context(), strings.TrimSpace(stdout), "")
				require.NoError(t, err)
				require.Equal(t, authz.Actor{Subject: "sam", Roles: roles}, actor)
			}
		})
	}
}

func TestDevIsNotLive(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := run(t, []string{"PAYLATCH_ENVIRONMENT=live"}, "dev")
	require.Equal(t, 2, code, stderr)
	require.Empty(t, stdout)
	require.Equal(t, "environment: paylatch dev refuses live, because it charges at a sandbox provider; leave it out, or set dev\n", stderr)
}
