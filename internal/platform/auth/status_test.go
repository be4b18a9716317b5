package auth_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

func TestStatusToken(t *testing.T) {
	t.Parallel()
	now := start
	a := newAuth(t, auth.Options{HS256: withSecret(secret), Now: func() time.Time { return now }})
	id := payment.AttemptID(uuid.Must(uuid.NewV7()))
	token := a.StatusToken(id, start.Add(time.Minute))
	require.Regexp(t, `^pst_[A-Za-z0-9_-]+$`, token)
	bearer, err := auth.Bearer("Bearer " + token)
	require.NoError(t, err)

	actor, err := a.Authenticate(t.Context(), bearer, "")
	require.NoError(t, err)
	require.Equal(t, authz.Actor{OnlyAttempt: &id}, actor)

	now = start.Add(time.Minute)
	_, err = a.Authenticate(t.Context(), token, "")
	require.ErrorIs(t, err, auth.ErrUnauthenticated)
	require.ErrorContains(t, err, "expired")
}

func TestStatusTokenForged(t *testing.T) {
	t.Parallel()
	a := newAuth(t, auth.Options{HS256: withSecret(secret)})
	token := a.StatusToken(payment.AttemptID{7}, start.Add(time.Hour))
	for i := len("pst_"); i < len(token); i++ {
		for _, c := range "AZaz09_-" {
			forged := token[:i] + string(c) + token[i+1:]
			if forged == token {
				continue
			}
			_, err := a.Authenticate(t.Context(), forged, "")
			require.ErrorIs(t, err, auth.ErrUnauthenticated, forged)
		}
	}
	for _, forged := range []string{"pst_", "pst_!", token + "A", token + "AAAA", strings.TrimSuffix(token, token[len(token)-4:])} {
		_, err := a.Authenticate(t.Context(), forged, "")
		require.ErrorIs(t, err, auth.ErrUnauthenticated, forged)
	}

	elsewhere, err := auth.New(auth.Options{HS256: withSecret(secret), Keys: []auth.Key{{ID: "k1", Secret: secret}}, Now: clock})
	require.NoError(t, err)
	_, err = elsewhere.Authenticate(t.Context(), token, "")
	require.ErrorIs(t, err, auth.ErrUnauthenticated, "another key")
}
