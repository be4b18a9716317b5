package auth_test

import (
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

// Names that the logs and the audit give to paylatch itself, to providers and to
// operators are no user's, whichever role the token has.
func TestOriginIsNoName(t *testing.T) {
	t.Parallel()
	a := newAuth(t, auth.Options{HS256: withSecret(secret)})
	service := hs256(t, jwt.MapClaims{"sub": "shop", "roles": []string{"service"}})
	mint := auth.Minter{Keys: withSecret(secret), Now: clock}
	for _, name := range []string{"paylatch", "provider", "cli:root", "cli:", "staff:eve", "policy:x", "provider:stripe"} {
		for _, role := range []payment.Role{payment.RoleCustomer, payment.RoleService, payment.RoleSupport, payment.RoleAdmin} {
			_, err := a.Authenticate(t.Context(), hs256(t, jwt.MapClaims{"sub": name, "roles": []string{string(role)}}), "")
			require.ErrorIs(t, err, auth.ErrUnauthenticated, "%s, %s", name, role)
			require.ErrorContains(t, err, "reserved", name)
		}
		_, err := a.Authenticate(t.Context(), service, name)
		var wrong *payment.ValidationError
		require.ErrorAs(t, err, &wrong, name)
		require.Equal(t, "On-Behalf-Of", wrong.Fields[0].Field)
		_, err = mint.Mint(name, []payment.Role{payment.RoleAdmin}, time.Hour)
		require.ErrorContains(t, err, "reserved", name)
	}
	for _, name := range []string{"paylatch2", "providers", "client:7", "a-provider:x", "polícy:x", "Provider", "staff"} {
		_, err := a.Authenticate(t.Context(), hs256(t, jwt.MapClaims{"sub": name}), "")
		require.NoError(t, err, name)
		_, err = a.Authenticate(t.Context(), service, name)
		require.NoError(t, err, name)
	}
}

// TestErasedIsNobody: the pseudonym of an erased customer can't sign in, but the shop can still refund its payments.
func TestErasedIsNobody(t *testing.T) {
	t.Parallel()
	a := newAuth(t, auth.Options{HS256: withSecret(secret)})
	const pseudonym = "erased-0123456789abcdef01234567"
	for _, name := range []string{pseudonym, "erased-", "erased-ann"} {
		for _, role := range []payment.Role{payment.RoleCustomer, payment.RoleService, payment.RoleSupport, payment.RoleAdmin} {
			_, err := a.Authenticate(t.Context(), hs256(t, jwt.MapClaims{"sub": name, "roles": []string{string(role)}}), "")
			require.ErrorIs(t, err, auth.ErrUnauthenticated, "%s, %s", name, role)
			_, err = auth.Minter{Keys: withSecret(secret), Now: clock}.Mint(name, []payment.Role{role}, time.Hour)
			require.ErrorContains(t, err, "erased", name)
		}
	}
	actor, err := a.Authenticate(t.Context(), hs256(t, jwt.MapClaims{"sub": "shop", "roles": []string{"service"}}), pseudonym)
	require.NoError(t, err)
	require.Equal(t, payment.UserID(pseudonym), actor.User())
	_, err = a.Authenticate(t.Context(), hs256(t, jwt.MapClaims{"sub": "erasedann"}), "")
	require.NoError(t, err)
}
