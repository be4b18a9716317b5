package auth_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

func TestBearer(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"Bearer a.b.c", "bearer a.b.c", "BEARER   a.b.c "} {
		token, err := auth.Bearer(header)
		require.NoError(t, err, header)
		require.Equal(t, "a.b.c", token)
	}
	for _, header := range []string{"", "Bearer", "Bearer ", "Basic abc", "a.b.c", "Bearer a b", "Bearer a,b", "Bearer =", "Bearer a=b", "Bearer\ta", "Bearer ä"} {
		_, err := auth.Bearer(header)
		require.ErrorIs(t, err, auth.ErrUnauthenticated, header)
	}
}

func FuzzBearer(f *testing.F) {
	a := newAuth(f, auth.Options{HS256: withSecret(secret), Issuer: "me"})
	f.Add("Bearer " + hs256(f, nil))
	f.Add("Bearer " + a.StatusToken(payment.AttemptID{1}, start))
	f.Add("bearer eyJhbGciOiJub25lIn0.e30.")
	f.Add("Bearer pst_")
	f.Fuzz(func(t *testing.T, header string) {
		token, err := auth.Bearer(header)
		if err != nil {
			require.ErrorIs(t, err, auth.ErrUnauthenticated)
			return
		}
		require.NotContains(t, token, " ")
		require.True(t, strings.HasSuffix(strings.TrimRight(header, " "), token))
		_, err = a.Authenticate(t.Context(), token, "")
		require.ErrorIs(t, err, auth.ErrUnauthenticated, "nobody guesses a token")
	})
}
