package auth_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

// TestATokenThatWasSeenIsStillChecked moves the clock while a token is remembered.
func TestATokenThatWasSeenIsStillChecked(t *testing.T) {
	t.Parallel()
	now := start
	a := newAuth(t, auth.Options{HS256: withSecret(secret), Now: func() time.Time { return now }})
	token := hs256(t, jwt.MapClaims{"nbf": start.Unix()})
	for _, step := range []struct {
		at     time.Duration
		reason string
	}{
		{0, ""},
		{59 * time.Minute, ""},
		{time.Hour, "has expired"},
		{-time.Minute, "not valid yet"},
		{time.Minute, ""},
	} {
		now = start.Add(step.at)
		_, err := a.Authenticate(t.Context(), token, "")
		if step.reason == "" {
			require.NoError(t, err, step.at)
			continue
		}
		require.ErrorIs(t, err, auth.ErrUnauthenticated, step.at)
		require.ErrorContains(t, err, step.reason)
	}
}

func TestSeenTokensAreToldApart(t *testing.T) {
	t.Parallel()
	a := newAuth(t, auth.Options{HS256: withSecret(secret)})
	for range 2 {
		for i := range 200 {
			user := fmt.Sprintf("u%d", i)
			actor, err := a.Authenticate(t.Context(), hs256(t, jwt.MapClaims{"sub": user}), "")
			require.NoError(t, err)
			require.Equal(t, authz.Actor{Subject: user, Roles: []payment.Role{payment.RoleCustomer}}, actor)
		}
	}
	token := hs256(t, nil)
	_, err := a.Authenticate(t.Context(), token, "")
	require.NoError(t, err)
	_, err = a.Authenticate(t.Context(), token+"x", "")
	require.ErrorIs(t, err, auth.ErrUnauthenticated, "a token beside one that was seen")
	service, err := a.Authenticate(t.Context(), hs256(t, jwt.MapClaims{"roles": []string{"service"}}), "u7")
	require.NoError(t, err)
	require.Equal(t, payment.UserID("u7"), service.OnBehalfOf)
	again, err := a.Authenticate(t.Context(), hs256(t, jwt.MapClaims{"roles": []string{"service"}}), "")
	require.NoError(t, err)
	require.Empty(t, again.OnBehalfOf, "whom a service acts for is of the request, not of its token")
}
