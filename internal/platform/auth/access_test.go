package auth_test

import (
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

// An issuer's keys sign tokens for many services: only an access token for this service counts.
func TestTokenForUs(t *testing.T) {
	t.Parallel()
	k := newKeyring(t)
	source := newSource(t, key{"e", k.ec.Public(), ""})
	a := newAuth(t, auth.Options{JWKSURL: source.url, HS256: withSecret(secret)})
	for name, tc := range map[string]struct {
		typ    string
		change jwt.MapClaims
		reason string // empty: taken
	}{
		"for us":                      {"JWT", nil, ""},
		"for us and others":           {"JWT", jwt.MapClaims{"aud": []string{"crm", "paylatch"}}, ""},
		"for another":                 {"JWT", jwt.MapClaims{"aud": "crm"}, "aud is not accepted"},
		"for others":                  {"at+jwt", jwt.MapClaims{"aud": []string{"crm", "paylatch2"}}, "aud is not accepted"},
		"for nobody":                  {"JWT", jwt.MapClaims{"aud": nil}, "lacks exp, iss or aud"},
		"of another issuer":           {"JWT", jwt.MapClaims{"iss": "https://id.example/"}, "iss is not accepted"},
		"ID token of an implicit":     {"JWT", jwt.MapClaims{"nonce": "n"}, "not an access token"},
		"ID token beside an access":   {"JWT", jwt.MapClaims{"at_hash": "h"}, "not an access token"},
		"ID token beside a code":      {"", jwt.MapClaims{"c_hash": "h", "scope": "openid"}, "not an access token"},
		"ID token that says when":     {"JWT", jwt.MapClaims{"auth_time": start.Unix()}, "not an access token"},
		"ID token that says how":      {"JWT", jwt.MapClaims{"amr": []string{"pwd"}}, "not an access token"},
		"ID token of its client":      {"JWT", jwt.MapClaims{"azp": "paylatch"}, "not an access token"},
		"ID token that says so":       {"JWT", jwt.MapClaims{"typ": "ID"}, "not an access token"},
		"ID token of Cognito":         {"", jwt.MapClaims{"token_use": "id"}, "not an access token"},
		"refresh token":               {"JWT", jwt.MapClaims{"typ": "Refresh"}, "not an access token"},
		"logout token":                {"logout+jwt", nil, "not an access token"},
		"security event":              {"secevent+jwt", nil, "not an access token"},
		"typ of another form":         {"JWT", jwt.MapClaims{"typ": []string{"Bearer"}}, "not an access token"},
		"says both":                   {"at+jwt", jwt.MapClaims{"token_use": "id"}, "not an access token"},
		"RFC 9068":                    {"at+jwt", jwt.MapClaims{"auth_time": start.Unix(), "acr": "1", "client_id": "shop"}, ""},
		"RFC 9068 in full":            {"application/at+JWT", jwt.MapClaims{"nonce": "n"}, ""},
		"Keycloak's, with its nonce":  {"JWT", jwt.MapClaims{"typ": "Bearer", "nonce": "n", "acr": "1", "azp": "shop", "scope": "openid"}, ""},
		"Okta's, with its time":       {"", jwt.MapClaims{"scp": []string{"pay"}, "auth_time": start.Unix(), "cid": "shop"}, ""},
		"Cognito's":                   {"", jwt.MapClaims{"token_use": "access", "auth_time": start.Unix()}, ""},
		"of another client, unscoped": {"JWT", jwt.MapClaims{"azp": "shop", "gty": "client-credentials"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for method, key := range map[jwt.SigningMethod]any{jwt.SigningMethodES256: k.ec, jwt.SigningMethodHS256: secret} {
				token := jwt.NewWithClaims(method, claims(tc.change))
				delete(token.Header, "typ")
				if tc.typ != "" {
					token.Header["typ"] = tc.typ
				}
				text, err := token.SignedString(key)
				require.NoError(t, err)
				actor, err := a.Authenticate(t.Context(), text, "")
				if tc.reason == "" {
					require.NoError(t, err, method.Alg())
					require.Equal(t, authz.Actor{Subject: "u1", Roles: []payment.Role{payment.RoleCustomer}}, actor)
					continue
				}
				require.ErrorIs(t, err, auth.ErrUnauthenticated, method.Alg())
				require.ErrorContains(t, err, tc.reason)
				require.Zero(t, actor)
			}
		})
	}
}
