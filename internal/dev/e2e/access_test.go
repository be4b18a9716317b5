package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	gojwt "github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// issuer is an identity provider with one key.
type issuer struct {
	*httptest.Server
	key *ecdsa.PrivateKey
}

func newIssuer(t *testing.T) issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	public, err := jwkset.NewJWKFromKey(key.Public(), jwkset.JWKOptions{Metadata: jwkset.JWKMetadataOptions{KID: "one"}})
	require.NoError(t, err)
	set, err := json.Marshal(jwkset.JWKSMarshal{Keys: []jwkset.JWKMarshal{public.Marshal()}})
	require.NoError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(set) }))
	t.Cleanup(server.Close)
	return issuer{server, key}
}

// token is one for the service, with some of its claims replaced.
func (i issuer) token(t *testing.T, typ string, changes map[string]any) string {
	t.Helper()
	claims := gojwt.MapClaims{
		"iss": "https://id.example", "aud": "https://pay.example", "sub": "u1", "roles": []string{"customer"}, "exp": time.Now().Add(time.Hour).Unix(),
	}
	maps.Copy(claims, changes)
	token := gojwt.NewWithClaims(gojwt.SigningMethodES256, claims)
	token.Header["kid"], token.Header["typ"] = "one", typ
	text, err := token.SignedString(i.key)
	require.NoError(t, err)
	return text
}

// TestTokenForUs: a token that the issuer signs for another service is no credential here.
func TestTokenForUs(t *testing.T) {
	t.Parallel()
	id := newIssuer(t)
	s := newRig(t).serve("PAYLATCH_AUTH_JWKS_URL="+id.URL, "PAYLATCH_AUTH_ISSUER=https://id.example", "PAYLATCH_AUTH_AUDIENCE=https://pay.example")
	read := func(token string) answer { return s.as(token).read(t.Context(), uuid.NewString()) }
	for _, typ := range []string{"JWT", "at+jwt"} {
		require.Contains(t, []int{http.StatusForbidden, http.StatusNotFound}, read(id.token(t, typ, nil)).status, "it is taken, and there is no such attempt")
	}
	for name, token := range map[string]string{
		"for another":    id.token(t, "at+jwt", map[string]any{"aud": "https://crm.example"}),
		"for a client":   id.token(t, "JWT", map[string]any{"aud": "shop-web", "nonce": "n", "azp": "shop-web"}),
		"an ID token":    id.token(t, "JWT", map[string]any{"aud": []string{"shop-web", "https://pay.example"}, "nonce": "n", "at_hash": "h"}),
		"a logout token": id.token(t, "logout+jwt", nil),
		"another issuer": id.token(t, "at+jwt", map[string]any{"iss": "https://id.example/other"}),
		"by our secret":  jwt("HS256", claims("u1", time.Hour, "customer"), secret),
	} {
		p := read(token).problem(t, http.StatusUnauthorized, "unauthenticated")
		require.NotEmpty(t, p.Detail, name)
	}
}
